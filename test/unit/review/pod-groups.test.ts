import { describe, expect, it } from 'vitest'
import type { AdmissionRequest } from '../../../src/admission/review.ts'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import { NOTHING_SERVED } from '../../../src/kube/vocabulary/served-scheduling.ts'
import { passStages } from '../../../src/review/stages.ts'
import { localWorld } from '../../../src/webhooks/local-world.ts'
import { podReview } from '../../support/reviews.ts'

const world = (kai: boolean) => ({
  ...localWorld(DEFAULT_CONFIGURATION),
  scheduling: () => ({ ...NOTHING_SERVED, kai }),
})

function pass(spec: Partial<Pod['spec']>, kai: boolean, labels: Record<string, string> = {}) {
  const object: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'ml', labels },
    spec: { containers: [], ...spec },
  }
  const request = { ...podReview().request, namespace: 'ml', object } as unknown as AdmissionRequest
  return passStages(request, world(kai), 'all')
}

const OF_KAI = { schedulerName: 'kai-scheduler', schedulingGroup: { podGroupName: 'pg' } }
const QUEUED = { 'kueue.x-k8s.io/queue-name': 'team-a' }

describe('a review of a pod that KAI schedules', () => {
  it('says that it waits for the group that it names', () => {
    expect(pass(OF_KAI, true)).toMatchObject({ allowed: true, reason: 'HeldForPodGroup' })
  })

  it('says what the queue does with it where KAI has no part in it', () => {
    expect(pass(OF_KAI, false, QUEUED)).toMatchObject({ allowed: true, reason: 'Gated' })
    expect(pass({}, true)).toMatchObject({ allowed: true, reason: 'NoQueue' })
  })

  it('has both gates where it waits for both', () => {
    const { result, allowed } = pass(OF_KAI, true, QUEUED)
    const gates = (result as Pod).spec.schedulingGates?.map(({ name }) => name)
    expect([allowed, gates]).toEqual([true, ['kueue.x-k8s.io/admission', 'muster.dev/pod-group']])
  })
})
