import { type FieldError, invalid } from '../../../src/validation/field-error.ts'
import type { Job, JobCondition } from './job-rules.ts'
import { equal } from './patches.ts'
import type { Stored } from './server.ts'

export interface ReplicatedJob {
  readonly name: string
  readonly replicas: number
  readonly template: { readonly spec: Omit<Job['spec'], 'suspend' | 'completionMode'> }
}

/** A JobSet, as far as the rules of its webhooks and its controller read it. */
export interface JobSet extends Stored {
  readonly spec: {
    readonly suspend?: boolean
    readonly failurePolicy?: { readonly maxRestarts?: number }
    readonly replicatedJobs: readonly ReplicatedJob[]
  }
  readonly status?: {
    readonly restarts?: number
    readonly conditions?: readonly JobCondition[]
    readonly replicatedJobsStatus?: readonly {
      readonly name: string
      readonly active: number
      readonly succeeded: number
    }[]
  }
}

export const JOB_SET_UID = 'jobset.sigs.k8s.io/jobset-uid'
export const RESTART_ATTEMPT = 'jobset.sigs.k8s.io/restart-attempt'

export const asJobSet = (object: Stored): JobSet => object as JobSet
export const setSays = ({ status }: JobSet, type: string): boolean =>
  status?.conditions?.some(condition => condition.type === type && condition.status === 'True') ?? false
export const setHasEnded = (set: JobSet): boolean => setSays(set, 'Completed') || setSays(set, 'Failed')

/** JobSet 0.12: the templates of one that is suspended, before or after the write, may be placed; nothing else changes. */
export function jobSetUpdateProblem(before: Stored, after: Stored): FieldError | undefined {
  const [was, is] = [asJobSet(before).spec, asJobSet(after).spec]
  const loose = was.suspend === true || is.suspend === true
  const shape = (jobs: readonly ReplicatedJob[]) => (loose ? jobs.map(fixed) : jobs)
  if (equal(shape(was.replicatedJobs), shape(is.replicatedJobs))) return undefined
  return invalid('spec.replicatedJobs', '', 'field is immutable')
}

function fixed({ name, replicas, template }: ReplicatedJob): unknown {
  const { template: pods, ...job } = template.spec
  const { nodeSelector: _, tolerations: __, schedulingGates: ___, ...spec } = pods.spec
  return { name, replicas, job, spec }
}
