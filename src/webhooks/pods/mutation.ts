import { type PatchOperation, pointer } from '../../admission/patch.ts'
import type { UserInfo } from '../../admission/review.ts'
import {
  allowed,
  forbiddenRequest,
  invalidObject,
  patched,
  patchedAlike,
  type Verdict,
} from '../../admission/verdict.ts'
import { KAI_POD_GROUP } from '../../kube/vocabulary/kai.ts'
import { TOPOLOGY_GATE } from '../../kube/vocabulary/kueue.ts'
import {
  ADMISSION_GATE,
  CREATOR,
  DEFAULT_QUEUE,
  MANAGED,
  POD_GROUP,
  QUEUE_NAME,
  ROLE_HASH,
} from '../../kube/vocabulary/names.ts'
import { controllerOf, type Pod } from '../../kube/vocabulary/objects.ts'
import { annotationPath, forbidden, invalid } from '../../validation/field-error.ts'
import { controllerStamp } from '../../workload/creator.ts'
import {
  creatorOf,
  hasOurFinalizer,
  isGated,
  isMarkedManaged,
  kaiLinkOf,
  managedLabelOf,
  podGroupMarkOf,
  queueOf,
  roleHashOf,
} from '../../workload/pod-facts.ts'
import { asksForTopology } from '../../workload/topology.ts'
import { createsFor } from '../creators.ts'
import type { World } from '../world.ts'
import { kaiGroupFor, podGroupFor } from './placement.ts'
import { podScope } from './scope.ts'

/** KEP-976: a pod that is subject to queueing waits behind our gate until its workload is admitted. */
export function gatePod(pod: Pod, namespace: string, user: UserInfo | undefined, world: World): Verdict {
  const scope = podScope(pod, namespace, user, world)
  if (scope.kind === 'denied') return scope
  if (scope.kind === 'ignored') return allowed(scope.reason)
  if (pod.spec.nodeName) return cannotBeGated(pod, scope.defaultQueue)

  const role = stampRole(pod, world)
  if (role !== undefined && 'denied' in role) return role.denied
  const creator = creatorStampOf(pod, namespace, user, world)
  const podGroup = podGroupFor(pod, namespace, world)
  const kaiGroup = kaiGroupFor(pod, namespace, world)
  // Kueue places it behind a second gate of its own, where it has been asked to.
  const byTopology = world.config.engine === 'kueue' && asksForTopology(pod)
  const make = () => {
    const stamped = stamps(pod, role, creator, kaiGroup)
    const gates = byTopology ? [ADMISSION_GATE, TOPOLOGY_GATE] : [ADMISSION_GATE]
    return [...marks(pod, stamped, gates, scope.defaultQueue, kaiGroup !== undefined), ...joined(podGroup)]
  }
  if (isUnmarked(pod) && !scope.defaultQueue && !byTopology) {
    // Where there are no annotations yet, all of them are written at once.
    const annotated = pod.metadata.annotations ? 'more' : 'first'
    const kin = `${role?.hash} ${creator} ${podGroup} ${kaiGroup} ${annotated}`
    return patchedAlike('Gated', world.roles.marksOf(kin, make))
  }
  const patch = make()
  return patch.length === 0 ? allowed('AlreadyGated') : patched('Gated', patch)
}

const joined = (podGroupName: string | undefined): readonly PatchOperation[] =>
  podGroupName === undefined ? [] : [{ op: 'add', path: '/spec/schedulingGroup', value: { podGroupName } }]

type Stamps = Readonly<Record<string, string>>

/** Another's stamp stays where it is, and the validator refuses it. */
function stamps(
  pod: Pod,
  role: StampedRole | undefined,
  creator: string | undefined,
  kaiGroup: string | undefined,
): Stamps {
  return {
    ...(kaiGroup !== undefined && kaiLinkOf(pod) === undefined && { [KAI_POD_GROUP]: kaiGroup }),
    ...(role && { [ROLE_HASH]: role.hash }),
    ...(creator !== undefined && creatorOf(pod) === undefined && { [CREATOR]: creator }),
  }
}

function marks(
  pod: Pod,
  stamped: Stamps,
  gates: readonly string[],
  defaultQueue: boolean,
  isLinked: boolean,
): readonly PatchOperation[] {
  const labels: Record<string, string> = defaultQueue ? { [QUEUE_NAME]: DEFAULT_QUEUE } : {}
  if (!isMarkedManaged(pod)) labels[MANAGED] = 'true'
  if (isLinked && podGroupMarkOf(pod) !== 'group') labels[POD_GROUP] = 'group'
  const patch: PatchOperation[] = []
  setKeys(patch, pod.metadata.labels, labels, LABELS)
  if (!hasOurFinalizer(pod)) append(patch, pod.metadata.finalizers, [MANAGED], '/metadata/finalizers')
  setKeys(patch, pod.metadata.annotations, stamped, ANNOTATIONS)
  const { schedulingGates } = pod.spec
  const missing = gates.filter(gate => !schedulingGates?.some(({ name }) => name === gate))
  append(
    patch,
    schedulingGates,
    missing.map(name => ({ name })),
    '/spec/schedulingGates',
  )
  return patch
}

/**
 * As nearly every new pod comes: with labels and annotations, but none of ours, without finalizers and gates. The
 * patches of such pods differ in the role and in the creator.
 */
function isUnmarked(pod: Pod): boolean {
  const { labels, finalizers } = pod.metadata
  if (!labels || finalizers || pod.spec.schedulingGates) return false
  const isLinked = podGroupMarkOf(pod) !== undefined || kaiLinkOf(pod) !== undefined
  return managedLabelOf(pod) === undefined && roleHashOf(pod) === undefined && creatorOf(pod) === undefined && !isLinked
}

/** The API server would refuse the gated pod with a text that names neither the queue nor the remedy. */
function cannotBeGated(pod: Pod, defaultQueue: boolean): Verdict {
  const queue = defaultQueue ? DEFAULT_QUEUE : queueOf(pod)
  const wait = queue === '' ? 'pods in this namespace wait for admission' : `the pod waits in queue "${queue}"`
  const detail =
    `cannot be set until all schedulingGates have been cleared: ${wait} before it gets a node. ` +
    `Remove spec.nodeName and choose the node with spec.nodeSelector {kubernetes.io/hostname: ${pod.spec.nodeName}}, ` +
    'or let the pod run outside the queues'
  return forbiddenRequest([forbidden('spec.nodeName', detail)])
}

interface StampedRole {
  readonly hash: string
}

/** Undefined: there is nothing to write. */
type Role = StampedRole | { readonly denied: Verdict } | undefined

const OUR_HASH = /^[0-9a-f]{8}$/

/**
 * The role hash is computed here and nowhere else. A pod that already carries all our marks is here for the second
 * time, because another webhook changed it after us (`reinvocationPolicy: IfNeeded`): its hash is brought up to date.
 * A hash on a pod that has not been here is a claim; a false one would put a large pod into the podSet of small ones.
 * A preset that isn't a hash at all stays in place, where Kueue leaves it, and the validator refuses it.
 */
function stampRole(pod: Pod, { roles }: World): Role {
  const preset = roleHashOf(pod)
  if (preset !== undefined && preset !== '' && !OUR_HASH.test(preset)) return undefined
  const computed = roles.hashOf(pod.spec)
  if (preset === computed) return undefined
  const ours = !preset || (isMarkedManaged(pod) && hasOurFinalizer(pod) && isGated(pod))
  if (ours) return { hash: computed }
  return { denied: invalidObject([invalid(annotationPath(ROLE_HASH), preset, wrongRoleHash(computed))]) }
}

/** Nobody is stamped where nobody is named: the API server always says who asks, a file may not. */
export function creatorStampOf(
  pod: Pod,
  namespace: string,
  user: UserInfo | undefined,
  world: World,
): string | undefined {
  const found = world.namespace(namespace)
  if (!user?.username || found === 'absent') return undefined
  const owner = controllerOf(pod.metadata.ownerReferences)
  const { stampOf } = world.roles
  if (owner === undefined || !createsFor(owner, user, world.config)) return stampOf(user.username, found.uid ?? '')
  return controllerStamp(user.username, found.uid ?? '', owner.uid, stampOf)
}

export function wrongRoleHash(computed: string): string {
  return `is not the role of this pod, which is ${computed}; remove the annotation: Muster computes it`
}

/** A map that we write keys into, and where each of these keys is. */
interface Target {
  readonly path: string
  readonly keys: Readonly<Record<string, string>>
}

const LABELS = target('labels', QUEUE_NAME, MANAGED, POD_GROUP)
const ANNOTATIONS = target('annotations', ROLE_HASH, CREATOR, KAI_POD_GROUP)

function target(field: string, ...keys: readonly string[]): Target {
  const paths = keys.map(key => [key, pointer('metadata', field, key)])
  return { path: pointer('metadata', field), keys: Object.fromEntries(paths) }
}

function setKeys(
  patch: PatchOperation[],
  existing: Readonly<Record<string, string>> | null | undefined,
  wanted: Readonly<Record<string, string>>,
  { path, keys }: Target,
): void {
  for (const key in wanted) {
    if (existing === undefined || existing === null) {
      patch.push({ op: 'add', path, value: wanted })
      return
    }
    patch.push({ op: Object.hasOwn(existing, key) ? 'replace' : 'add', path: keys[key] ?? '', value: wanted[key] })
  }
}

function append(
  patch: PatchOperation[],
  existing: readonly unknown[] | null | undefined,
  items: readonly unknown[],
  path: string,
): void {
  if (existing) for (const item of items) patch.push({ op: 'add', path: `${path}/-`, value: item })
  else if (items.length > 0) patch.push({ op: 'add', path, value: items })
}
