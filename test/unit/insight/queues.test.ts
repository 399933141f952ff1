import { describe, expect, it } from 'vitest'
import { builtinEngine } from '../../../src/engines/builtin/builtin.ts'
import { WORKLOADS } from '../../../src/engines/builtin/workloads.ts'
import { readInstallation } from '../../../src/insight/installation.ts'
import { changesBetween } from '../../../src/insight/queues/changes.ts'
import { gatherWorkloads } from '../../../src/insight/queues/gather.ts'
import { renderQueues } from '../../../src/insight/queues/render.ts'
import { type QueuesReport, reportQueues } from '../../../src/insight/queues/report.ts'
import { Sight } from '../../../src/insight/sight.ts'
import { plain } from '../../../src/insight/text.ts'
import { systemClock } from '../../../src/kube/vocabulary/clock.ts'
import { ReadingApi } from '../../support/reading-api.ts'
import { cluster, holder, NOW, waiter } from './fixtures.ts'

async function reported(api: ReadingApi): Promise<QueuesReport> {
  const sight = new Sight(api, systemClock)
  const installation = await readInstallation(sight, undefined)
  return reportQueues(installation, await gatherWorkloads(sight, installation, 'ml'), sight.unseen)
}

const ENGINE = builtinEngine([])
const VIEW = { now: Date.parse(NOW), paint: plain, all: false }

describe('the report of the queues', () => {
  it('has the limits, the usage, who holds and who waits, the next one first', async () => {
    const report = await reported(new ReadingApi(cluster()))
    expect(report.queues.map(({ name }) => name)).toEqual(['private', 'small', 'team-a', 'team-b'])
    const queue = report.queues.find(({ name }) => name === 'team-a')
    expect(queue).toMatchObject({ limits: { cpu: '16' }, usage: { cpu: '13', pods: '2' } })
    expect(queue?.holding.map(({ asks }) => asks.cpu)).toEqual(['5', '8'])
    expect(queue?.waiting.map(({ workload, reason }) => [workload.slice(0, 12), reason])).toEqual([
      ['ml/pod-train', 'OverQueueLimits'],
      ['ml/pod-eval-', 'WaitingForAdmission'],
    ])
    expect(queue?.aside.map(({ asks }) => asks.cpu)).toEqual(['64'])
  })

  it('has a queue that nobody listed, as long as somebody is in it', async () => {
    const [, other] = waiter('stray', '1', { queue: 'unlisted' })
    const report = await reported(new ReadingApi([...cluster(), [WORKLOADS, other]]))
    expect(report.queues.find(({ name }) => name === 'unlisted')).toMatchObject({ limits: {}, waiting: [{}] })
    expect(renderQueues(report, VIEW)).toMatch(/unlisted +0 hold, 1 wait +no limits/)
  })

  it('does not take limits that nobody here knows for none', async () => {
    const api = new ReadingApi(cluster())
    api.denies = call => call.includes('configmaps')
    expect(renderQueues(await reported(api), VIEW)).toMatch(/team-a +\d hold, \d wait.* limits unknown/)
  })

  it('shows the Workloads of one namespace where no more may be read, and says so', async () => {
    const api = new ReadingApi(cluster())
    api.denies = call => call === 'list workloads'
    const report = await reported(api)
    expect(report.queues.find(({ name }) => name === 'team-a')?.waiting).toHaveLength(2)
    expect(renderQueues(report, VIEW)).toContain('not seen: Workloads of all namespaces')
  })

  it('does not take a cluster without Workloads for one in which nobody waits', async () => {
    const api = new ReadingApi(cluster())
    api.serves = ({ plural }) => plural !== 'workloads'
    expect((await reported(api)).unseen).toEqual([expect.stringContaining('serves no workloads.muster.dev')])
  })

  it('shows the first few of many, and everybody when asked', async () => {
    const many = Array.from(
      { length: 9 },
      (_, index) => waiter(`job-${index}`, '1', { version: String(200 + index) })[1],
    )
    const report = await reported(new ReadingApi([...cluster(), ...many.map(each => [WORKLOADS, each] as const)]))
    expect(renderQueues(report, VIEW)).toContain('and 6 more')
    expect(renderQueues(report, { ...VIEW, all: true })).toContain('waits 11')
  })
})

describe('what happens in the queues, line by line', () => {
  const of = (entries: readonly (readonly [unknown, Parameters<typeof reportQueues>[1][number]])[]) =>
    reportQueues(
      { config: undefined, engine: ENGINE },
      entries.map(([, workload]) => workload),
      [],
    )

  it('tells of who comes, starts, ends and leaves, and nothing twice', () => {
    const [one, two] = [waiter('one', '1'), waiter('two', '2', { version: '101' })]
    const started = holder('one', '1')
    const verbs = (before: QueuesReport | undefined, after: QueuesReport) =>
      changesBetween(before, after, NOW).map(line =>
        line
          .replace(/pod-(\w+)-\w+/, '$1')
          .split(' ')
          .slice(2, 4)
          .join(' '),
      )
    expect(verbs(undefined, of([one, two]))).toEqual(['ml/one waits', 'ml/two waits'])
    expect(verbs(of([one, two]), of([started, two]))).toEqual(['ml/one starts'])
    expect(verbs(of([started, two]), of([started, two]))).toEqual([])
    expect(verbs(of([started, two]), of([]))).toEqual(['ml/one ends', 'ml/two leaves'])
    expect(changesBetween(of([started]), of([one]), NOW)[0]).toContain('waits again (1 cpu, 1 pod)')
  })
})
