import { NOTHING_SERVED, type ServedScheduling } from '../../../../src/kube/vocabulary/served-scheduling.ts'

/** API servers, by the feature gates that make the difference for Jobs. */
export const SERVERS = {
  /** GenericWorkload and WorkloadWithJob. */
  both: served('v1beta1', true),
  /** GenericWorkload alone. */
  generic: served('v1beta1', false),
  /** Neither. WorkloadWithJob alone does not start. */
  none: NOTHING_SERVED,
  with136: served('v1alpha2', true),
  generic136: served('v1alpha2', false),
} as const

function served(version: 'v1beta1' | 'v1alpha2', jobController: boolean): ServedScheduling {
  return {
    kubernetes: { version, podGroups: true, composites: false },
    kai: false,
    jobController,
    jobSchedulingField: jobController && version === 'v1beta1',
  }
}
