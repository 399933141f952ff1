import type { FieldError } from '../../validation/field-error.ts'
import type {
  DisruptionMode,
  GroupResourceClaim,
  PodGroupPolicy,
  SchedulingConstraints,
} from '../../validation/jobs/scheduling-model.ts'

/** The policy of a group of groups: as that of a group of pods, but it counts groups. */
export interface CompositePolicy {
  readonly basic?: object
  readonly gang?: { readonly minGroupCount?: number }
}

/** The same policy in the words of one for pods: what validates, merges and compiles knows only those. */
export const countingPods = ({ basic, gang }: CompositePolicy): PodGroupPolicy => ({
  basic,
  gang: gang === undefined ? undefined : { minCount: gang.minGroupCount },
})

/**
 * What a node of the tree asks of the scheduler, whether it groups pods or groups: the intermediate representation of
 * KEP-6089. For a group of groups `policy.gang.minCount` counts groups.
 */
export interface SchedulingConfig {
  /** Absent is Basic. */
  readonly policy?: PodGroupPolicy
  readonly constraints?: SchedulingConstraints
  readonly disruptionMode?: DisruptionMode
  readonly resourceClaims?: readonly GroupResourceClaim[]
  readonly priorityClassName?: string
}

/**
 * A controller's last word on a node, after its defaults and the user's input are merged. It returns the configuration
 * that holds. It is run at every validation and every build, so it has to give the same answer each time.
 */
export type SchedulingCallback = (config: SchedulingConfig) => SchedulingConfig

/** One building block as the user wrote it, and where. A node takes `group` if it is a leaf, else `composite`. */
interface BlockInput<Group, Composite> {
  readonly group?: Group
  readonly composite?: Composite
  /** Field names below the path of the item; without any, errors are reported at the item itself. */
  readonly path?: readonly string[]
}

export interface WorkloadInput {
  readonly policy?: BlockInput<PodGroupPolicy, CompositePolicy>
  readonly constraints?: BlockInput<SchedulingConstraints, SchedulingConstraints>
  readonly disruptionMode?: BlockInput<DisruptionMode, DisruptionMode>
  /** Pods share claims, groups do not. */
  readonly resourceClaims?: Omit<BlockInput<readonly GroupResourceClaim[], never>, 'composite'>
}

/** A node of a controller's workload: with children a group of groups, without any a group of pods. */
export interface WorkloadItem {
  /** The name of the template that it becomes: unique in the whole tree. */
  readonly name: string
  /** Where its blocks are in the controller's own API, as `spec.scheduling`. */
  readonly path?: string
  readonly defaults?: SchedulingConfig
  readonly input?: WorkloadInput
  readonly callbacks?: readonly (SchedulingCallback | undefined)[]
  readonly children?: readonly WorkloadItem[]
}

/** The root of a tree, or nothing where a caller has none: that is an error to report, not one to crash on. */
export type MaybeItem = WorkloadItem | null | undefined

export type Built<T> = { readonly ok: T } | { readonly errors: readonly FieldError[] }

export function isComposite(item: WorkloadItem): boolean {
  return (item.children ?? []).length > 0
}

/** What Go prints for a path that was never set. People who know the message from upstream find it again. */
const NO_PATH = '<nil>'

export function itemPath(item: MaybeItem): string {
  return item?.path ?? NO_PATH
}

export function blockPath(item: WorkloadItem, block: { readonly path?: readonly string[] } | undefined): string {
  const elements = [...(item.path === undefined ? [] : [item.path]), ...(block?.path ?? [])]
  return elements.length === 0 ? NO_PATH : elements.join('.')
}

/** An error of the program that built the tree, not of the user who wrote a manifest. */
export function internalError(field: string, detail: string): FieldError {
  return { field, type: 'InternalError', detail }
}
