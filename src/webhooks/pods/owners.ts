import { frameworkOf, isPassThrough } from '../../kube/vocabulary/frameworks.ts'
import { controllerOf, type OwnerReference, type Pod } from '../../kube/vocabulary/objects.ts'
import { type FieldError, invalid } from '../../validation/field-error.ts'
import { groupNameOf } from '../../workload/group.ts'
import { queueIn } from '../../workload/pod-facts.ts'
import type { World } from '../world.ts'

/** What the walk up the controller references found. `queued`: an ancestor waits in a queue in the pod's stead. */
export type Ancestry =
  | { readonly kind: 'queued'; readonly owner: OwnerReference }
  | { readonly kind: 'none' }
  | { readonly kind: 'broken'; readonly error: FieldError }

/** Kueue's bound. Real chains have at most four objects (Pod, Job, JobSet, AppWrapper). */
const CHAIN_LIMIT = 10

/**
 * KEP-976, "Skipping Pods belonging to queued objects": a pod is left alone when an object above it is managed by an
 * enabled framework and has a queue of its own. The topmost such object answers for all below it.
 */
export function findQueuedAncestor(pod: Pod, namespace: string, world: World): Ancestry {
  const { integrations, manageJobsWithoutQueueName } = world.config
  let reference = controllerOf(pod.metadata.ownerReferences)
  if (reference === undefined) return NONE

  const seen = new Set<string | undefined>([pod.metadata.uid])
  let found: Ancestry = NONE
  for (let hops = 1; reference !== undefined; hops++) {
    const framework = frameworkOf(reference)
    if (framework === undefined && !isPassThrough(reference)) return found

    const owner = world.owner(namespace, reference)
    if (owner === 'absent') return broken(pod, ownerNotFound(reference, namespace))
    const { uid, labels, ownerReferences } = owner
    // The reference is to a predecessor of the same name, or forged. Either way this object does not own the pod.
    if (uid !== reference.uid) return found

    const enabled = framework !== undefined && integrations.frameworks.includes(framework)
    const queued = manageJobsWithoutQueueName || queueIn(labels) !== ''
    if (enabled && queued && !answersForItself(pod, framework)) found = { kind: 'queued', owner: reference }

    if (seen.has(uid)) return broken(pod, cyclic(reference))
    seen.add(uid)
    if (hops > CHAIN_LIMIT) return broken(pod, TOO_LONG)
    reference = controllerOf(ownerReferences)
  }
  return found
}

/**
 * A driver that is a pod itself creates its workers as their controller (Spark does). Workers that name a group are
 * members of that group, story 4 of KEP-976, and are counted like every other member.
 */
function answersForItself(pod: Pod, framework: string): boolean {
  return framework === 'pod' && groupNameOf(pod) !== undefined
}

const NONE: Ancestry = { kind: 'none' }

function broken(pod: Pod, detail: string): Ancestry {
  const references = pod.metadata.ownerReferences ?? []
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
