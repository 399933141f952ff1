import { compositeName } from '../../../src/coscheduling/kubernetes/objects.ts'
import type { ObjectRef, Resource } from '../../../src/kube/vocabulary/api.ts'
import { KAI_IGNORE, KAI_POD_GROUPS } from '../../../src/kube/vocabulary/kai.ts'
import {
  ADMISSION_GATE,
  POD_GROUP as GROUP_GATE,
  QUEUE_NAME,
  RETRIABLE_IN_GROUP,
} from '../../../src/kube/vocabulary/names.ts'
import { COMPOSITE_POD_GROUPS, JOB_SETS, JOBS, NAMESPACES, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { podGroupNameFor } from '../../../src/workload/placement.ts'
import { FOREGROUND, ORPHAN } from '../actors/janitors.ts'
import { ignoreRaces } from '../actors/nodes.ts'
import { POD_GROUP } from '../actors/pod-groups.ts'
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
/** Those of Muster's. */
const GATES = [ADMISSION_GATE, GROUP_GATE]

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
  if (rest.kind === 'create-set') return `create-set ${rest.set.metadata.namespace}/${rest.set.metadata.name}`
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
    case 'create-set':
      server.create(JOB_SETS, action.set, USER)
      return
    case 'suspend-set':
      server.patch(JOB_SETS, at(action), { type: 'merge', body: { spec: { suspend: action.suspend } } }, USER)
      return
    case 'delete-set':
      if (action.again !== undefined) createAgain(cluster, JOB_SETS, server.get(JOB_SETS, at(action)), action.again)
      server.remove(JOB_SETS, at(action), {}, USER)
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
    case 'set-limits':
      cluster.setLimits(action.queue, action.limits)
      return
    case 'delete-namespace':
      server.remove(NAMESPACES, { name: action.namespace }, {}, ADMIN)
      return
    case 'delete-pod-group':
      removeComposite(cluster, podGroupRef(action))
      if (action.force) removeGroup(cluster, POD_GROUP, podGroupRef(action))
      else server.remove(POD_GROUP, podGroupRef(action), {}, ADMIN)
      return
    case 'shrink-pod-group': {
      const ref = podGroupRef(action)
      server.get(POD_GROUP, ref)
      server.patch(POD_GROUP, ref, { type: 'merge', body: { spec: gangOf(1) } }, ADMIN)
      return
    }
    case 'take-pod-group':
      takeName(cluster, POD_GROUP, podGroupRef(action), gangOf(1), action.backMs)
      return
    case 'write-native-group':
      writeNativeGroup(cluster, action)
      return
    case 'delete-native-group':
      removeGroup(cluster, POD_GROUP, at(action))
      return
    case 'delete-kai-group':
      server.remove(KAI_POD_GROUPS, at(action), {}, ADMIN)
      return
    case 'take-kai-group':
      takeName(cluster, KAI_POD_GROUPS, at(action), { minMember: action.minMember }, action.backMs)
      return
    case 'opt-out':
      mergePod(cluster, action, { metadata: { annotations: { [KAI_IGNORE]: 'true' } } })
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

const podGroupRef = ({ namespace, group }: { namespace: string; group: string }) => ({
  namespace,
  name: podGroupNameFor(namespace, group),
})

const gangOf = (minCount: number) => ({ schedulingPolicy: { gang: { minCount } } })

interface Place {
  readonly namespace: string
  readonly name: string
}

function writeNativeGroup({ server }: Cluster, action: Extract<Action, { kind: 'write-native-group' }>): void {
  const [metadata, spec] = [at(action), gangOf(action.minCount)]
  if (server.find(POD_GROUP, action.namespace, action.name) === undefined)
    server.create(POD_GROUP, { metadata, spec }, ADMIN)
  else server.patch(POD_GROUP, metadata, { type: 'merge', body: { spec } }, ADMIN)
}

/** What is above the groups of a driver and its workers, where there is one: nobody keeps it. */
function removeComposite({ server }: Cluster, { namespace, name }: Place): void {
  ignoreRaces(() => server.remove(COMPOSITE_POD_GROUPS, { namespace, name: compositeName(name) }, {}, ADMIN))
}

/** Past the controller that keeps it while pods name it. */
function removeGroup({ server }: Cluster, resource: Resource, ref: Place): void {
  server.remove(resource, ref, {}, ADMIN)
  if (server.find(resource, ref.namespace, ref.name) === undefined) return
  server.patch(resource, ref, { type: 'merge', body: { metadata: { finalizers: null } } }, ADMIN)
}

/** One that wants nobody, and belongs to nobody. */
function takeName(cluster: Cluster, resource: Resource, ref: Place, spec: object, backMs: number): void {
  const { server, agenda } = cluster
  const { uid = '' } = server.create(resource, { metadata: ref, spec }, MALLORY).metadata
  agenda.after(backMs, () => {
    if (server.find(resource, ref.namespace, ref.name)?.metadata.uid === uid)
      ignoreRaces(() => removeGroup(cluster, resource, ref))
  })
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
      strategic({ spec: { schedulingGates: GATES.map(name => ({ $patch: 'delete', name })) } }, USER)
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
