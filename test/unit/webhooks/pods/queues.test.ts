import { describe, expect, it } from 'vitest'
import { applyPatch } from '../../../../src/admission/patch.ts'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import type { Configuration } from '../../../../src/config/configuration.ts'
import { reviewPodMutation, reviewPodValidation } from '../../../../src/webhooks/pods/pods.ts'
import type { World } from '../../../../src/webhooks/world.ts'
import { brief, errorsOf, K, podOf, queuedPod, requestOf, type WorldOptions, worldOf } from './fixtures.ts'

const TEAM_A = { 'kubernetes.io/metadata.name': 'team-a', team: 'a' }
const QUEUES: Configuration['queues'] = [
  { name: 'team-a', limits: {}, namespaces: { matchLabels: { team: 'a' } } },
  { name: 'team-b', limits: {}, namespaces: { matchLabels: { team: 'b' } } },
  { name: 'everybody', limits: { pods: 1 } },
]
const PATH = `metadata.labels[${K}queue-name]`

function worldWith(options: Partial<Configuration> = {}, more: WorldOptions = {}): World {
  const world = worldOf({ namespaceLabels: TEAM_A, ...more })
  return { ...world, config: { ...world.config, queues: QUEUES, ...options } }
}

function create(queue: string, world: World): Verdict {
  const pod = podOf({ labels: { 'queue-name': queue } })
  const mutated = reviewPodMutation(requestOf(pod), world)
  if (mutated.kind === 'denied') return mutated
  return reviewPodValidation(requestOf(applyPatch(pod, mutated.patch)), world)
}

const move = (from: string, to: string, world: World): Verdict =>
  reviewPodValidation(
    requestOf(queuedPod({ labels: { 'queue-name': to } }), { old: queuedPod({ labels: { 'queue-name': from } }) }),
    world,
  )

describe('a queue with owners', () => {
  it('takes the pods of its namespaces, and those that are nobody’s take all', () => {
    for (const queue of ['team-a', 'everybody']) {
      expect(create(queue, worldWith())).toMatchObject({ kind: 'allowed' })
      expect(move('elsewhere', queue, worldWith())).toMatchObject({ kind: 'allowed' })
    }
  })

  it('refuses the pods of others, and says which queues are theirs', () => {
    for (const verdict of [create('team-b', worldWith()), move('team-a', 'team-b', worldWith())]) {
      expect(verdict).toMatchObject({ kind: 'denied', code: 403 })
      expect(brief(verdict)).toEqual([`Forbidden ${PATH}`])
      expect(errorsOf(verdict)[0]?.detail).toBe(
        'queue "team-b" is not for namespace "team-a": of the listed queues, team-a, everybody are open to this namespace',
      )
    }
  })

  it('refuses everybody but its owner, also Muster’s friends', () => {
    const world = worldWith({}, { exemptUsers: ['root'] })
    const pod = queuedPod({ labels: { 'queue-name': 'team-b' } })
    expect(reviewPodValidation(requestOf(pod, { user: { username: 'root' } }), world)).toMatchObject({ kind: 'denied' })
  })

  it('lets go on what is in it already', () => {
    expect(move('team-b', 'team-b', worldWith())).toMatchObject({ kind: 'allowed' })
  })

  it('goes by its name in a namespace that is on its way out', () => {
    const world = worldWith({}, { namespaceLabels: 'absent' })
    expect(brief(move('everybody', 'team-a', world))).toEqual([`Forbidden ${PATH}`])
  })

  it('is Kueue’s business where Kueue is the engine', () => {
    expect(create('team-b', worldWith({ engine: 'kueue' }))).toMatchObject({ kind: 'allowed' })
  })
})

describe('a queue that nobody has listed', () => {
  it('takes everybody, unless such queues are refused', () => {
    expect(create('teem-a', worldWith())).toMatchObject({ kind: 'allowed' })
    const world = worldWith({ unlistedQueues: 'refuse' })
    for (const verdict of [create('teem-a', world), move('team-a', 'teem-a', world)]) {
      expect(brief(verdict)).toEqual([`Forbidden ${PATH}`])
      expect(errorsOf(verdict)[0]?.detail).toBe(
        'there is no queue "teem-a": of the listed queues, team-a, everybody are open to this namespace',
      )
    }
    expect(create('team-a', world)).toMatchObject({ kind: 'allowed' })
  })

  it('is refused where there are none at all', () => {
    const world = worldWith({ queues: [], unlistedQueues: 'refuse' })
    expect(errorsOf(create('a', world))[0]?.detail).toBe(
      'there is no queue "a": of the listed queues, none is open to this namespace',
    )
  })

  it('is told with as many names as a person reads', () => {
    const queues = Array.from({ length: 200 }, (_, index) => ({ name: `queue-${index}`, limits: {} }))
    const [error] = errorsOf(create('a', worldWith({ queues, unlistedQueues: 'refuse' })))
    expect(error?.detail).toContain('queue-9 and 190 more are open')
  })

  it('is no matter for a pod that waits for its queue', () => {
    const world = worldWith({ unlistedQueues: 'refuse', manageJobsWithoutQueueName: true })
    const pod = podOf()
    const mutated = reviewPodMutation(requestOf(pod), world)
    if (mutated.kind === 'denied') throw new Error(mutated.message)
    const waiting = applyPatch(pod, mutated.patch)
    expect(reviewPodValidation(requestOf(waiting), world)).toMatchObject({ kind: 'allowed' })
    const late = {
      ...waiting,
      metadata: { ...waiting.metadata, labels: { ...waiting.metadata.labels, [`${K}queue-name`]: 'x' } },
    }
    expect(brief(reviewPodValidation(requestOf(late, { old: waiting }), world))).toEqual([`Forbidden ${PATH}`])
  })
})
