/**
 * What the package offers to authors of controllers (KEP-6089, stories 2 and 3) and keeps stable within a version;
 * docs/workloadbuilder.md describes each name. All the rest of Muster is its own affair and may change at any time.
 */
export type { OwnerReference } from '../kube/vocabulary/objects.ts'
export type { FieldError } from '../validation/field-error.ts'
export type { AllowLists } from './builder/allow.ts'
export {
  type BuilderOptions,
  createBuilder,
  createBuilderFromWorkload,
  type WorkloadBuilder,
} from './builder/builder.ts'
export { workloadErrors } from './builder/check.ts'
export { groupsOf } from './builder/groups.ts'
export type { Built, SchedulingCallback, SchedulingConfig, WorkloadInput, WorkloadItem } from './builder/item.ts'
export { podGroupName, workloadName } from './builder/names.ts'
export type { CompositePodGroup, PodGroup, SchedulingWorkload } from './builder/objects.ts'
