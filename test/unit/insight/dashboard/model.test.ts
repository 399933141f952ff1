import { describe, expect, it } from 'vitest'
import { applied } from '../../../../dashboard/changes.js'
import { builtinFor } from '../../../../src/cluster/engine.ts'
import type { Configuration } from '../../../../src/config/configuration.ts'
import { DEFAULT_CONFIGURATION } from '../../../../src/config/configuration.ts'
import { Admissions, SPAN_MS } from '../../../../src/insight/dashboard/admissions.ts'
import { Books } from '../../../../src/insight/dashboard/books.ts'
import { changeBetween } from '../../../../src/insight/dashboard/changes.ts'
import type { Overview } from '../../../../src/insight/dashboard/overview.ts'
import { looked, type Waiter } from '../../../../src/insight/dashboard/waiting.ts'
import { reportQueues } from '../../../../src/insight/queues/report.ts'
import type { Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { type Records, unitKeyOf, unitKeyOfWorkload } from '../../../../src/reconciler/unit.ts'
import type { QueuedWorkload } from '../../../../src/workload/queued-workload.ts'
import { managedPod } from '../../../support/pods.ts'
import { ADMITTED, holds, workloadOf } from '../../../support/workloads.ts'
import { holder, NOW, told, waiter } from '../fixtures.ts'

const config: Configuration = {
  ...DEFAULT_CONFIGURATION,
  queues: [
    { name: 'team-a', limits: { cpu: 16 } },
    { name: 'empty', limits: { cpu: 0 } },
  ],
}

/** What a cluster has, and the books of it. */
function booksOf(units: readonly (readonly [Pod, QueuedWorkload])[], loose: readonly Pod[] = []) {
  const pods = [...units.map(([pod]) => pod), ...loose]
  const workloads = told(
    units.map(([, workload]) => workload),
    'team-a',
    { cpu: 16 },
  )
  const records: Records = {
    podsOf: key => pods.filter(pod => unitKeyOf(pod) === key),
    workloadsOf: key => workloads.filter(workload => unitKeyOfWorkload(workload) === key),
    workload: (_, name) => workloads.find(({ metadata }) => metadata.name === name),
    ownedBy: uid => workloads.filter(({ metadata }) => metadata.ownerReferences?.some(owner => owner.uid === uid)),
    pod: (_, name) => pods.find(({ metadata }) => metadata.name === name),
    selects: () => true,
    owns: () => true,
    prebuiltOf: () => undefined,
  }
  const installation = { config, engine: builtinFor(config) }
  const books = new Books({ installation, known: { records, engine: installation.engine }, workloads: () => workloads })
  for (const pod of pods) books.seePod(pod)
  for (const workload of workloads) books.seeWorkload(workload, false)
  for (const _ of books.settle(NOW)) expect(books.isSettled).toBe(false)
  return { books, workloads, installation }
}

const ABOUT = { cluster: 'https://x', namespace: '', isComplete: true, trouble: '' }
const overviewOf = ({ books }: ReturnType<typeof booksOf>): Overview => books.overview(ABOUT, Date.parse(NOW))

const UNITS = [
  holder('running', '8', { version: '90' }),
  holder('longer', '5', { version: '80' }),
  waiter('train', '8', { version: '110' }),
  waiter('eval', '1', { version: '120' }),
  waiter('huge', '64', { version: '130' }),
]
const RING = [0, 1].map(index => managedPod({ name: `ring-${index}`, group: 'ring', count: 3, queue: 'new' }))

describe('the page', () => {
  it('has the same queues as muster queues, as bars', () => {
    const scene = booksOf(UNITS)
    const { queues, holding } = overviewOf(scene)
    const report = reportQueues(scene.installation, scene.workloads, [])
    expect(queues.map(({ name }) => name)).toEqual(report.queues.map(({ name }) => name))
    expect(queues.map(({ bars }) => bars.map(({ used, limit }) => [used, limit]))).toEqual(
      report.queues.map(({ limits, usage }) =>
        Object.keys(limits).map(name => [usage[name] ?? '0', limits[name] ?? '0']),
      ),
    )
    expect(queues.at(-1)).toMatchObject({ holding: 2, waiting: 2, aside: 1, bars: [{ resource: 'cpu', share: 0.812 }] })
    expect(holding).toBe(2)
  })

  it('says why each waits by the word of the closed list, groups without a Workload among them', () => {
    const { books } = booksOf(UNITS, RING)
    const { total, rows } = books.waiting({ order: 'queue' }, 0, 10)
    expect(total).toBe(4)
    expect(rows.map(({ id, reason, place, queue }) => [id, reason, place, queue])).toEqual([
      ['group/ml/ring', 'WaitingForPods', undefined, 'new'],
      ['single/ml/train', 'OverQueueLimits', 1, 'team-a'],
      ['single/ml/eval', 'WaitingForAdmission', 2, 'team-a'],
      ['single/ml/huge', 'OverQueueLimits', undefined, 'team-a'],
    ])
    expect(rows[1]).toMatchObject({ since: '2026-11-16T10:01:00Z', asks: '8 cpu, 1 pod', pods: 1 })
    expect(overviewOf(booksOf(UNITS, RING))).toMatchObject({
      waiting: 4,
      reasons: [
        { reason: 'WaitingForPods', count: 1 },
        { reason: 'WaitingForAdmission', count: 1 },
        { reason: 'OverQueueLimits', count: 2 },
      ],
    })
    expect(overviewOf(booksOf([], RING)).queues.find(({ name }) => name === 'new')).toMatchObject({
      waiting: 1,
      bars: [],
    })
  })

  it('lists nobody who is over among those who wait', () => {
    const [pod, workload] = holder('over', '1', { version: '70', phase: 'Succeeded' })
    const ended = { ...workload, status: { conditions: [...ADMITTED, holds('Finished', 'Succeeded', 'done')] } }
    const { books } = booksOf([...UNITS, [pod, ended]])
    const names = books.waiting({ order: 'queue' }, 0, 10).rows.map(({ subject }) => subject.name)
    expect(names).toEqual(['train', 'eval', 'huge'])
  })

  it('shows who waits by a page, a queue, a reason, a part of a name, and by age', () => {
    const { books } = booksOf(UNITS, RING)
    const ids = (look: object, from = 0, count = 10) =>
      books.waiting({ order: 'queue', ...look }, from, count).rows.map(({ subject }) => subject.name)
    expect(ids({}, 1, 2)).toEqual(['train', 'eval'])
    expect(ids({ queue: 'team-a' })).toEqual(['train', 'eval', 'huge'])
    expect(ids({ reason: 'OverQueueLimits' })).toEqual(['train', 'huge'])
    expect(ids({ text: 'TRAI' })).toEqual(['train'])
    expect(ids({ text: 'nobody' })).toEqual([])
    const waits = (name: string, since?: string): Waiter => ({
      ...{ id: name, subject: { kind: 'pod', namespace: 'ml', name }, queue: 'q', reason: 'Lifting', message: '' },
      ...{ asks: '', pods: 1, ...(since && { since }) },
    })
    const all = [waits('b', '2026-11-16T10:00:01Z'), waits('none'), waits('a', '2026-11-16T10:00:00Z')]
    expect(looked(all, new Map(), { order: 'age' }).map(({ id }) => id)).toEqual(['a', 'b', 'none'])
  })

  it('lists two hundred queues at most, those with limits first, and counts the others', () => {
    const many = Array.from({ length: 300 }, (_, index) =>
      managedPod({ name: `p-${index}`, group: `g-${index}`, count: 2, queue: `q-${index}` }),
    )
    const { queues, moreQueues } = overviewOf(booksOf(UNITS, many))
    expect(queues).toHaveLength(200)
    expect(moreQueues).toBe(102)
    expect(queues.map(({ name }) => name)).toContain('team-a')
  })

  it('does not tell an empty limit from a full one by dividing by nothing', () => {
    const { queues } = overviewOf(booksOf([]))
    expect(queues.find(({ name }) => name === 'empty')?.bars).toEqual([
      { resource: 'cpu', used: '0', limit: '0', share: 0 },
    ])
  })
})

describe('what goes over the wire', () => {
  const scenes = [
    booksOf([]),
    booksOf(UNITS.slice(0, 2)),
    booksOf(UNITS),
    booksOf(UNITS.slice(1), RING),
    booksOf(UNITS, RING),
  ]
  const overviews = scenes.map(overviewOf)

  it('is changes from which the page makes what is there, whatever was there before', () => {
    for (const before of overviews) {
      for (const after of overviews) {
        const change = changeBetween(before, after)
        if (before === after) expect(change).toBeUndefined()
        else {
          expect(applied(before, JSON.parse(JSON.stringify(change)))).toEqual(after)
        }
      }
    }
  })

  it('is only what has changed', () => {
    const [before, after] = [overviews[2], overviews[4]]
    if (before === undefined || after === undefined) throw new Error('there are five')
    const change = changeBetween(before, after)
    expect(Object.keys(change?.put ?? {})).toEqual(['queues'])
    expect(Object.keys(change?.set ?? {}).sort()).toEqual(['reasons', 'revision', 'waiting'])
    expect(change?.put.queues?.map(({ name }) => name)).toEqual(['new'])
  })
})

describe('admissions', () => {
  const now = Date.parse(NOW)
  const admitted = (name: string, at: string, more: Parameters<typeof holds>[0][] = []) => {
    const workload = workloadOf([managedPod({ name })], [...ADMITTED, ...more.map(type => holds(type))])
    const conditions = workload.status?.conditions?.map(each => ({ ...each, lastTransitionTime: at })) ?? []
    return { ...workload, status: { conditions } }
  }

  it('are counted by minute, the latest by name, with how long each waited and what became of it', () => {
    const admissions = new Admissions()
    admissions.see(admitted('a', '2026-11-16T10:00:31Z'), false)
    admissions.see(admitted('b', '2026-11-16T10:00:59Z', ['Finished']), false)
    admissions.see(admitted('c', '2026-11-16T10:02:00Z'), false)
    admissions.see(workloadOf([managedPod({ name: 'waits' })]), false)
    const { minutes, latest } = admissions.timeline(now)
    expect(minutes).toEqual([
      { at: '2026-11-16T10:00:00.000Z', count: 2 },
      { at: '2026-11-16T10:02:00.000Z', count: 1 },
    ])
    expect(latest.map(({ unit, waited, now: is }) => [unit, waited, is])).toEqual([
      ['single/ml/c', 119, 'runs'],
      ['single/ml/b', 58, 'finished'],
      ['single/ml/a', 30, 'runs'],
    ])
  })

  it('are remembered when the Workload is gone or waits again, and forgotten when they are old', () => {
    const admissions = new Admissions()
    admissions.see(admitted('a', '2026-11-16T10:00:31Z'), false)
    admissions.see(admitted('a', '2026-11-16T10:00:31Z'), true)
    admissions.see(admitted('b', '2026-11-16T10:00:31Z'), false)
    const back = admitted('b', '2026-11-16T10:01:00Z')
    admissions.see(
      {
        ...back,
        status: { conditions: (back.status.conditions ?? []).map(each => ({ ...each, status: 'False' as const })) },
      },
      false,
    )
    expect(
      admissions
        .timeline(now)
        .latest.map(({ now: is }) => is)
        .sort(),
    ).toEqual(['evicted', 'gone'])
    expect(admissions.timeline(now + SPAN_MS).latest).toEqual([])
    expect(admissions.size).toBe(0)
  })

  it('take no more memory than the page can show, however many there are', () => {
    const admissions = new Admissions()
    const one = admitted('a', '2026-11-16T10:00:31Z')
    for (let index = 0; index < 30_000; index++) {
      admissions.see({ ...one, metadata: { ...one.metadata, uid: `uid-${index}` } }, false)
    }
    expect(admissions.size).toBeLessThanOrEqual(22_000)
    expect(admissions.timeline(now).latest).toHaveLength(100)
  })
})
