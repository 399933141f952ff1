import { describe, expect, it } from 'vitest'
import { builtinEngine } from '../../../src/engines/builtin/builtin.ts'
import { QUEUE_ORDER } from '../../../src/engines/builtin/workloads.ts'
import { decideJob } from '../../../src/reconciler/jobs/decide-job.ts'
import { Latecomers, turnAt } from '../../../src/reconciler/latecomers.ts'
import { BATCH_JOB } from '../../../src/workload/jobs/batch-job.ts'
import { NO_DEFAULTS } from '../../../src/workload/jobs/pod-defaults.ts'
import { managedPod } from '../../support/pods.ts'
import { workloadOf } from '../../support/workloads.ts'
import { created, decide, gang, group, NOW } from './decide/fixtures.ts'

const KEY = 'group/ml/gang'
const EMPTY = { workload: undefined }
const WRONG = { actions: [], standings: [{ reason: 'InvalidGroup' as const }] }
const WAITS = { actions: [], standings: [{ reason: 'WaitingForPods' as const }] }
const MADE = { actions: [{ kind: 'EnsureObject' as const }], standings: [{ reason: 'InvalidGroup' as const }] }
const seen = (resourceVersion: string) => ({ metadata: { name: 'x', resourceVersion } })

describe('who has been wrong', () => {
  it('has his turn when it is put right, and not when he came', () => {
    const latecomers = new Latecomers()
    latecomers.saw(seen('102'))
    latecomers.looked(KEY, EMPTY, false, WRONG)
    for (const version of ['999', '1005', '998']) latecomers.saw(seen(version))
    expect(latecomers.turnOf(KEY)).toBe('1005')
    expect(latecomers.turnOf('group/ml/other')).toBeUndefined()
  })

  it('is still late when his Workload could not be made at once, and settled when it is there', () => {
    const latecomers = new Latecomers()
    latecomers.saw(seen('7'))
    latecomers.looked(KEY, EMPTY, false, WRONG)
    latecomers.looked(KEY, EMPTY, false, MADE)
    expect(latecomers.turnOf(KEY)).toBe('7')
    latecomers.looked(KEY, { workload: workloadOf([managedPod()]) }, false, WRONG)
    expect(latecomers.turnOf(KEY)).toBeUndefined()
  })

  it('is forgotten when he goes, and with the leadership', () => {
    const latecomers = new Latecomers()
    for (const end of [() => latecomers.looked(KEY, EMPTY, true, WAITS), () => latecomers.forget()]) {
      latecomers.looked(KEY, EMPTY, false, WRONG)
      expect(latecomers.turnOf(KEY)).toBe('')
      end()
      expect(latecomers.turnOf(KEY)).toBeUndefined()
    }
  })

  it('is not who waits for his pods, nor who leaves a stranger out', () => {
    const latecomers = new Latecomers()
    for (const decided of [WAITS, MADE]) {
      latecomers.looked(KEY, EMPTY, false, decided)
      expect(latecomers.turnOf(KEY)).toBeUndefined()
    }
  })
})

describe('where a unit stands', () => {
  it('is where its objects say, or later', () => {
    expect(turnAt('102', undefined)).toBe('102')
    expect(turnAt('102', '99')).toBe('102')
    expect(turnAt('102', '1005')).toBe('1005')
  })

  it('is what its Workload says', () => {
    const order = (turn?: string) =>
      created(decide({ ...group(gang(3)), ...(turn !== undefined && { turn }) }, NOW).actions[0]).metadata
        .annotations?.[QUEUE_ORDER]
    expect(order()).toBe('102')
    expect(order('1005')).toBe('1005')
  })

  it('is so for Jobs, too', () => {
    const object = {
      metadata: { name: 'train', namespace: 'ml', uid: 'u', resourceVersion: '102' },
      spec: { suspend: true, template: { spec: { containers: [{ name: 'main' }] } } },
    }
    const unit = {
      ...{ kind: BATCH_JOB, namespace: 'ml', name: 'train', job: BATCH_JOB.forCache(object) },
      ...{ workload: undefined, orphans: [], defaults: NO_DEFAULTS, turn: '1005' },
    }
    const made = decideJob(unit, builtinEngine([]), NOW).actions.find(({ kind }) => kind === 'EnsureObject')
    expect(created(made).metadata.annotations?.[QUEUE_ORDER]).toBe('1005')
  })
})
