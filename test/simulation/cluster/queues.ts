import type { QueueConfiguration } from '../../../src/config/configuration.ts'
import { exceeds, limitsOf, type Usage } from '../facts.ts'
import type { Replica } from './replica.ts'

/** For so long a write that was decided on the old limits may be on its way. */
const ON_ITS_WAY_MS = 15_000

interface Former {
  readonly limits: Partial<Usage>
  readonly waitingFor: Set<Replica>
  /** Since when every replica that lives has the new ones. */
  knownAt: number | undefined
}

/** The queues of the configuration as they are now, and what may still be decided on their former limits. */
export class Queues {
  readonly #now: () => number
  readonly #former = new Map<string, Former[]>()
  #list: readonly QueueConfiguration[]

  constructor(list: readonly QueueConfiguration[], now: () => number) {
    this.#list = list
    this.#now = now
  }

  get list(): readonly QueueConfiguration[] {
    return this.#list
  }

  change(queue: string, limits: QueueConfiguration['limits'], replicas: readonly Replica[]): void {
    const former = { limits: this.#limitsOf(queue), waitingFor: new Set(replicas), knownAt: undefined }
    this.#former.set(queue, [...(this.#former.get(queue) ?? []), former])
    this.#list = this.#list.map(known => (known.name === queue ? { ...known, limits } : known))
  }

  /** The replica has read the file as it is now. */
  taken(replica: Replica): void {
    for (const former of [...this.#former.values()].flat()) former.waitingFor.delete(replica)
  }

  /** Nobody decides on other limits of the queue than these. */
  isSettled(queue: string): boolean {
    return this.#stillUsed(queue).length === 0
  }

  /** Whether the limits of the queue hold so much: those of now, or former ones that somebody may still go by. */
  allows(queue: string, usage: Usage): boolean {
    return [this.#limitsOf(queue), ...this.#stillUsed(queue)].some(limits => !exceeds(usage, limits))
  }

  #limitsOf(queue: string): Partial<Usage> {
    return limitsOf(this.#list.find(({ name }) => name === queue)?.limits ?? {})
  }

  #stillUsed(queue: string): readonly Partial<Usage>[] {
    const used = (this.#former.get(queue) ?? []).filter(former => {
      // A process that died reads the file when it comes back.
      if ([...former.waitingFor].some(({ alive }) => alive)) return true
      former.knownAt ??= this.#now()
      return this.#now() < former.knownAt + ON_ITS_WAY_MS
    })
    this.#former.set(queue, used)
    return used.map(({ limits }) => limits)
  }
}
