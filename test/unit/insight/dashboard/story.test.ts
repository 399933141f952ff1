import { describe, expect, it } from 'vitest'
import { WORKLOADS } from '../../../../src/engines/builtin/workloads.ts'
import { gatherStory, overCache } from '../../../../src/insight/dashboard/gather-story.ts'
import { SubjectError } from '../../../../src/insight/explain/find.ts'
import { readInstallation } from '../../../../src/insight/installation.ts'
import { Sight } from '../../../../src/insight/sight.ts'
import { systemClock } from '../../../../src/kube/vocabulary/clock.ts'
import type { KubeObject } from '../../../../src/kube/vocabulary/objects.ts'
import { EVENTS } from '../../../../src/kube/vocabulary/resources.ts'
import { ReadingApi } from '../../../support/reading-api.ts'
import { cluster, NOW } from '../fixtures.ts'

function event(uid: string, reason: string, note: string, at: string, more: object = {}): KubeObject {
  const told = { reason, note, eventTime: at, type: 'Normal', regarding: { uid, name: 'train' }, ...more }
  return { metadata: { namespace: 'ml', name: `${uid}.${reason}.${at}` }, ...(told as object) }
}

const EVIL = '<img src=x onerror=alert(1)>\u202e'
const EVENTS_OF_TRAIN = [
  event('uid-train', 'OverQueueLimits', EVIL, '2026-11-16T10:01:00.123456Z', {
    reportingController: 'muster.dev/reconciler',
  }),
  event('uid-train', 'Gated', 'first', '2026-11-16T10:00:00.000001Z', { type: 'Warning', deprecatedCount: 3 }),
  event('uid-other', 'NotOurs', 'of another pod', '2026-11-16T10:00:00Z'),
]

async function storyOf(
  name: string,
  api = new ReadingApi([...cluster(), ...EVENTS_OF_TRAIN.map(each => [EVENTS, each] as const)]),
) {
  const sight = new Sight(api, systemClock)
  const installation = await readInstallation(sight, undefined)
  return await gatherStory(sight, installation, { kind: 'pod', namespace: 'ml', name }, NOW)
}

describe('a story', () => {
  it('has the reason, what has to happen and what would start it, as muster explain says it', async () => {
    const { explanation, wouldStart, workload } = await storyOf('train')
    expect(explanation).toMatchObject({ reason: 'OverQueueLimits', since: '2026-11-16T10:01:00Z' })
    expect(workload).toMatchObject({ queue: 'team-a', sets: [{ count: 1 }] })
    expect(wouldStart).toContainEqual({ text: 'it comes to queue team-b', when: 'now', starts: true })
  })

  it('has what was made, the conditions and its own Events, in the order in which they came', async () => {
    const { moments, pods } = await storyOf('train')
    expect(moments.map(({ at, kind, title, times }) => [at, kind, title, times])).toEqual([
      ['2026-11-16T10:00:00Z', 'life', 'Created', 1],
      ['2026-11-16T10:00:00Z', 'event', 'Gated', 3],
      ['2026-11-16T10:00:01Z', 'life', 'Queued', 1],
      ['2026-11-16T10:01:00Z', 'condition', 'QuotaReserved: False', 1],
      ['2026-11-16T10:01:00Z', 'event', 'OverQueueLimits', 1],
    ])
    expect(moments.at(-1)).toMatchObject({ text: EVIL, who: 'muster.dev/reconciler, of train' })
    expect(moments[1]?.tone).toBe('bad')
    expect(pods).toEqual([{ name: 'train', state: 'SchedulingGated', node: '', since: '2026-11-16T10:00:00Z' }])
  })

  it('is told as far as the rights of the caller go, and says what it leaves out', async () => {
    const api = new ReadingApi(cluster())
    api.denies = call => call.startsWith('list events') || call === 'list workloads'
    const { moments, explanation } = await storyOf('train', api)
    expect(moments.map(({ kind }) => kind)).not.toContain('event')
    expect(explanation.unseen.join()).toContain('needs list on events.events.k8s.io')
    expect(explanation.unseen.join()).toContain('needs list on workloads.muster.dev')
  })

  it('of what is not there is none', async () => {
    await expect(storyOf('nobody')).rejects.toBeInstanceOf(SubjectError)
  })

  it('asks the cluster for no list that is in the cache', async () => {
    const api = new ReadingApi(cluster())
    const all = await api.list<KubeObject>(WORKLOADS, {})
    const cached = overCache(api, WORKLOADS, () => all.items)
    expect((await cached.list(WORKLOADS, {})).items).toHaveLength(5)
    expect(api.calls).toEqual(['list workloads'])
    await cached.list(WORKLOADS, { namespace: 'ml' })
    expect(api.calls).toEqual(['list workloads', 'list workloads in ml'])
  })
})
