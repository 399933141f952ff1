import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../../src/kube/vocabulary/objects.ts'
import type { Action } from '../../../../src/workload/actions.ts'
import { BATCH_JOB } from '../../../../src/workload/jobs/batch-job.ts'
import { isTrue, type QueuedWorkload } from '../../../../src/workload/queued-workload.ts'
import { acts, cached, job, jobUnit, NOW, startedTemplate, workloadFor } from '../../../support/jobs.ts'
import { tallyOf } from '../../../support/tally.ts'
import { ADMITTED, holds } from '../../../support/workloads.ts'

const MARKS = ['muster.dev/queued', 'muster.dev/held', 'muster.dev/stopping']
const STATUSES = [
  {},
  { active: 2, startTime: NOW },
  { conditions: [{ type: 'Suspended', status: 'True' }], terminating: 2 },
  { conditions: [{ type: 'Suspended', status: 'True' }], startTime: NOW },
  { conditions: [{ type: 'Suspended', status: 'True' }] },
]
const BASE = workloadFor(cached())
const WORKLOADS: readonly (QueuedWorkload | undefined)[] = [
  undefined,
  BASE,
  workloadFor(cached(), ADMITTED),
  workloadFor(cached(), [...ADMITTED, holds('Evicted')]),
  workloadFor(cached(), [...ADMITTED, holds('Finished', 'FailedToStart', 'no')]),
  { ...workloadFor(cached(), ADMITTED), metadata: { ...BASE.metadata, deletionTimestamp: NOW } },
  { ...BASE, spec: { ...BASE.spec, active: false } },
]

function* subsets<T>(of: readonly T[]): Generator<readonly T[]> {
  for (let bits = 0; bits < 2 ** of.length; bits++) yield of.filter((_, i) => bits & (1 << i))
}

/** Every state in which a Job, its marks, its status and its Workload can be together. */
function* states(): Generator<{ readonly object: KubeObject; readonly workload: QueuedWorkload | undefined }> {
  for (const suspend of [true, false]) {
    for (const marks of subsets(MARKS)) {
      for (const status of STATUSES) {
        for (const started of [true, false]) {
          const annotations = Object.fromEntries(marks.map(mark => [mark, 'true']))
          const template = started ? startedTemplate(BASE) : {}
          const object = job({ spec: { suspend }, annotations, status, template })
          for (const workload of WORKLOADS) yield { object, workload }
        }
      }
    }
  }
}

const suspendOf = (action: Action): unknown =>
  action.kind === 'PatchJob' ? (action.patch.body as { spec?: { suspend?: unknown } }).spec?.suspend : undefined

const mayRun = (workload: QueuedWorkload | undefined): boolean =>
  workload !== undefined &&
  workload.metadata.deletionTimestamp === undefined &&
  isTrue(workload, 'Admitted') &&
  !isTrue(workload, 'Evicted') &&
  !isTrue(workload, 'Finished')

describe('in every state', () => {
  it('a Job runs on an admitted Workload, was there before, or is stopped', () => {
    const tally = tallyOf('started', 'runs rightly', 'must be stopped')
    for (const { object, workload } of states()) {
      const of = BATCH_JOB.forCache(object)
      const actions = acts(jobUnit(of, workload))
      const started = actions.some(action => suspendOf(action) === false)
      const stopped = actions.some(action => suspendOf(action) === true)
      const queued = of.metadata.annotations?.['muster.dev/queued'] === 'true'
      if (started) {
        tally.count('started')
        expect(mayRun(workload)).toBe(true)
        expect(of.metadata.annotations).not.toHaveProperty('muster.dev/held')
        expect(of.metadata.annotations).not.toHaveProperty('muster.dev/stopping')
      }
      if (of.spec.suspend || !queued) continue
      tally.count(mayRun(workload) ? 'runs rightly' : 'must be stopped')
      if (!mayRun(workload)) expect(stopped).toBe(true)
    }
    tally.expectAll()
  })

  it('quota is given back only by an action that looks for pods first', () => {
    const tally = tallyOf('looks first')
    const givesBack = (action: Action): boolean =>
      action.kind === 'ReleaseWorkload' ||
      action.kind === 'DeleteWorkload' ||
      (action.kind === 'SetStatus' && action.status.admission === null) ||
      (action.kind === 'SetStatus' &&
        (action.status.conditions ?? []).some(({ type, status }) => type === 'Finished' && status === 'True'))
    for (const { object, workload } of states()) {
      if (workload === undefined || !isTrue(workload, 'QuotaReserved') || isTrue(workload, 'Finished')) continue
      const actions = acts(jobUnit(BATCH_JOB.forCache(object), workload))
      if (actions.some(({ kind }) => kind === 'UnlessPodsLeft')) tally.count('looks first')
      expect(actions.filter(givesBack)).toEqual([])
    }
    tally.expectAll()
  })
})
