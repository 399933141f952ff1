import { PODSET_LABEL, WORKLOAD_ANNOTATION } from '../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'

import { PODS } from '../../../src/kube/vocabulary/resources.ts'

import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import {
  asPod,
  asWorkload,
  comesLater,
  conditionOf,
  declaredSize,
  groupOf,
  isCovered,
  isGated,
  roleOf,
  takesPlace,
  unitOf,
} from '../facts.ts'
import type { ModelServer } from '../model/server.ts'
import type { Judge } from './judge.ts'
import { membersOf, workloadOfPod } from './units.ts'

/**
 * I2: a gate falls only when the whole unit is admitted, for no more pods of a role than were admitted, and a
 * Workload stands for the group as it was declared, not for the part of it that somebody happened to see.
 */
export function watchLifts(server: ModelServer, muster: string, judge: Judge): void {
  const sizes = new Map<string, { declared: Set<number>; created: number; later: boolean }>()

  const remember = (pod: Pod) => {
    const known = sizes.get(unitOf(pod)) ?? { declared: new Set<number>(), created: 0, later: false }
    const size = declaredSize(pod)
    if (size !== undefined) known.declared.add(size)
    known.created++
    known.later ||= comesLater(pod)
    sizes.set(unitOf(pod), known)
  }

  const checkLift = (pod: Pod, who: string) => {
    const name = `${pod.metadata.namespace}/${pod.metadata.name}`
    const workload = workloadOfPod(server, pod)
    if (who !== muster) judge.fail('I5', `${who} could take the gate off ${name}`)
    else if (workload === undefined) judge.fail('I2', `${name} is lifted and has no Workload`)
    else if (!lifts(workload)) judge.fail('I2', `${name} is lifted and its Workload is not admitted or has finished`)
    else checkPlaces(pod, workload, name)
  }

  const checkPlaces = (pod: Pod, workload: QueuedWorkload, name: string) => {
    const owners = workload.metadata.ownerReferences ?? []
    if (!owners.some(({ uid }) => uid === pod.metadata.uid)) {
      judge.fail('I2', `${name} is lifted and does not own its Workload: the garbage collector may take it away`)
    }
    const single = groupOf(pod) === undefined
    const podSet = workload.spec.podSets.find(({ name }) => single || name === roleOf(pod))
    if (podSet === undefined) {
      judge.fail('I2', `${name} is lifted and its role ${roleOf(pod)} was not admitted`)
      return
    }
    checkPlace(pod, workload, podSet.name, name)
    if (!isCovered(pod, podSet)) judge.fail('I2', `${name} is lifted and asks for more than its podSet is charged with`)
    const lifted = membersOf(server, pod).filter(
      other => !isGated(other) && takesPlace(other) && (single || roleOf(other) === podSet.name),
    )
    if (lifted.length <= podSet.count) return
    const names = lifted.map(({ metadata }) => metadata.name).join(', ')
    judge.fail('I2', `${lifted.length} pods of role ${podSet.name} are lifted, ${podSet.count} were admitted: ${names}`)
  }

  /** The pod can start from this moment on: where it may run must be in the same write. */
  const checkPlace = (pod: Pod, workload: QueuedWorkload, podSet: string, name: string) => {
    const place = workload.status?.admission?.podSetAssignments.find(assigned => assigned.name === podSet)
    for (const [key, value] of Object.entries(place?.nodeSelector ?? {})) {
      if (pod.spec.nodeSelector?.[key] === value) continue
      judge.fail('I2', `${name} is lifted for nodes with ${key}=${value} and may run on others`)
    }
    for (const { key } of place?.tolerations ?? []) {
      if (pod.spec.tolerations?.some(toleration => toleration.key === key)) continue
      judge.fail('I2', `${name} is lifted and does not tolerate ${key}, which its admission gives it`)
    }
    const marks = [pod.metadata.labels?.[PODSET_LABEL], pod.metadata.annotations?.[WORKLOAD_ANNOTATION]]
    if (marks[0] !== podSet || marks[1] !== workload.metadata.name) judge.fail('I2', `${name} is lifted unmarked`)
  }

  const checkWorkload = (workload: QueuedWorkload) => {
    const { namespace, name, annotations } = workload.metadata
    const known = sizes.get(`${namespace}/group:${name}`)
    if (annotations?.['kueue.x-k8s.io/is-group-workload'] !== 'true' || known === undefined) return
    for (const object of server.all(PODS)) {
      const pod = asPod(object)
      const podSet = workload.spec.podSets.find(set => set.name === roleOf(pod))
      const owns = workload.metadata.ownerReferences?.some(owner => owner.uid === pod.metadata.uid)
      if (!owns || podSet === undefined || isCovered(pod, podSet)) continue
      judge.fail('I2', `Workload ${name} is charged with less than its member ${pod.metadata.name} asks for`)
    }
    const total = workload.spec.podSets.reduce((sum, { count }) => sum + count, 0)
    const [declared] = known.declared
    if (declared === undefined || known.declared.size > 1 || known.later) return
    if (total !== declared || known.created < declared) {
      judge.fail(
        'I2',
        `Workload ${name} is for ${total} pods; its group declares ${declared}, ${known.created} were created`,
      )
    }
  }

  server.subscribe(({ resource, type, before, after, who }) => {
    if (resource === server.workloads && type === 'created') checkWorkload(asWorkload(after))
    if (resource !== PODS) return
    if (type === 'created') remember(asPod(after))
    else if (type === 'updated' && before && isGated(asPod(before)) && !isGated(asPod(after)))
      checkLift(asPod(after), who)
  })
}

function lifts(workload: QueuedWorkload): boolean {
  return (
    conditionOf(workload, 'Admitted') === 'True' &&
    conditionOf(workload, 'QuotaReserved') === 'True' &&
    conditionOf(workload, 'Finished') !== 'True'
  )
}
