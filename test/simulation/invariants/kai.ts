import { KAI_IGNORE, KAI_POD_GROUP, KAI_POD_GROUPS } from '../../../src/kube/vocabulary/kai.ts'
import { POD_GROUP, POD_GROUP_OF } from '../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import { EVENTS, NAMESPACES, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { GC } from '../actors/janitors.ts'
import { KAI } from '../actors/nodes.ts'
import { POD_GROUP as NATIVE, podGroupOf } from '../actors/pod-groups.ts'
import { asPod, gatesOf, isDeleting, isGated, saysItIsOver } from '../facts.ts'
import { equal } from '../model/patches.ts'
import type { Change, ModelServer, Stored } from '../model/server.ts'
import type { Judge } from './judge.ts'

const awaitsGroup = (pod: Pod): boolean => gatesOf(pod).includes(POD_GROUP)
const markOf = ({ metadata }: Pod): string | undefined => metadata.labels?.[POD_GROUP]
const linkOf = ({ metadata }: Pod): string | undefined => metadata.annotations?.[KAI_POD_GROUP]
const label = ({ metadata: { namespace, name } }: Pod | Stored): string => `${namespace}/${name}`
/** A PodGroup of KAI says for whom it was made. */
const madeFor = ({ metadata }: Stored): string | undefined => metadata.annotations?.[POD_GROUP_OF]
const identity = (pod: Pod): string => JSON.stringify([pod.metadata.namespace, pod.spec.schedulingGroup?.podGroupName])

/**
 * I2: no gate falls before the PodGroup of KAI is there that the pod is linked to, and the link is in the same write.
 * I5: of a PodGroup that somebody else has made nothing is changed, of Muster's own nothing is taken away that others
 * have written, and none is deleted; nobody else lifts our gate, and nobody bends a link.
 */
export function watchKai(server: ModelServer, muster: string, judge: Judge): void {
  const ours = new Set<string>()
  /** By name: whoever deleted it has to bear that somebody was linked to it in that moment. */
  const deleted = new Set<string>()
  /** Not by the garbage collector: that of a group in a queue goes with the group. */
  const snatched = new Set<string>()

  const checkPlace = (pod: Pod) => {
    const [who, link = ''] = [label(pod), linkOf(pod)]
    const isExcused = (markOf(pod) === 'group' ? snatched : deleted).has(link)
    const named = server.all(KAI_POD_GROUPS).filter(({ metadata }) => metadata.name === link)
    const group = named.find(({ metadata }) => metadata.namespace === pod.metadata.namespace)
    if (link === '') judge.fail('I2', `${who} is let go and has no link to a PodGroup of KAI`)
    else if (group === undefined) {
      if (!isExcused) judge.fail('I2', `${who} is let go and its PodGroup of KAI ${link} is not there`)
    } else if (!ours.has(group.metadata.uid ?? '') && !isExcused) {
      judge.fail('I5', `${who} is let go into a PodGroup of KAI that is somebody else's`)
    } else if (markOf(pod) === 'reference' && !isExcused && madeFor(group) !== identity(pod)) {
      judge.fail('I5', `${who} is let go into the PodGroup of KAI of another group`)
    }
  }

  const checkPod = (before: Pod, after: Pod, who: string) => {
    if (awaitsGroup(before) && !awaitsGroup(after)) {
      if (who !== muster) {
        // Of a pod that is on its way out nobody waits for anything.
        if (!isDeleting(before)) judge.fail('I5', `${who} could take the gate ${POD_GROUP} off ${label(after)}`)
      } else if (markOf(after) === 'reference') checkPlace(after)
      else if (after.metadata.annotations?.[KAI_IGNORE] !== 'true') {
        judge.fail('I2', `${label(after)} is left to the pod-grouper of KAI, and has not asked for it`)
      }
    }
    const lifted = isGated(before) && !isGated(after)
    if (lifted && who === muster && markOf(after) === 'group') checkPlace(after)
    if (linkOf(before) === linkOf(after)) return
    if (who !== muster) {
      if (markOf(before) !== undefined) judge.fail('I5', `${who} could bend the link of ${label(after)}`)
    } else if (markOf(before) === undefined || (markOf(after) !== undefined && linkOf(before) !== undefined)) {
      judge.fail('I5', `Muster bent the link of ${label(after)}`)
    }
  }

  const checkGroup = ({ type, before, after, who }: Change) => {
    if (type === 'deleted') deleted.add(after.metadata.name ?? '')
    if (type === 'deleted' && who !== GC) snatched.add(after.metadata.name ?? '')
    if (who !== muster) return
    if (type === 'deleted') judge.fail('I5', `Muster deleted PodGroup ${label(after)} of KAI`)
    if (type === 'created') ours.add(after.metadata.uid ?? '')
    if (before === undefined || type === 'deleted') return
    if (!ours.has(after.metadata.uid ?? '')) judge.fail('I5', `${label(after)}, which is somebody else's, was changed`)
    if (!equal(leftAlone(before), leftAlone(after)))
      judge.fail('I5', `more of ${label(after)} was changed than is ours`)
    for (const map of ['labels', 'annotations'] as const) {
      const [was, is] = [before.metadata[map] ?? {}, after.metadata[map] ?? {}]
      if (Object.keys(was).some(key => !Object.hasOwn(is, key))) judge.fail('I5', `${map} of ${label(after)} were lost`)
    }
  }

  server.subscribe(change => {
    const { resource, type, before, after, who } = change
    if (resource === KAI_POD_GROUPS) checkGroup(change)
    if (resource === PODS && type === 'updated' && before) checkPod(asPod(before), asPod(after), who)
  })
}

/** The queue is settled when a PodGroup is made, and the rest was never Muster's. */
function leftAlone({ spec, status }: Stored): unknown {
  const {
    minMember: _,
    priorityClassName: __,
    preemptibility: ___,
    topologyConstraint: ____,
    ...rest
  } = (spec ?? {}) as Readonly<Record<string, unknown>>
  return [rest, status]
}

/** I4: who names a group that is there is in it; who names none that is there waits, and has been told so. */
export function unlinked(server: ModelServer): readonly string[] {
  const told = new Set(server.all(EVENTS).map(event => (event as { regarding?: { uid?: string } }).regarding?.uid))
  return server.all(PODS).flatMap(object => {
    const pod = asPod(object)
    const name = podGroupOf(object)
    const going = isDeleting(object) || isGoing(server, pod.metadata.namespace) || saysItIsOver(pod)
    if (pod.spec.schedulerName !== KAI || name === undefined || going || markOf(pod) === undefined) return []
    if (pod.metadata.annotations?.[KAI_IGNORE] === 'true' && !pod.spec.nodeName) {
      return [`${label(pod)} has opted out and is kept`]
    }
    if (canBeGrouped(server, pod, name))
      return awaitsGroup(pod) ? [`${label(pod)} waits for a group that is there`] : []
    const silent = awaitsGroup(pod) && !told.has(pod.metadata.uid)
    return silent ? [`${label(pod)} waits for its group and nobody says so`] : []
  })
}

function canBeGrouped(server: ModelServer, pod: Pod, name: string): boolean {
  const native = server.find(NATIVE, pod.metadata.namespace, name)
  if (native === undefined) return false
  const named = server.all(KAI_POD_GROUPS).filter(({ metadata }) => metadata.name === name)
  return named.every(group => group.metadata.namespace === pod.metadata.namespace && madeFor(group) === identity(pod))
}

function isGoing(server: ModelServer, namespace = ''): boolean {
  const found = server.find(NAMESPACES, '', namespace)
  return found === undefined || isDeleting(found)
}
