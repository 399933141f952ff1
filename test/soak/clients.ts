import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeObject, Pod } from '../../src/kube/vocabulary/objects.ts'
import { queuedJob, queuedPod } from '../cluster/support/manifests.ts'
import type { Dice } from '../simulation/time/dice.ts'
import type { Api } from './api.ts'
import { GROUP_MARK, JOB_MARK, QUEUE_MARK, SIZE_MARK } from './judge.ts'
import type { Tally } from './tally.ts'

export const NAMESPACE = 'soak'
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`
const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`
const CONFLICT = 409
const GONE = 404
/** A unit that has not ended so long after it was created, with the API server there all the time, never will. */
const PATIENCE_MS = 300_000

export interface ClientDeps {
  readonly api: Api
  readonly tally: Tally
  readonly now: () => number
  readonly pods: ReadonlyMap<string, Pod>
  readonly jobs: ReadonlyMap<string, KubeObject>
  readonly workloads: ReadonlyMap<string, KubeObject>
  readonly stopping: () => boolean
  /** It did not end in time. */
  readonly onStuck: (what: string) => Promise<void>
  /** What somebody waits for now. */
  readonly awaited: Set<string>
  /** What was created, ended or changed, by kind. */
  readonly done: Record<'pods' | 'groups' | 'jobs' | 'updates' | 'deletions', number>
}

type Marked = { metadata: { annotations?: Record<string, string> } }

/** Whoever submits pods one by one, groups, or Jobs, without a break, and changes and deletes some of them. */
export class Clients {
  readonly #deps: ClientDeps

  constructor(deps: ClientDeps) {
    this.#deps = deps
  }

  async singles(name: string, queue: string, dice: Dice): Promise<void> {
    for (let count = 0; !this.#deps.stopping(); count++) {
      const pod = this.#pod(`${name}-${count}`, queue, dice)
      await this.#create(PODS, `${name}-${count}`, pod)
      this.#deps.done.pods++
      await this.#live([`${name}-${count}`], dice)
    }
  }

  async groups(name: string, queue: string, dice: Dice): Promise<void> {
    for (let count = 0; !this.#deps.stopping(); count++) {
      const group = `${name}-${count}`
      const size = dice.int(2, 4)
      const members = Array.from({ length: size }, (_, index) => `${group}-${index}`)
      const member = (pod: string) => this.#pod(pod, queue, dice, { group, size })
      for (const pod of members) {
        await this.#create(PODS, pod, member(pod))
        await sleep(dice.int(0, 300))
      }
      this.#deps.done.groups++
      if (dice.chance(0.2)) {
        // One of them goes, and another takes its place.
        await sleep(dice.int(0, 2000))
        const lost = members.pop() ?? ''
        await this.#delete(PODS, lost)
        members.push(`${group}-spare`)
        await this.#create(PODS, `${group}-spare`, member(`${group}-spare`))
      }
      await this.#live(members, dice, group)
    }
  }

  async jobs(name: string, queue: string, dice: Dice): Promise<void> {
    for (let count = 0; !this.#deps.stopping(); count++) {
      const job = `${name}-${count}`
      const runs = `${dice.int(0, 3000)}ms`
      const parallelism = dice.int(1, 3)
      const body = queuedJob({ namespace: NAMESPACE, name: job, queue, parallelism, outcome: 'succeed', runs })
      const { template } = (body as { spec: { template: Marked } }).spec
      const marks = { [QUEUE_MARK]: queue, [JOB_MARK]: job, [SIZE_MARK]: String(parallelism) }
      template.metadata.annotations = { ...template.metadata.annotations, ...marks }
      await this.#create(JOBS, job, body)
      this.#deps.done.jobs++
      await sleep(dice.int(0, 2500))
      if (dice.chance(0.2)) await this.#update(JOBS, job, { metadata: { labels: { touched: 'yes' } } })
      if (dice.chance(0.15)) {
        await this.#update(JOBS, job, { spec: { suspend: true } })
        await sleep(dice.int(0, 2000))
        await this.#update(JOBS, job, { spec: { suspend: false } })
      }
      if (!dice.chance(0.15)) await this.#until(job, () => isOver(this.#deps.jobs.get(job)))
      await this.#delete(JOBS, job, { propagationPolicy: 'Background' })
      const ofJob = (pod: Pod) => pod.metadata.labels?.['batch.kubernetes.io/job-name'] === job
      await this.#until(`${job} (its pods)`, () => ![...this.#deps.pods.values()].some(ofJob))
    }
  }

  #pod(name: string, queue: string, dice: Dice, of?: { readonly group: string; readonly size: number }): object {
    const pod = queuedPod({
      ...{ namespace: NAMESPACE, name, queue, outcome: 'succeed', cpu: '10m' },
      ...(of && { group: of.group, count: of.size }),
    }) as Marked
    const marks = { [QUEUE_MARK]: queue, ...(of && { [GROUP_MARK]: of.group, [SIZE_MARK]: String(of.size) }) }
    const runs = { 'muster.dev/test-delay': `${dice.int(0, 3000)}ms` }
    return { ...pod, metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...marks, ...runs } } }
  }

  /** Some are changed, some are deleted while they wait or run, the others when they are over. */
  async #live(names: readonly string[], dice: Dice, group = ''): Promise<void> {
    const first = names[0] ?? ''
    if (dice.chance(0.3)) {
      await sleep(dice.int(0, 1500))
      await this.#update(PODS, first, { metadata: { labels: { touched: 'yes' } } })
    }
    if (dice.chance(0.2)) await sleep(dice.int(0, 2500))
    else {
      const { pods, workloads } = this.#deps
      // A group may have ended before one of it was deleted: whoever comes to take its place then waits for ever.
      const hasEnded = () =>
        isOver(workloads.get(group)) ||
        names.every(name => /Succeeded|Failed/.test(pods.get(name)?.status?.phase ?? ''))
      await this.#until(first, hasEnded)
    }
    for (const name of names) await this.#delete(PODS, name)
    await this.#until(`${first} (deleted)`, () => !names.some(name => this.#deps.pods.has(name)))
  }

  async #create(path: string, name: string, body: object): Promise<void> {
    const answer = await this.#insist(`create ${name}`, 'POST', path, body, [CONFLICT])
    const { spec, metadata } = (answer ?? {}) as Pod & { spec: { suspend?: boolean } }
    if (metadata?.uid === undefined) return
    const isHeld = path === JOBS ? spec.suspend === true : spec.schedulingGates !== undefined
    if (!isHeld) this.#deps.tally.fail(`create ${name}`, this.#deps.now(), 'admission webhook denied: it was not asked')
  }

  async #update(path: string, name: string, body: object): Promise<void> {
    await this.#insist(`update ${name}`, 'PATCH', `${path}/${name}`, body, [GONE])
    this.#deps.done.updates++
  }

  async #delete(path: string, name: string, options?: object): Promise<void> {
    await this.#insist(`delete ${name}`, 'DELETE', `${path}/${name}`, options, [GONE])
    this.#deps.done.deletions++
  }

  /** As patient clients do; every attempt counts. */
  async #insist(
    what: string,
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body: object | undefined,
    expected: readonly number[],
  ): Promise<KubeObject | undefined> {
    const { api, tally, now } = this.#deps
    for (let attempt = 0; attempt < 200; attempt++) {
      const startedAt = now()
      const answer = await api.send(method, path, body)
      if (tally.take(what, startedAt, answer, expected)) return answer.status < 300 ? answer.object : undefined
      await sleep(300)
    }
    await this.#deps.onStuck(`${what} was refused to the end`)
    return undefined
  }

  async #until(what: string, check: () => boolean): Promise<void> {
    const { now, tally, onStuck, awaited } = this.#deps
    const since = now()
    awaited.add(what)
    while (!check()) {
      if (now() - since - tally.apiAwaySince(since) > PATIENCE_MS) {
        await onStuck(`${what} has not ended`)
        break
      }
      await sleep(50)
    }
    awaited.delete(what)
  }
}

/** A Job or a Workload. */
function isOver(object: KubeObject | undefined): boolean {
  const { conditions = [] } = (object as { status?: { conditions?: { type: string; status: string }[] } })?.status ?? {}
  return conditions.some(({ type, status }) => /^(Complete|Failed|Finished)$/.test(type) && status === 'True')
}
