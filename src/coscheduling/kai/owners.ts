import { parseApiVersion } from '../../kube/vocabulary/api-version.ts'
import { kindKey } from '../../kube/vocabulary/frameworks.ts'
import { controllerOf, type KubeObject, type OwnerReference } from '../../kube/vocabulary/objects.ts'
import type { Owner } from './objects.ts'

/** What is known of an object that a reference names. Undefined: nobody has asked yet. */
export type Lookup = (reference: OwnerReference) => Owner | 'absent' | 'unreadable' | undefined

/** The objects above a pod, the nearest first. `asks`: whom to look up before more can be said. */
export type Chain =
  | { readonly kind: 'known'; readonly owners: readonly Owner[] }
  | { readonly kind: 'asks'; readonly reference: OwnerReference }
  | { readonly kind: 'broken'; readonly problem: string }

/** Not by the uid alone: its author has written it, and may have written it twice. */
export const referenceKey = ({ apiVersion, kind, name, uid }: OwnerReference): string =>
  JSON.stringify([apiVersion, kind, name, uid])

/** Who owns himself, through others, would be followed for ever. */
const MOST_OWNERS = 10

/**
 * KAI's way up, with two differences: of several references the controller is followed and not the first, and those to
 * objects of scheduling.k8s.io are not followed at all. They say how something is scheduled, not whose it is, and a
 * PodGroup has two owners, which KAI takes for an error.
 */
export function ownersOf(object: Pick<KubeObject, 'metadata'>, find: Lookup): Chain {
  const owners: Owner[] = []
  let references = followed(object.metadata.ownerReferences ?? [])
  while (references.length > 0) {
    const reference = controllerOf(references) ?? references[0]
    if (reference === undefined) break
    if (owners.length > 0 && references.length > 1 && controllerOf(references) === undefined) {
      return { kind: 'broken', problem: `${named(owners.at(-1))} has more than one owner, and none is its controller` }
    }
    if (owners.length === MOST_OWNERS) {
      return { kind: 'broken', problem: `more than ${MOST_OWNERS} objects stand above the pod` }
    }
    const owner = find(reference)
    if (owner === undefined) return { kind: 'asks', reference }
    // What Muster may not read ends the way where it is, as it does for KAI.
    if (owner === 'unreadable') break
    if (owner === 'absent' || owner.uid !== reference.uid) {
      return { kind: 'broken', problem: `its owner ${reference.kind} "${reference.name}" does not exist` }
    }
    owners.push(owner)
    references = followed(owner.ownerReferences)
  }
  return { kind: 'known', owners }
}

function followed(references: readonly OwnerReference[]): readonly OwnerReference[] {
  return references.filter(({ apiVersion }) => parseApiVersion(apiVersion).group !== 'scheduling.k8s.io')
}

const named = (owner: Owner | undefined): string => (owner === undefined ? '' : `${owner.kind} "${owner.name}"`)

/** By group and kind: the version in a reference is whatever its author wrote. */
export const ownerKind = ({ apiVersion, kind }: Pick<Owner, 'apiVersion' | 'kind'>): string =>
  kindKey(parseApiVersion(apiVersion).group, kind)

/** Kinds that only hold others together: what stands below them is what KAI groups by. */
const SKIPPED: ReadonlySet<string> = new Set([
  'argoproj.io/Workflow',
  'trainer.kubeflow.org/TrainJob',
  'nvidia.com/DynamoGraphDeployment',
  'run.ai/TrainingWorkload',
  'run.ai/InteractiveWorkload',
  'run.ai/InferenceWorkload',
  'run.ai/DistributedWorkload',
  'run.ai/DistributedInferenceWorkload',
])

/** The one whose group it is, and the one above it that was passed over and leaves it what it has. */
export interface TopOwner {
  readonly effective: Owner | undefined
  readonly skipped: Owner | undefined
}

/** Undefined as the effective owner: the pod itself is the highest that counts. */
export function topOwnerOf(owners: readonly Owner[]): TopOwner {
  const top = owners.at(-1)
  if (top === undefined) return { effective: undefined, skipped: undefined }
  if (SKIPPED.has(ownerKind(top))) return { effective: owners.at(-2), skipped: top }
  // A CronJob is a calendar: each of its Jobs is a run of its own.
  if (ownerKind(top) === 'batch/CronJob') return { effective: owners.at(-2) ?? top, skipped: undefined }
  return { effective: top, skipped: undefined }
}
