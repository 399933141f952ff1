import { ADMISSION_GATE, QUEUE_NAME, RETRIABLE_IN_GROUP } from '../../../src/kube/vocabulary/names.ts'

import { NAMESPACES, PODS } from '../../../src/kube/vocabulary/resources.ts'

import { ignoreRaces } from '../actors/nodes.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Stored } from '../model/server.ts'
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
  return JSON.stringify('again' in rest ? { ...rest, again: true } : rest)
}

function act(action: Action, cluster: Cluster): void {
  const { server } = cluster
  switch (action.kind) {
    case 'create-pod':
      server.create(PODS, action.pod, USER)
      return
    case 'delete-pod': {
      const { namespace, name, graceSeconds, again } = action
      if (again !== undefined) createAgain(cluster, server.get(PODS, { namespace, name }), again)
      server.remove(PODS, { namespace, name }, graceSeconds === undefined ? {} : { graceSeconds }, USER)
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
    case 'touch-workload':
      touchWorkload(cluster, action.unit, action.what)
      return
    case 'touch-pod':
      touchPod(cluster, action)
  }
}

/** As `kubectl replace --force` does: the successor comes in the moment the name is free. */
function createAgain({ server, agenda }: Cluster, old: Stored, again: Stored): void {
  let waiting = true
  server.subscribe(({ type, after }) => {
    if (!waiting || type !== 'deleted' || after.metadata.uid !== old.metadata.uid) return
    waiting = false
    agenda.after(1, () => ignoreRaces(() => server.create(PODS, again, USER)))
  })
}

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
      prependFinalizer(cluster, ref)
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

function prependFinalizer({ server }: Cluster, ref: { namespace: string; name: string }): void {
  const finalizers = [KEEP, ...(server.get(PODS, ref).metadata.finalizers ?? []).filter(name => name !== KEEP)]
  server.patch(PODS, ref, { type: 'merge', body: { metadata: { finalizers } } }, ADMIN)
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
  const { namespace, group, pod } = unit
  if (group !== undefined) return { namespace, name: group }
  const found = server
    .all(server.workloads)
    .find(
      ({ metadata }) =>
        metadata.namespace === namespace &&
        metadata.ownerReferences?.some(owner => owner.controller && owner.name === pod),
    )
  return { namespace, name: found?.metadata.name ?? `no-workload-of-${pod}` }
}
