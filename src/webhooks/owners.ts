import type { UserInfo } from '../admission/review.ts'
import { frameworkOf, isPassThrough } from '../kube/vocabulary/frameworks.ts'
import { controllerOf, type OwnerReference, type StringMap } from '../kube/vocabulary/objects.ts'
import { type FieldError, invalid } from '../validation/field-error.ts'
import { type Marked, queueIn, queueLabelIn } from '../workload/pod-facts.ts'
import { createsFor } from './creators.ts'
import type { World } from './world.ts'

/** What the walk up the controller references found. `queued`: an ancestor waits in a queue in the object's stead. */
export type Ancestry =
  | { readonly kind: 'queued'; readonly owner: OwnerReference }
  | { readonly kind: 'none' }
  | { readonly kind: 'broken'; readonly error: FieldError }

/** Kueue's bound. Real chains have at most four objects (Pod, Job, JobSet, AppWrapper). */
const CHAIN_LIMIT = 10

/**
 * KEP-976, "Skipping Pods belonging to queued objects": a pod is left alone when an object above it is managed by an
 * enabled framework and has a queue of its own. The topmost such object answers for all below it.
 *
 * Unlike in Kueue, a claim excuses nobody. Something must really hold the object back, or a label on it would be a way
 * past the queue; and the pod must come from who creates the pods of its owner, since anybody can name an owner. A pod
 * holds nobody back: a worker whose driver is queued waits as what it is, a member of the group or a pod of its own.
 */
export function findQueuedAncestor(
  object: Marked,
  namespace: string,
  user: UserInfo | undefined,
  world: World,
): Ancestry {
  const reference = controllerOf(object.metadata.ownerReferences)
  if (reference === undefined || !world.holds.some(isHolding) || !createsFor(reference, user, world.config)) return NONE
  return walkUp(object, namespace, world)
}

/** Whoever asks: what an object says of its owners is all that is known of it, and is not enough to excuse anything. */
export function walkUp(object: Marked, namespace: string, world: World): Ancestry {
  let reference = controllerOf(object.metadata.ownerReferences)
  const seen = new Set<string | undefined>([object.metadata.uid])
  let found: Ancestry = NONE
  let child: OwnerReference | undefined
  let isPart = true
  for (let hops = 1; reference !== undefined; hops++) {
    const framework = frameworkOf(reference)
    if (framework === undefined && !isPassThrough(reference)) return found

    const owner = world.owner(namespace, reference)
    if (owner === 'absent') return broken(object, ownerNotFound(reference, namespace))
    const { uid, labels, ownerReferences } = owner
    // The reference is to a predecessor of the same name, or forged. Either way this object does not own the pod.
    if (uid !== reference.uid) return found

    isPart &&= child === undefined || makes(framework, child)
    if (isPart && holdsBack(framework, world) && isInQueue(labels, world)) found = { kind: 'queued', owner: reference }

    if (seen.has(uid)) return broken(object, cyclic(reference))
    seen.add(uid)
    if (hops > CHAIN_LIMIT) return broken(object, TOO_LONG)
    child = reference
    reference = controllerOf(ownerReferences)
  }
  return found
}

/**
 * Who creates the pod is asked at the first step; what the objects above it say of their own owners is what their
 * authors wrote. A Job makes pods and a JobSet Jobs: a ReplicaSet that calls itself a part of one is none, and what waits
 * in a queue does not hold it back. What operators make of their objects nobody here knows.
 */
function makes(framework: string | undefined, child: OwnerReference): boolean {
  if (framework === 'batch/job') return false
  return framework !== 'jobset.x-k8s.io/jobset' || frameworkOf(child) === 'batch/job'
}

/**
 * By the reference alone, for what is not worth a look-up: the controller of the pod is of a kind that is held back,
 * and the request comes from who creates its pods.
 */
export function hasHoldingController(object: Marked, user: UserInfo | undefined, world: World): boolean {
  const controller = controllerOf(object.metadata.ownerReferences)
  if (controller === undefined || !holdsBack(frameworkOf(controller), world)) return false
  return createsFor(controller, user, world.config)
}

/**
 * Where everything waits, Kueue holds back what has no label at all. What Muster takes in gets one, be it empty: an
 * object without it was there before, and nobody holds it.
 */
function isInQueue(labels: StringMap, { config }: World): boolean {
  if (!config.manageJobsWithoutQueueName) return queueIn(labels) !== ''
  return config.engine === 'kueue' || queueLabelIn(labels) !== undefined
}

function holdsBack(framework: string | undefined, { config, holds }: World): boolean {
  if (framework === undefined || !isHolding(framework)) return false
  return holds.includes(framework) && config.integrations.frameworks.includes(framework)
}

const isHolding = (framework: string): boolean => framework !== 'pod'

const NONE: Ancestry = { kind: 'none' }

function broken({ metadata }: Marked, detail: string): Ancestry {
  const references = metadata.ownerReferences ?? []
  const index = references.findIndex(reference => reference.controller === true)
  return { kind: 'broken', error: invalid(`metadata.ownerReferences[${index}]`, references[index]?.name, detail) }
}

const described = (owner: OwnerReference): string => `${owner.kind} "${owner.name}" (${owner.apiVersion})`

/** Kueue denies too: with the owner out of sight nobody can say whether the pod has to wait. */
function ownerNotFound(owner: OwnerReference, namespace: string): string {
  return (
    `workload owner not found: ${described(owner)} does not exist in namespace "${namespace}"; ` +
    'create the owner first, or remove the reference'
  )
}

function cyclic(owner: OwnerReference): string {
  return `cyclic ownership: ${described(owner)} is its own ancestor; correct the ownerReferences of the owners`
}

const TOO_LONG = `managed owner chain limit reached: the pod has more than ${CHAIN_LIMIT} owners above each other`
