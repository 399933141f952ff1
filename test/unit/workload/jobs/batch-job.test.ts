import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../../src/kube/vocabulary/objects.ts'
import { outlined } from '../../../../src/kube/vocabulary/outline.ts'
import { limitRangeForCache } from '../../../../src/reconciler/cache-contents.ts'
import { BATCH_JOB, indexesIn } from '../../../../src/workload/jobs/batch-job.ts'
import { defaultRequests } from '../../../../src/workload/jobs/pod-defaults.ts'
import { cached, job } from '../../../support/jobs.ts'

describe('the indexes of an Indexed Job', () => {
  it.each([
    [['0'], 8, 1],
    [['0', '1'], 8, 2],
    [['0-3,5', '2-6'], 8, 7],
    [['0-99'], 8, 8],
    [['', undefined], 8, 0],
    [['x-3,-1,4-2'], 8, 0],
  ])('in %j below %i are %i', (texts, end, count) => {
    expect(indexesIn(texts, end)).toBe(count)
  })
})

describe('a Job in the cache', () => {
  it('has stopped when its controller has said so and no pod is on its way out', () => {
    const stopped = (status: object, suspend = true) => cached({ spec: { suspend }, status }).progress.stopped
    const conditions = [{ type: 'Suspended', status: 'True' }]
    expect(stopped({})).toBe(true)
    expect(stopped({ startTime: 'x' })).toBe(false)
    expect(stopped({ conditions, startTime: 'x' })).toBe(true)
    expect(stopped({ conditions, terminating: 1 })).toBe(false)
    expect(stopped({ conditions, active: 1 })).toBe(false)
    expect(stopped({ conditions }, false)).toBe(false)
  })

  it('has not stopped before its controller has looked at it, once it was started', () => {
    const stopping = { 'muster.dev/stopping': 'true' }
    const conditions = [{ type: 'Suspended', status: 'True' }]
    const stopped = (status: object) =>
      cached({ spec: { suspend: true }, annotations: stopping, status }).progress.stopped
    expect(stopped({})).toBe(false)
    expect(stopped({ conditions })).toBe(true)
  })

  it('is small, whatever its user puts into it', () => {
    const huge = 'x'.repeat(100_000)
    const containers = Array.from({ length: 2000 }, (_, i) => ({ name: `c-${i}`, env: [{ name: 'A', value: huge }] }))
    const status = { conditions: [{ type: 'Failed', status: 'True', message: huge }] }
    const annotations = { note: huge, 'muster.dev/child-of': huge }
    const kept = BATCH_JOB.forCache(job({ podSpec: { containers }, status, annotations }))
    expect(JSON.stringify(kept).length).toBeLessThan(6000)
    expect(kept.excess).toMatch(/takes \d+ characters/)
  })

  it('cannot be counted when it selects its pods itself', () => {
    const label = 'batch.kubernetes.io/controller-uid'
    const excess = (spec: object) => BATCH_JOB.forCache(outlined(job({ spec }), BATCH_JOB.outline) as KubeObject).excess
    expect(excess({ manualSelector: true })).toMatch(/^Job train selects its pods itself/)
    expect(excess({ selector: { matchLabels: { app: 'mine' } } })).toMatch(/^Job train selects its pods itself/)
    expect(excess({ selector: { matchLabels: { [label]: 'another' } } })).toMatch(/^Job train selects its pods itself/)
    expect(excess({ selector: { matchLabels: { [label]: 'u1' } } })).toBeUndefined()
    expect(excess({})).toBeUndefined()
  })

  it('cannot be counted when a part of it was too large to be read', () => {
    const kept = BATCH_JOB.forCache({ ...job(), omitted: ['spec.template.spec.containers', 'status.conditions'] })
    expect(kept.excess).toBe(
      'Job train has more in spec.template.spec.containers than is read: create it with less of that',
    )
    expect(BATCH_JOB.forCache({ ...job(), omitted: ['status.conditions'] }).excess).toBeUndefined()
  })
})

describe('what LimitRanges give a container', () => {
  it('is of each resource the largest', () => {
    const range = (type: string, defaultRequest: Record<string, string>) => ({
      metadata: {},
      spec: { limits: [{ type, defaultRequest }] },
    })
    const ranges = [
      range('Container', { cpu: '500m', memory: '1Gi' }),
      range('Container', { cpu: '1' }),
      range('Pod', { cpu: '9' }),
    ]
    expect(defaultRequests(ranges)).toEqual({ requests: { cpu: '1', memory: '1Gi' } })
    expect(defaultRequests([])).toEqual({ requests: {} })
  })

  it('is not counted where they say more than is counted, or what nobody can ask for', () => {
    const range = (defaultRequest: Record<string, string>) =>
      limitRangeForCache({ metadata: { name: 'range' }, spec: { limits: [{ type: 'Container', defaultRequest }] } })
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`example.com/r${index}`, '0']))
    const first = Object.fromEntries(Object.entries(many).slice(0, 32))
    expect(defaultRequests([range(first)])).toEqual({ requests: first })
    for (const ranges of [
      [range(many)],
      [range(first), range({ cpu: '1' })],
      [range({ cpu: '-1' })],
      Array.from({ length: 65 }, () => range({})),
    ]) {
      expect(defaultRequests(ranges)).toEqual({ requests: {}, problem: expect.stringContaining('LimitRange') })
    }
  })
})
