import type { Action } from '../workload/actions.ts'
import { isGated } from '../workload/pod-facts.ts'
import { type JobStanding, type Standing, tell } from './decision.ts'
import type { JobUnit } from './jobs/job-unit.ts'
import type { Unit } from './unit.ts'

/** What those who wait are told of an action that was refused. */
export function refusedPods({ pods }: Unit, action: Action, message: string): readonly Standing[] {
  if (action.kind !== 'LiftGate' && action.kind !== 'EnsureObject') return []
  const held = action.kind === 'LiftGate' ? pods.filter(({ metadata }) => metadata.uid === action.pod.uid) : pods
  const what =
    action.kind === 'LiftGate' ? 'the gate could not be lifted' : `its ${action.resource.kind} could not be written`
  return tell(held.filter(isGated), 'LiftBlocked', `${what}: ${message}`)
}

export function refusedJob({ kind, job }: JobUnit, action: Action, message: string): readonly JobStanding[] {
  if (job === undefined || (action.kind !== 'PatchJob' && action.kind !== 'EnsureObject')) return []
  const what = action.kind === 'PatchJob' ? 'it could not be started or stopped' : 'its Workload could not be written'
  return [{ kind, job, reason: 'LiftBlocked', note: `${what}: ${message}` }]
}
