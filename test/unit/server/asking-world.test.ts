import { describe, expect, it } from 'vitest'
import { patched } from '../../../src/admission/verdict.ts'
import { NOTHING_SERVED } from '../../../src/kube/vocabulary/served-scheduling.ts'
import { answerReview } from '../../../src/server/answer-review.ts'
import { AskingWorld, type Lookup, type Question } from '../../../src/server/asking-world.ts'
import { createInquiry, untilAnswered } from '../../../src/server/inquiry.ts'
import type { Webhook } from '../../../src/webhooks/webhook.ts'
import { emptyWorld, findNamespaces, unseenWorld } from '../../support/admission-server.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { podReview } from '../../support/reviews.ts'

const { config, self, holds } = emptyWorld
const job = { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'u' }
const namespaceOf = (namespace: string): Lookup => ({ kind: 'namespace', namespace })

describe('a world that asks', () => {
  it('has no question while the caches know everything, be it that there is nothing', () => {
    const world = new AskingWorld(emptyWorld)
    expect([world.namespace('a'), world.owner('a', job), world.hasDefaultQueue('a')]).toEqual([
      'absent',
      'absent',
      false,
    ])
    expect(world.open).toEqual([])
  })

  it('answers as if there were nothing where it does not know, and notes each question once', () => {
    const world = new AskingWorld({ config, self, holds, served: NOTHING_SERVED })
    for (const _ of [1, 2]) {
      expect(world.namespace('a')).toBe('absent')
      expect(world.owner('a', { ...job, controller: true })).toBe('absent')
      expect(world.hasDefaultQueue('a')).toBe(false)
    }
    expect(world.open).toEqual([
      namespaceOf('a'),
      { kind: 'owner', namespace: 'a', reference: job },
      { kind: 'hasDefaultQueue', namespace: 'a' },
    ])
  })

  it('does not ask again for what it has learnt, whatever the answer is, and keeps it', () => {
    const world = new AskingWorld({ config, self, holds, served: NOTHING_SERVED })
    const queue: Question = { kind: 'hasDefaultQueue', namespace: 'a' }
    world.learn([
      { question: namespaceOf('a'), answer: { labels: { team: 'x' } } },
      { question: namespaceOf('gone'), answer: 'absent' },
      { question: queue, answer: false },
    ])
    world.learn([])
    expect(world.namespace('a')).toEqual({ labels: { team: 'x' } })
    expect(world.namespace('gone')).toBe('absent')
    expect(world.hasDefaultQueue('a')).toBe(false)
    expect(world.open).toEqual([])
    world.namespace('b')
    expect(world.open).toEqual([namespaceOf('b')])
  })

  it('makes a verdict that was reached while it asked worth nothing', () => {
    const webhook: Webhook = {
      name: 'test',
      path: '/test',
      mutating: true,
      rules: [],
      review: (_request, world) => {
        const isThere = world.namespace('a') !== 'absent'
        return patched('Gated', [{ op: 'add', path: isThere ? '/metadata/x' : '/nowhere/at/all', value: 1 }])
      },
    }
    const world = new AskingWorld(unseenWorld)
    const { request } = podReview()
    expect(answerReview(webhook, request, world)).toEqual({ kind: 'asks', questions: [namespaceOf('a')] })
    world.learn([{ question: namespaceOf('a'), answer: {} }])
    expect(answerReview(webhook, request, world)).toMatchObject({ kind: 'answered', record: { reason: 'Gated' } })
  })
})

describe('an inquiry', () => {
  const deps = { clock: new ManualClock(), until: 1_000, budget: 1_000 }

  it('answers from the caches what they know, and looks up only the rest', async () => {
    const lookedUp: Lookup[][] = []
    const inquire = createInquiry({
      ...deps,
      world: { ...unseenWorld, namespace: name => (name === 'known' ? { labels: { here: 'yes' } } : 'unknown') },
      lookup: (lookups, signal) => {
        lookedUp.push([...lookups])
        return findNamespaces(lookups, signal)
      },
    })
    const queue: Question = { kind: 'hasDefaultQueue', namespace: 'a' }
    expect(await inquire([namespaceOf('known'), namespaceOf('new'), queue])).toEqual([
      { question: namespaceOf('known'), answer: { labels: { here: 'yes' } } },
      { question: queue, answer: false },
      { question: namespaceOf('new'), answer: {} },
    ])
    await inquire([namespaceOf('known')])
    expect(lookedUp).toEqual([[namespaceOf('new')]])
  })

  it('goes on until nothing is open', async () => {
    const told: unknown[] = []
    const inquire = createInquiry({ ...deps, world: unseenWorld, lookup: findNamespaces })
    const asks = (namespace: string) => ({ kind: 'asks' as const, questions: [namespaceOf(namespace)] })
    const reply = await untilAnswered<{ kind: 'done' }>(asks('a'), inquire, facts => {
      told.push(...facts.map(({ question }) => question.namespace))
      return told.length < 3 ? asks('bc'.charAt(told.length - 1)) : { kind: 'done' }
    })
    expect(reply).toEqual({ kind: 'done' })
    expect(told).toEqual(['a', 'b', 'c'])
  })
})
