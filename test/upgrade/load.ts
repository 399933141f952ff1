import { setTimeout as sleep } from 'node:timers/promises'
import type { Pod } from '../../src/kube/vocabulary/objects.ts'
import { isGated, queuedJob, queuedPod } from '../cluster/support/manifests.ts'
import type { Starvation } from '../soak/starvation.ts'
import type { Answer, Api } from './api.ts'

export const NAMESPACE = 'ml'
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`
const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`

/** What holds nothing keeps whoever waits in it waiting, whichever version decides. */
export const QUEUES = { singles: 4, groups: 6, jobs: 4, closed: 0 } as const
type Queue = keyof typeof QUEUES

interface JobObject {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  readonly spec: { readonly suspend?: boolean }
  readonly status?: { readonly succeeded?: number }
}

interface Refusal {
  readonly message?: string
}

/** A third of the time that the API server gives a review. */
const STARVED_MS = 1000

/** What a run has seen, by the phase in which it was seen. */
export class Tally {
  phase = ''
  readonly calls = new Map<string, number>()
  readonly wrong: string[] = []
  /** Calls that ran out of time while the machine kept the CPU from a replica: nobody's fault here. */
  starved = 0

  called(): void {
    this.calls.set(this.phase, (this.calls.get(this.phase) ?? 0) + 1)
  }

  complain(text: string): void {
    this.wrong.push(`${this.phase}: ${text}`)
    console.log(`  ${new Date().toISOString()} ${text}`)
  }
}

/** Tenants who create, change and delete without a break, and complain when one call fails. */
export class Load {
  readonly #api: Api
  readonly #tally: Tally
  readonly #starvation: Starvation
  readonly #working: Promise<void>[] = []
  #stopped = false
  #number = 0

  constructor(api: Api, tally: Tally, starvation: Starvation) {
    this.#api = api
    this.#tally = tally
    this.#starvation = starvation
  }

  /** Before everything else: they wait to the end. */
  async sentinels(): Promise<void> {
    for (let index = 0; index < 5; index++) await this.#pod({ name: `sentinel-${index}`, queue: 'closed' })
    await this.#job('sentinel', 'closed')
  }

  start(): void {
    this.#working.push(
      this.#repeat(300, () => this.#single()),
      this.#repeat(1500, () => this.#group()),
      this.#repeat(2000, () => this.#job(`job-${this.#number++}`, 'jobs')),
    )
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#working)
  }

  async #repeat(pauseMs: number, step: () => Promise<void>): Promise<void> {
    while (!this.#stopped) {
      await step()
      await sleep(pauseMs)
    }
  }

  async #single(): Promise<void> {
    const name = `single-${this.#number++}`
    await this.#pod({ name, queue: 'singles' })
    await this.#try('annotate', `${PODS}/${name}`, 'PATCH', {
      metadata: { annotations: { 'example.com/seen': 'yes' } },
    })
    if (this.#number % 5 > 0) return
    const unwanted = `unwanted-${this.#number++}`
    await this.#pod({ name: unwanted, queue: 'closed' })
    await this.#try('delete', `${PODS}/${unwanted}`, 'DELETE')
  }

  async #group(): Promise<void> {
    const group = `group-${this.#number++}`
    for (let index = 0; index < 3; index++) {
      await this.#pod({ name: `${group}-${index}`, queue: 'groups', group, count: 3 })
    }
  }

  async #pod(options: { name: string; queue: Queue; group?: string; count?: number }): Promise<void> {
    const pod = queuedPod({ namespace: NAMESPACE, outcome: 'succeed', ...options })
    const made = await this.#try<Pod>(`create ${options.name}`, PODS, 'POST', pod)
    if (made !== undefined && !isGated(made)) this.#tally.complain(`${options.name} was created without a gate`)
  }

  async #job(name: string, queue: Queue): Promise<void> {
    const job = queuedJob({ namespace: NAMESPACE, name, queue, parallelism: 2, outcome: 'succeed' })
    const made = await this.#try<JobObject>(`create ${name}`, JOBS, 'POST', job)
    if (made !== undefined && made.spec.suspend !== true) this.#tally.complain(`${name} was created and not suspended`)
  }

  async #try<T>(what: string, path: string, method: string, body?: object): Promise<T | undefined> {
    this.#tally.called()
    const started = performance.now()
    try {
      const { status, body: answer } = (await this.#api.call(method, path, body)) as Answer<T & Refusal>
      if (status < 300) return answer
      const late =
        answer.message?.includes('context deadline exceeded') && this.#starvation.since(started) >= STARVED_MS
      if (late) this.#tally.starved++
      else this.#tally.complain(`${what}: ${status} ${answer.message}`)
    } catch (error) {
      this.#tally.complain(`${what}: ${String(error)}`)
    }
    return undefined
  }

  async pods(): Promise<readonly Pod[]> {
    return (await this.#api.call<{ items: Pod[] }>('GET', PODS)).body.items
  }

  async jobs(): Promise<readonly JobObject[]> {
    return (await this.#api.call<{ items: JobObject[] }>('GET', JOBS)).body.items
  }

  /** Looks at everything at once: nobody runs beyond a limit, and who has to wait waits. */
  async judge(): Promise<void> {
    const [pods, jobs] = [await this.pods(), await this.jobs()]
    for (const [queue, limit] of Object.entries(QUEUES)) {
      const running = pods.filter(pod => queueOf(pod) === queue && holdsQuota(pod))
      if (running.length <= limit) continue
      const names = running.map(({ metadata }) => metadata.name).join(', ')
      this.#tally.complain(`${running.length} pods run in ${queue}, which holds ${limit}: ${names}`)
    }
    const resumed = jobs.filter(({ metadata, spec }) => metadata.name === 'sentinel' && spec.suspend !== true)
    if (resumed.length > 0) this.#tally.complain('the Job in the closed queue was resumed')
  }

  /** What is not over although it could be. */
  async unfinished(): Promise<readonly string[]> {
    const [pods, jobs] = [await this.pods(), await this.jobs()]
    const waiting = pods.filter(pod => queueOf(pod) !== 'closed' && pod.status?.phase !== 'Succeeded')
    const open = jobs.filter(({ metadata, status }) => metadata.name !== 'sentinel' && status?.succeeded !== 2)
    return [...waiting, ...open].map(({ metadata }) => metadata.name ?? '')
  }
}

/** Pods of Jobs have the label of their Job only on the Job: they carry no gate, and no queue either. */
function queueOf({ metadata }: Pod): string | undefined {
  const { labels, ownerReferences } = metadata
  return ownerReferences?.some(({ kind }) => kind === 'Job') ? 'jobs' : labels?.['kueue.x-k8s.io/queue-name']
}

function holdsQuota(pod: Pod): boolean {
  const phase = pod.status?.phase ?? 'Pending'
  return !isGated(pod) && pod.metadata.deletionTimestamp === undefined && phase !== 'Succeeded' && phase !== 'Failed'
}
