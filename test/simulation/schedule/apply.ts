import type { ObjectRef, Resource } from '../../../src/kube/vocabulary/api.ts'
import { ADMISSION_GATE, QUEUE_NAME, RETRIABLE_IN_GROUP } from '../../../src/kube/vocabulary/names.ts'

import { JOBS, NAMESPACES, PODS } from '../../../src/kube/vocabulary/resources.ts'

import { FOREGROUND, ORPHAN } from '../actors/janitors.ts'
import { ignoreRaces } from '../actors/nodes.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { asPod, isDeleting, isGated } from '../facts.ts'
import { UNREVIEWED } from '../model/admission.ts'
import { jobOf } from '../model/job-rules.ts'
import type { Stored } from '../model/server.ts'
import { MALLORY } from './hostile.ts'
import { type Action, type Item, isFault, type UnitName } from './schedule.ts'
import { strike } from './strike.ts'

const USER = 'alice'
const ADMIN = 'admin'
const KEEP = 'example.com/keep'

/** Carries out one item of the schedule. */
export function apply(item: Item, cluster: Cluster): void {
  cluster.note(isFault(item) ? 'FAULT' : 'USER', describeItem(item))
  if (isFault(item)) strike(item, cluster)
  else {
    const refused = ignoreRaces(() => act(item, cluster))
    if (refused) cluster.note('', `  refused: ${refused.message}`)
  }
}

export function describeItem(item: Item): string {
  const { at: _, ...rest } = item
  if (rest.kind === 'create-pod') return `create-pod ${rest.pod.metadata.namespace}/${rest.pod.metadata.name}`
  if (rest.kind === 'create-job') {
    const { metadata, spec } = rest.job
    const { template: _, ...shape } = spec as Record<string, unknown>
    return `create-job ${metadata.namespace}/${metadata.name} ${JSON.stringify(shape)}`
  }
  return JSON.stringify('again' in rest ? { ...rest, again: true } : rest)
}

function act(action: Action, cluster: Cluster): void {
  const { server } = cluster
  switch (action.kind) {
    case 'create-pod':
      server.create(PODS, action.pod, action.by ?? USER)
      return
    case 'delete-pod': {
      const { namespace, name, graceSeconds, again } = action
      if (again !== undefined) createAgain(cluster, PODS, server.get(PODS, { namespace, name }), again)
      if (action.orphan) prependFinalizer(cluster, PODS, { namespace, name }, ORPHAN)
      server.remove(PODS, { namespace, name }, graceSeconds === undefined ? {} : { graceSeconds }, USER)
      return
    }
    case 'create-job':
      server.create(JOBS, action.job, action.unseen ? UNREVIEWED : USER)
      return
    case 'delete-job':
      deleteJob(cluster, action)
      return
    case 'change-job': {
      const { parallelism, suspend, queue } = action.change
      const spec = { ...(parallelism !== undefined && { parallelism }), ...(suspend !== undefined && { suspend }) }
      const metadata = queue === undefined ? {} : { labels: { [QUEUE_NAME]: queue } }
      server.patch(JOBS, at(action), { type: 'merge', body: { metadata, spec } }, USER)
      return
    }
    case 'delete-job-pod': {
      const mine = (pod: Stored) => pod.metadata.namespace === action.namespace && jobOf(pod)?.name === action.name
      const pod = server.all(PODS).find(object => mine(object) && !isDeleting(object))
      if (pod !== undefined)
        server.remove(PODS, { namespace: action.namespace, name: pod.metadata.name ?? '' }, {}, USER)
      return
    }
    case 'delete-namespace':
      server.remove(NAMESPACES, { name: action.namespace }, {}, ADMIN)
      return
    case 'delete-workload':
      server.remove(server.workloads, workloadRef(cluster, action.unit), {}, ADMIN)
      return
    case 'set-active':
      mergeWorkload(cluster, action.unit, { spec: { active: action.active } })
      return
    case 'set-queue':
      mergePod(cluster, action, { metadata: { labels: { [QUEUE_NAME]: action.queue } } })
      return
    case 'not-retriable':
      mergePod(cluster, action, { metadata: { annotations: { [RETRIABLE_IN_GROUP]: 'false' } } })
      return
    case 'forge-phase':
      forgePhase(cluster, action)
      return
    case 'remark':
      remark(cluster, action)
      return
    case 'touch-workload':
      touchWorkload(cluster, action.unit, action.what)
      return
    case 'touch-pod':
      touchPod(cluster, action)
  }
}

/** As `kubectl replace --force` does: the successor comes in the moment the name is free. */
function createAgain({ server, agenda }: Cluster, resource: Resource, old: Stored, again: Stored): void {
  let waiting = true
  server.subscribe(({ type, after }) => {
    if (!waiting || type !== 'deleted' || after.metadata.uid !== old.metadata.uid) return
    waiting = false
    agenda.after(1, () => ignoreRaces(() => server.create(resource, again, USER)))
  })
}

function deleteJob(cluster: Cluster, action: Extract<Action, { kind: 'delete-job' }>): void {
  const { server } = cluster
  const ref = at(action)
  if (action.again !== undefined) createAgain(cluster, JOBS, server.get(JOBS, ref), action.again)
  if (action.cascade !== 'background') {
    prependFinalizer(cluster, JOBS, ref, action.cascade === 'orphan' ? ORPHAN : FOREGROUND)
  }
  server.remove(JOBS, ref, {}, USER)
}

const at = ({ namespace, name }: { namespace: string; name: string }) => ({ namespace, name })

function touchPod(cluster: Cluster, action: Extract<Action, { kind: 'touch-pod' }>): void {
  const ref = { namespace: action.namespace, name: action.name }
  const strategic = (body: object, who: string) => cluster.server.patch(PODS, ref, { type: 'strategic', body }, who)
  switch (action.what) {
    case 'label':
      mergePod(cluster, action, { metadata: { labels: { 'example.com/team': 'blue' } } })
      return
    case 'annotation':
      mergePod(cluster, action, { metadata: { annotations: { 'example.com/note': 'seen' } } })
      return
    case 'add-finalizer':
      // In front of ours: whoever removes by index removes the wrong one.
      prependFinalizer(cluster, PODS, ref, KEEP)
      return
    case 'drop-finalizer':
      strategic({ metadata: { '$deleteFromPrimitiveList/finalizers': [KEEP] } }, ADMIN)
      return
    case 'drop-gate':
      strategic({ spec: { schedulingGates: [{ $patch: 'delete', name: 'example.com/hold' }] } }, ADMIN)
      return
    case 'steal-gate':
      strategic({ spec: { schedulingGates: [{ $patch: 'delete', name: ADMISSION_GATE }] } }, USER)
  }
}

/** Where a kubelet runs the pod, it says again what is true; where none does, the forger has to. */
function forgePhase({ server, agenda }: Cluster, action: Extract<Action, { kind: 'forge-phase' }>): void {
  const { namespace, name, phase, backMs } = action
  const ref = { namespace, name, subresource: 'status' }
  const say = (said: string) => server.patch(PODS, ref, { type: 'merge', body: { status: { phase: said } } }, MALLORY)
  const { uid } = say(phase).metadata
  agenda.after(backMs, () => {
    const now = server.find(PODS, namespace, name)
    if (now?.metadata.uid !== uid || now === undefined || asPod(now).status?.phase !== phase) return
    const unseen = !isGated(asPod(now)) && asPod(now).status?.containerStatuses === undefined
    if (unseen) ignoreRaces(() => say('Pending'))
  })
}

/** Only what was lifted: before that, marks are anybody's to change, as far as the webhooks let him. */
function remark({ server }: Cluster, action: Extract<Action, { kind: 'remark' }>): void {
  const { namespace, name, labels, annotations } = action
  const ref = { namespace, name }
  if (isGated(asPod(server.get(PODS, ref)))) return
  server.patch(PODS, ref, { type: 'merge', body: { metadata: { labels, annotations } } }, UNREVIEWED)
}

function prependFinalizer({ server }: Cluster, resource: Resource, ref: ObjectRef, added: string): void {
  const finalizers = [added, ...(server.get(resource, ref).metadata.finalizers ?? []).filter(name => name !== added)]
  server.patch(resource, ref, { type: 'merge', body: { metadata: { finalizers } } }, ADMIN)
}

function mergePod({ server }: Cluster, { namespace, name }: { namespace: string; name: string }, body: object): void {
  server.patch(PODS, { namespace, name }, { type: 'merge', body }, USER)
}

function mergeWorkload(cluster: Cluster, unit: UnitName, body: object): void {
  cluster.server.patch(cluster.server.workloads, workloadRef(cluster, unit), { type: 'merge', body }, ADMIN)
}

function touchWorkload(cluster: Cluster, unit: UnitName, what: 'label' | 'condition'): void {
  if (what === 'label') {
    mergeWorkload(cluster, unit, { metadata: { labels: { 'example.com/team': 'blue' } } })
    return
  }
  const ref = { ...workloadRef(cluster, unit), subresource: 'status' }
  const { status } = cluster.server.get(cluster.server.workloads, ref) as {
    status?: { conditions?: readonly unknown[] }
  }
  const foreign = {
    type: 'example.com/Audited',
    status: 'True',
    reason: 'Audited',
    message: 'somebody looked',
    lastTransitionTime: cluster.server.timestamp(),
  }
  const body = { status: { conditions: [...(status?.conditions ?? []), foreign] } }
  cluster.server.patch(cluster.server.workloads, ref, { type: 'merge', body }, ADMIN)
}

function workloadRef({ server }: Cluster, unit: UnitName): { namespace: string; name: string } {
  const { namespace, group, pod, job } = unit
  if (group !== undefined) return { namespace, name: group }
  const found = server
    .all(server.workloads)
    .find(
      ({ metadata }) =>
        metadata.namespace === namespace &&
        metadata.ownerReferences?.some(owner => owner.controller && owner.name === (job ?? pod)),
    )
  return { namespace, name: found?.metadata.name ?? `no-workload-of-${job ?? pod}` }
}
