import { type ChildProcess, spawn } from 'node:child_process'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { applied } from '../../dashboard/changes.js'
import type { Overview } from '../../src/insight/dashboard/overview.ts'
import type { Story } from '../../src/insight/dashboard/story.ts'
import type { Placed } from '../../src/insight/dashboard/waiting.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { list, queuedJob, queuedPod } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const QUEUES = [{ name: 'team-a', limits: { cpu: 4 } }]

/** `muster dashboard`, as a process of its own, until it is told to end. */
class Page {
  readonly #child: ChildProcess
  readonly #url: URL
  readonly #ended: Promise<number | null>

  private constructor(child: ChildProcess, url: URL) {
    this.#child = child
    this.#url = url
    this.#ended = new Promise(resolve => child.on('close', resolve))
  }

  static async open(plane: ControlPlane, kubeconfig: string, ...args: readonly string[]): Promise<Page> {
    const env = { PATH: process.env.PATH, HOME: plane.folder, KUBECONFIG: kubeconfig }
    const command = [join(ROOT, 'bin/muster.js'), 'dashboard', '--no-open', ...args]
    const child = spawn(process.execPath, command, { env, stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const url = await eventually('the dashboard says where it is', () => /http:\/\/127\S+/.exec(said)?.[0])
    expect(said).toContain(`Muster's dashboard of ${plane.server} is at`)
    return new Page(child, new URL(url))
  }

  /** With the token that the terminal has shown. */
  request(path: string, token = this.#url.searchParams.get('token') ?? ''): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      get(new URL(path, this.#url), { headers: { authorization: `Bearer ${token}` }, agent: false }, resolve).on(
        'error',
        reject,
      )
    })
  }

  async json<T>(path: string): Promise<T> {
    const response = await this.request(path)
    const chunks: Buffer[] = []
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    expect({ path, status: response.statusCode, text }).toMatchObject({ path, status: 200 })
    return JSON.parse(text) as T
  }

  async end(): Promise<number | null> {
    this.#child.kill('SIGINT')
    return await this.#ended
  }
}

/** What the stream has said, put together by the page's own code: everything once, then what has changed. */
class Following {
  overview: Overview | undefined
  changes = 0
  readonly #response: IncomingMessage

  constructor(response: IncomingMessage) {
    this.#response = response
    let text = ''
    response.setEncoding('utf8').on('data', (more: string) => {
      const events = (text + more).split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) this.#take(event)
    })
    response.on('error', () => {})
  }

  close(): void {
    this.#response.destroy()
  }

  #take(event: string): void {
    const kind = /^event: (\w+)$/m.exec(event)?.[1]
    const data = /^data: (.+)$/m.exec(event)?.[1]
    if (kind === undefined || data === undefined) return
    if (kind === 'whole') this.overview = JSON.parse(data) as Overview
    else if (this.overview !== undefined) {
      this.changes++
      this.overview = applied(this.overview, JSON.parse(data))
    }
  }
}

describe('muster dashboard on a real API server', { timeout: 300_000 }, () => {
  let plane: ControlPlane
  let muster: Muster
  let page: Page
  let following: Following

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'dashboard', featureGates: 'none' })
    await plane.createNamespace('ml')
    muster = await Muster.install(plane, { queues: QUEUES })
    await configure(QUEUES)
    page = await Page.open(plane, plane.kubeconfig)
    following = new Following(await page.request('/follow'))
  }, 300_000)

  afterAll(async () => {
    following?.close()
    await page?.end()
    await muster?.stop()
    await plane?.stop()
  })

  const create = (...objects: object[]) => plane.kubectl(['create', '-f', '-'], { stdin: list(objects) })
  /** In the ConfigMap, which the page reads; Muster itself runs by a file here. */
  const configure = async (queues: readonly object[]): Promise<void> => {
    const config = { apiVersion: 'config.muster.dev/v1alpha1', kind: 'Configuration', queues }
    const data = { 'config.yaml': stringify(config) }
    await plane.kubectl(['patch', 'configmap', 'muster', '-n', 'muster-system', '-p', JSON.stringify({ data })])
  }
  const queueOf = (name: string) => following.overview?.queues.find(queue => queue.name === name)
  const waiting = async (query = '') =>
    (await page.json<{ readonly rows: readonly Placed[] }>(`/waiting?count=50${query}`)).rows

  it('lets nobody in without the token', async () => {
    const answers = await Promise.all(['/', '/waiting', '/follow'].map(path => page.request(path, 'guessed')))
    for (const answer of answers) answer.resume()
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([401, 401, 401])
  })

  it('shows the queues of the configuration when it has read everything', async () => {
    await eventually('everything was read', () => following.overview?.isComplete)
    expect(following.overview).toMatchObject({ cluster: plane.server, engine: 'builtin', trouble: '', unseen: [] })
    expect(queueOf('team-a')).toMatchObject({ holding: 0, waiting: 0, bars: [{ resource: 'cpu', limit: '4' }] })
  })

  it('follows who comes, holds and waits, and says why by itself', async () => {
    await create(queuedPod({ namespace: 'ml', name: 'runs', cpu: '3' }))
    await eventually('one holds', () => queueOf('team-a')?.holding === 1)
    await create(
      queuedPod({ namespace: 'ml', name: 'waits', cpu: '2' }),
      queuedPod({ namespace: 'ml', name: 'part-0', group: 'parts', count: 2, cpu: '1' }),
      queuedJob({ namespace: 'ml', name: 'train', queue: 'team-a' }),
    )
    const rows = await eventually('all are listed', async () => {
      const found = await waiting()
      const reasons = Object.fromEntries(
        found.map(({ subject, reason }) => [`${subject.kind} ${subject.name}`, reason]),
      )
      expect(reasons).toEqual({
        'pod waits': 'OverQueueLimits',
        'group parts': 'WaitingForPods',
        'job train': 'WaitingForAdmission',
      })
      return found
    })
    expect(rows.find(({ subject }) => subject.name === 'waits')).toMatchObject({ place: 1, queue: 'team-a' })
    await eventually('the stream has it, too', () => following.overview?.waiting === 3)
    expect(following.changes).toBeGreaterThan(0)
    expect(following.overview?.latest).toMatchObject([{ namespace: 'ml', queue: 'team-a', now: 'runs', pods: 1 }])
    expect(queueOf('team-a')?.bars).toMatchObject([{ used: '3', limit: '4', share: 0.75 }])
    expect((await waiting('&text=part')).map(({ subject }) => subject.name)).toEqual(['parts'])
  })

  it('tells the story that explain tells, with the Events of the real recorder', async () => {
    const story = await eventually('it was told', async () => {
      const found = await page.json<Story>('/story?kind=pod&namespace=ml&name=waits')
      return found.moments.some(({ kind }) => kind === 'event') && found
    })
    const titles = story.moments.map(({ title }) => title)
    expect(titles).toEqual(expect.arrayContaining(['Created', 'Queued', 'QuotaReserved: False', 'OverQueueLimits']))
    expect(story.pods).toMatchObject([{ name: 'waits', state: 'SchedulingGated' }])
    expect(story.wouldStart).toContainEqual(expect.objectContaining({ starts: true }))
  })

  it('follows a change of the limits, and an end', async () => {
    const queues = [{ name: 'team-a', limits: { cpu: 16 } }]
    await configure(queues)
    await muster.reconfigure({ queues })
    await eventually('the bar is longer', () => queueOf('team-a')?.bars[0]?.limit === '16')
    await plane.kubectl(['annotate', 'pod', 'runs', '-n', 'ml', 'muster.dev/test-outcome=succeed'])
    await eventually('who waited was admitted', () => following.overview?.latest.length === 3)
    await eventually('one is over', () => following.overview?.latest.some(({ now }) => now === 'finished'))
    await eventually('only the group waits', () => following.overview?.waiting === 1)
  })

  it('goes on when the API server comes back', async () => {
    await plane.killApiServer()
    await eventually('it says that what it shows is old', () => (following.overview?.trouble ?? '') !== '')
    await plane.startApiServer()
    await muster.untilReady()
    await create(queuedPod({ namespace: 'ml', name: 'part-1', group: 'parts', count: 2, cpu: '1' }))
    await eventually('the group has begun', () => following.overview?.waiting === 0, { timeoutMs: 90_000 })
    // Each of its watches comes back by itself, and the last of them ends the trouble.
    await eventually('nothing of it is old', () => following.overview?.trouble === '', { timeoutMs: 90_000 })
  })

  it('shows a tenant his namespace, and says what he may not see', async () => {
    const group = 'system:serviceaccounts:ml'
    await plane.kubectl(['create', 'rolebinding', 'views', '-n', 'ml', '--clusterrole=view', `--group=${group}`])
    const his = await Page.open(plane, await plane.serviceAccountKubeconfig('ml', 'default'), '-n', 'ml')
    const stream = new Following(await his.request('/follow'))
    await eventually('all of his was read', () => stream.overview?.isComplete)
    expect(stream.overview).toMatchObject({ namespace: 'ml' })
    expect(stream.overview?.unseen.join()).toContain('needs')
    stream.close()
    expect(await his.end()).toBe(0)
  })
})
