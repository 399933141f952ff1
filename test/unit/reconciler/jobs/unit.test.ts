import { describe, expect, it } from 'vitest'
import { type JobRecords, jobKeyOf, jobUnitFrom } from '../../../../src/reconciler/jobs/job-unit.ts'
import { unitKeyOfWorkload } from '../../../../src/reconciler/unit.ts'
import { BATCH_JOB } from '../../../../src/workload/jobs/batch-job.ts'
import { JOB_SET } from '../../../../src/workload/jobs/job-set.ts'
import { NO_DEFAULTS } from '../../../../src/workload/jobs/pod-defaults.ts'
import type { QueuedJob } from '../../../../src/workload/jobs/queued-job.ts'
import type { QueuedWorkload } from '../../../../src/workload/queued-workload.ts'
import { acts, cached, RUNNING, told, workloadFor } from '../../../support/jobs.ts'

const KEY = 'job/ml/train'
const ENDED = { type: 'Complete', status: 'True', message: 'done' }

function unitOf(job: QueuedJob | undefined, workloads: readonly QueuedWorkload[] = [], more: Partial<JobRecords> = {}) {
  return jobUnitFrom(BATCH_JOB, KEY, {
    job: kind => (kind === BATCH_JOB ? job : undefined),
    workloadsOf: key => workloads.filter(workload => unitKeyOfWorkload(workload) === key),
    selects: () => true,
    defaultsIn: () => NO_DEFAULTS,
    ...more,
  })
}

describe('the unit of a Job', () => {
  const job = cached()
  const workload = workloadFor(job)

  it('is found from the Job and from its Workload, also when the Workload has lost its owner', () => {
    expect(jobKeyOf(BATCH_JOB, job)).toBe(KEY)
    expect(unitKeyOfWorkload(workload)).toBe(KEY)
    const orphan = { ...workload, metadata: { ...workload.metadata, ownerReferences: [] } }
    expect(unitKeyOfWorkload(orphan)).toBe(KEY)
  })

  it('has the Workload of this life of the Job, and those of others as orphans', () => {
    const other = workloadFor(cached({ uid: 'u2' }))
    expect(unitOf(job, [workload, other])).toMatchObject({ job, workload, orphans: [other] })
    expect(unitOf(undefined, [workload])).toMatchObject({ job: undefined, workload: undefined, orphans: [workload] })
  })

  it('is none where the namespace is not selected, unless it has a Workload already', () => {
    const nowhere = { selects: () => false }
    expect(unitOf(job, [], nowhere).job).toBeUndefined()
    expect(unitOf(job, [workload], nowhere).job).toBe(job)
  })

  it('tells a Job that Muster suspended, and whose namespace was left out since, how it starts all the same', () => {
    const nowhere = { selects: () => false }
    expect(told(unitOf(job, [], nowhere))).toEqual([
      'LiftBlocked: Muster does not queue the Jobs of namespace ml (integrations.podOptions.namespaceSelector), and had ' +
        'made no Workload for this one: set spec.suspend to false to start it',
    ])
    expect(acts(unitOf(job, [], nowhere))).toEqual([])
    const others = [cached({ annotations: {} }), cached({ spec: RUNNING }), cached({ status: { conditions: [ENDED] } })]
    for (const other of others) expect(told(unitOf(other, [], nowhere))).toEqual([])
  })

  it('is none for a Job that was created for another, or that another controller looks after', () => {
    const child = cached({ annotations: { 'muster.dev/child-of': 'jobset.x-k8s.io/jobset:js' } })
    expect(unitOf(child).job).toBeUndefined()
    expect(unitOf(cached({ spec: { managedBy: 'kueue.x-k8s.io/multikueue' } })).job).toBeUndefined()
  })

  it('is none for the Job of a JobSet that was there before any stamp, and is for what only claims to be one', () => {
    const owner = {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      name: 'js',
      uid: 'js-uid',
      controller: true,
    }
    const jobSet = { ...cached({ name: 'js', uid: 'js-uid' }) }
    const child = cached({ annotations: {}, metadata: { ownerReferences: [owner] } })
    const records: Partial<JobRecords> = { job: kind => (kind === JOB_SET ? jobSet : child) }
    expect(unitOf(child, [], records).job).toBeUndefined()
    expect(unitOf(child).job).toBe(child)
    const queued = cached({ metadata: { ownerReferences: [owner] } })
    expect(unitOf(queued, [], { job: kind => (kind === JOB_SET ? jobSet : queued) }).job).toBe(queued)
  })
})
