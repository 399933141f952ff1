/**
 * Why a managed pod is where it is: one word of a closed list, the same in the Workload condition,
 * the pod's Event, the log, the metric and the command line. "Pending" is not a reason.
 */
export const REASONS = [
  'WaitingForPods',
  'InvalidGroup',
  'WaitingForAdmission',
  'OverQueueLimits',
  'Lifting',
  'LiftBlocked',
  'ForeignGates',
  'ExcessPod',
  'WaitingForReplacement',
  'Evicted',
  'WaitingForScheduler',
  'Finished',
] as const

export type Reason = (typeof REASONS)[number]

/** Reasons that ask somebody to act are Warnings; the others are the normal course of things. */
const WARNINGS: ReadonlySet<Reason> = new Set(['InvalidGroup', 'LiftBlocked', 'ExcessPod', 'Evicted'])

export function eventType(reason: Reason): 'Normal' | 'Warning' {
  return WARNINGS.has(reason) ? 'Warning' : 'Normal'
}
