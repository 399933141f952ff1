import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import { DEFAULT_CONFIGURATION } from '../../../../src/config/configuration.ts'
import type { KubeObject } from '../../../../src/kube/vocabulary/objects.ts'
import { reviewQueueLabel } from '../../../../src/webhooks/jobs/queue-label.ts'
import { localWorld } from '../../../../src/webhooks/local-world.ts'
import { controller, K } from '../pods/fixtures.ts'
import { jobOf, jobRequest } from './fixtures.ts'

const labels = { [`${K}queue-name`]: 'team-a' }
const { integrations } = DEFAULT_CONFIGURATION
const podsOnly = localWorld({ ...DEFAULT_CONFIGURATION, integrations: { ...integrations, frameworks: ['pod'] } })
const builtin = localWorld(DEFAULT_CONFIGURATION)
const kueue = localWorld({ ...DEFAULT_CONFIGURATION, engine: 'kueue' })

const cronJob = (metadata: object): KubeObject =>
  ({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'nightly', labels },
    spec: { jobTemplate: { metadata, spec: jobOf().spec } },
  }) as KubeObject
const jobSet = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', metadata: { name: 'set', labels }, spec: {} }

const deployment = (podLabels: object): KubeObject =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', labels },
    spec: { template: { metadata: { labels: podLabels } } },
  }) as KubeObject
const owned = {
  ...deployment({}),
  kind: 'StatefulSet',
  metadata: { name: 'web', labels, ownerReferences: [controller('example.com/v1', 'Web', 'web')] },
}

const review = (object: KubeObject, world = podsOnly): Verdict => reviewQueueLabel(jobRequest(object), world)

describe('a queue label on what nothing queues', () => {
  it.each<[string, KubeObject, string, string]>([
    ['a Job', jobOf({ metadata: { labels } }), 'metadata', 'no Jobs here'],
    ['the Jobs of a CronJob', cronJob({ labels }), 'spec.jobTemplate.metadata', 'no Jobs here'],
    ['a CronJob, whose Jobs have none', cronJob({}), 'metadata', 'no CronJobs here'],
    ['a Deployment', deployment({}), 'metadata', 'no Deployments here'],
    ['a StatefulSet', { ...deployment({}), kind: 'StatefulSet' }, 'metadata', 'no StatefulSets here'],
    ['a JobSet', jobSet, 'metadata', 'no JobSets here'],
  ])('is told: %s', (_what, object, place, told) => {
    const verdict = review(object)
    expect(verdict).toMatchObject({ kind: 'allowed', reason: 'NotQueued' })
    expect(verdict.warnings).toEqual([
      expect.stringContaining(`${place}.labels[${K}queue-name]: Muster queues ${told}`),
    ])
    // kubectl prints no more of it.
    expect(verdict.warnings[0]?.length).toBeLessThanOrEqual(256)
  })

  it.each<[string, KubeObject]>([
    ['no label', jobOf()],
    ['an empty one', jobOf({ metadata: { labels: { [`${K}queue-name`]: '' } } })],
    ['one on a Deployment whose pods have it, too', deployment(labels)],
    ['one on a StatefulSet that its controller has made', owned],
    [
      'one on a Job that its controller has made',
      jobOf({ metadata: { labels, ownerReferences: [controller('jobset.x-k8s.io/v1alpha2', 'JobSet', 'set')] } }),
    ],
    ['labels that are none', jobOf({ metadata: { labels: { [`${K}queue-name`]: 7 } } })],
  ])('is not told of %s', (_what, object) => {
    expect(review(object)).toMatchObject({ kind: 'allowed', warnings: [] })
  })

  it('is told where it is read', () => {
    const [told] = review(cronJob({})).warnings
    expect(told).toContain('its Jobs wait that have it, from spec.jobTemplate.metadata.labels')
    expect(review(deployment({})).warnings[0]).toContain('from spec.template.metadata.labels')
  })

  it('is told once, where the Jobs of a CronJob are queued and it has the label in both places', () => {
    expect(review(cronJob({ labels }), kueue)).toMatchObject({ reason: 'Valid', warnings: [] })
    expect(review(cronJob({}), kueue).warnings).toHaveLength(1)
  })

  it('is not told where the engine queues the kind', () => {
    expect(review(jobOf({ metadata: { labels } }), kueue)).toMatchObject({ reason: 'Valid', warnings: [] })
    expect(review(jobSet, kueue)).toMatchObject({ reason: 'Valid', warnings: [] })
    expect(review(jobOf({ metadata: { labels } }), builtin)).toMatchObject({ reason: 'Valid', warnings: [] })
    expect(review(jobSet, builtin)).toMatchObject({ reason: 'Valid', warnings: [] })
  })
})
