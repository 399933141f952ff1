import { setTimeout as sleep } from 'node:timers/promises'
import type { Pod } from '../../src/kube/vocabulary/objects.ts'
import { queuedPod } from '../cluster/support/manifests.ts'
import type { Api } from './api.ts'
import { NAMESPACE } from './clients.ts'
import type { Starvation } from './starvation.ts'
import type { Tally } from './tally.ts'

const EVERY_MS = 500
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`

export interface Failover {
  readonly ms: number
  /** How much of that somebody waited for the CPU. */
  readonly withheldMs: number
}

interface Waiting {
  readonly since: number
  readonly resolve: (failover: Failover) => void
}

/** A pod every half second into a queue without limits: how long it waits is how long nobody lifts. */
export class Prober {
  readonly #api: Api
  readonly #tally: Tally
  readonly #starvation: Starvation
  readonly #now: () => number
  readonly #createdAt = new Map<string, number>()
  #waiting: readonly Waiting[] = []
  readonly waitsMs: number[] = []

  constructor(api: Api, tally: Tally, starvation: Starvation, now: () => number) {
    this.#starvation = starvation
    this.#api = api
    this.#tally = tally
    this.#now = now
  }

  /** How long it takes until a pod that is created from now on has been lifted. */
  untilNextLift(): Promise<Failover> {
    return new Promise(resolve => {
      this.#waiting = [...this.#waiting, { since: this.#now(), resolve }]
    })
  }

  async run(stopping: () => boolean): Promise<void> {
    const calls: Promise<void>[] = []
    for (let count = 0; !stopping(); count++) {
      calls.push(this.#create(`probe-${count}`))
      await sleep(EVERY_MS)
    }
    await Promise.all(calls)
  }

  /** Of a pod, as the watch brought it. */
  see({ metadata: { name = '' }, spec }: Pod): void {
    const createdAt = this.#createdAt.get(name)
    if (createdAt === undefined || (spec.schedulingGates ?? []).length > 0) return
    const now = this.#now()
    this.#createdAt.delete(name)
    this.waitsMs.push(now - createdAt - this.#tally.apiAwaySince(createdAt))
    for (const { since, resolve } of this.#waiting)
      if (createdAt >= since) resolve({ ms: now - since, withheldMs: this.#starvation.since(since) })
    this.#waiting = this.#waiting.filter(({ since }) => createdAt < since)
    void this.#delete(name)
  }

  /** Those that are still behind the gate. */
  get unlifted(): readonly string[] {
    return [...this.#createdAt.keys()]
  }

  async #create(name: string): Promise<void> {
    const startedAt = this.#now()
    const body = queuedPod({ namespace: NAMESPACE, name, queue: 'open', cpu: '1m' })
    this.#createdAt.set(name, startedAt)
    const isMade = this.#tally.take(`create ${name}`, startedAt, await this.#api.send('POST', PODS, body))
    if (isMade) return
    this.#createdAt.delete(name)
    // An API server that goes without an answer may have made it all the same.
    await this.#delete(name)
  }

  async #delete(name: string): Promise<void> {
    for (let attempt = 0; attempt < 100; attempt++) {
      const startedAt = this.#now()
      const answer = await this.#api.send('DELETE', `${PODS}/${name}?gracePeriodSeconds=0`)
      if (this.#tally.take(`delete ${name}`, startedAt, answer, [404])) return
      await sleep(500)
    }
  }
}
