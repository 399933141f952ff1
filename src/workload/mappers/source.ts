import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { GROUP_TEMPLATE_NAME } from '../../kube/vocabulary/names.ts'
import type { FieldError } from '../../validation/field-error.ts'
import type { Allowance } from '../../validation/jobs/job-allow.ts'
import type { SchedulingBlock } from '../../validation/jobs/scheduling-model.ts'
import type { WrittenBlock } from '../../validation/jobs/scheduling-spelling.ts'
import { ALLOW_ALL } from '../builder/allow.ts'
import type { WorkloadInput } from '../builder/item.ts'
import type { SchedulingObject, SchedulingWorkload } from '../builder/objects.ts'
import type { KubernetesVersion } from '../builder/versions.ts'

/** An object that was never in a cluster has no uid yet, and names are made of it. */
export const PLACEHOLDER_UID = '00000000-0000-0000-0000-000000000000'

/**
 * A build shows what a manifest means, whatever a cluster allows: every option that Kubernetes has, and no others. It is
 * not the default of the configuration, which may become narrower than this.
 */
export const ALL_OF_KUBERNETES: Allowance = {
  allow: { ...ALLOW_ALL, topologyKeys: ['*'], resourceClaims: true },
  from: 'Kubernetes 1.37',
}

export interface MapOptions {
  readonly version: KubernetesVersion
  /** Of the object, if it says none itself. */
  readonly uid?: string
  /** Of the Workload, which only a cluster knows; the PodGroup refers to it. */
  readonly workloadUid?: string
  /** Workloads that exist: a Job of another controller takes its group from there. */
  readonly workloads?: readonly SchedulingWorkload[]
}

interface Mapped {
  /** In the order in which a controller creates them. */
  readonly objects: readonly SchedulingObject[]
  /** What a person should know about them, or why there are none. */
  readonly notes: readonly string[]
}

export type MapResult = Mapped | { readonly errors: readonly FieldError[] }

export const nothing = (note: string): Mapped => ({ objects: [], notes: [note] })

/** What the objects for the scheduler take over from the one they are made for. */
export interface Source {
  readonly name: string
  readonly namespace: string | undefined
  readonly uid: string
  /** Of the parent's Workload: which of its templates is this Job's, undefined if the parent delegates none. */
  readonly groupTemplateName: unknown
  /** The controller that owns it. */
  readonly controller: Fields | undefined
  readonly notes: readonly string[]
}

export function sourceOf(object: Fields, { uid: fallback }: MapOptions): Source {
  const metadata = isObject(object.metadata) ? object.metadata : {}
  const { name, generateName, namespace, uid, annotations, ownerReferences } = metadata
  const generated = typeof generateName === 'string' ? `${generateName}xxxxx` : ''
  const known = typeof name === 'string' && name !== ''
  const references: readonly unknown[] = Array.isArray(ownerReferences) ? ownerReferences : []
  return {
    name: known ? name : generated,
    namespace: typeof namespace === 'string' && namespace !== '' ? namespace : undefined,
    uid: typeof uid === 'string' && uid !== '' ? uid : (fallback ?? PLACEHOLDER_UID),
    groupTemplateName: isObject(annotations) ? annotations[GROUP_TEMPLATE_NAME] : undefined,
    controller: references.filter(isObject).find(({ controller }) => controller === true),
    notes: known || generated === '' ? [] : [`the API server will choose the name; here it is ${generated}`],
  }
}

export function priorityClassOf({ priorityClassName }: Fields): { readonly priorityClassName?: string } {
  return typeof priorityClassName === 'string' && priorityClassName !== '' ? { priorityClassName } : {}
}

/** A block that was found to be right, as the input of a group of pods. */
export function groupInput({ model, paths }: WrittenBlock): WorkloadInput {
  const block = model as SchedulingBlock
  return {
    policy: { group: block.schedulingPolicy, path: [paths.policy] },
    constraints: { group: block.schedulingConstraints, path: [paths.constraints] },
    disruptionMode: { group: block.disruptionMode, path: [paths.disruption] },
    resourceClaims: { group: block.resourceClaims, path: [paths.claims] },
  }
}
