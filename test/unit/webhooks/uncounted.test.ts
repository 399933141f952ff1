import { describe, expect, it } from 'vitest'
import type { Configuration } from '../../../src/config/configuration.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { reviewPodValidation } from '../../../src/webhooks/pods/pods.ts'
import { uncountedWarnings } from '../../../src/webhooks/queues.ts'
import type { World } from '../../../src/webhooks/world.ts'
import { job, jobSet, passed, queueWorld } from './jobs/queue-fixtures.ts'
import { queuedPod, requestOf } from './pods/fixtures.ts'

const q = { labels: { 'queue-name': 'q' } }
const resourceClaims = [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }]
const template = { spec: { containers: [{ name: 'main' }], resourceClaims } }

function worldWith(config: Partial<Configuration>): World {
  const world = queueWorld()
  return { ...world, config: { ...world.config, queues: [{ name: 'q', limits: { pods: 4 } }], ...config } }
}

const warningsOf = (object: KubeObject, config: Partial<Configuration> = {}) =>
  passed(object, { world: worldWith(config) }).verdict.warnings

describe('what pods get by resource claims', () => {
  it('is told to be counted by nobody where a queue has limits', () => {
    expect(warningsOf(job({ ...q, spec: { template } }))).toEqual([
      'spec.template.spec.resourceClaims: in queue "q" what pods get by resource claims does not count: its limits are ' +
        'about requests',
    ])
    const replicatedJobs = [{ name: 'a', template: { spec: { template } } }]
    expect(warningsOf(jobSet({ ...q, spec: { replicatedJobs } }))).toEqual([
      expect.stringMatching(/^spec\.replicatedJobs\[0\]\.template\.spec\.template\.spec\.resourceClaims: in queue "q"/),
    ])
  })

  it('is told of a pod, too', () => {
    const review = (spec: Readonly<Record<string, unknown>>) =>
      reviewPodValidation(requestOf(queuedPod({ spec })), worldWith({}))
    expect(review({ resourceClaims }).warnings).toEqual([expect.stringMatching(/^spec\.resourceClaims: in queue "q"/)])
    expect(review({ resourceClaims: [] }).warnings).toEqual([])
  })

  it.each<[string, KubeObject, Partial<Configuration>]>([
    ['there are none', job(q), {}],
    ['it waits nowhere', job({ spec: { template } }), {}],
    ['the queue has no limits', job({ ...q, spec: { template } }), { queues: [{ name: 'q', limits: {} }] }],
    ['the queue is not listed', job({ ...q, spec: { template } }), { queues: [] }],
  ])('is nothing to talk about if %s', (_, object, config) => {
    expect(warningsOf(object, config)).toEqual([])
  })

  it('is Kueue’s to count where Kueue admits', () => {
    const object = { metadata: { labels: { 'kueue.x-k8s.io/queue-name': 'q' } } }
    const claiming = [{ path: '', claims: true }]
    expect(uncountedWarnings(object, claiming, worldWith({}))).toHaveLength(1)
    expect(uncountedWarnings(object, claiming, worldWith({ engine: 'kueue' }))).toEqual([])
  })
})
