import { unitKeyOfWorkload } from '../../reconciler/unit.ts'
import { condition, isTrue, podCount, type QueuedWorkload } from '../../workload/queued-workload.ts'

/** A Workload that was admitted, and what became of it. */
export interface Admission {
  readonly id: string
  /** Of its unit. */
  readonly unit: string
  readonly at: string
  readonly queue: string
  readonly namespace: string
  readonly name: string
  readonly pods: number
  /** Seconds. */
  readonly waited: number
  readonly now: 'runs' | 'finished' | 'evicted' | 'gone'
}

/** How many were admitted in a minute. */
export interface Minute {
  readonly at: string
  readonly count: number
}

export interface Timeline {
  readonly minutes: readonly Minute[]
  /** The newest first. */
  readonly latest: readonly Admission[]
}

const MINUTE_MS = 60_000
/** As far back as the page shows. */
export const SPAN_MS = 3 * 60 * MINUTE_MS
const SHOWN = 100
/** More in three hours than one page has to remember. */
const MOST = 20_000

/**
 * The admissions of the last hours. They stand in the Workloads, and those go with their pods: so what was seen is
 * remembered, as much of it as the page shows and no more.
 */
export class Admissions {
  readonly #seen = new Map<string, Admission>()
  /** By the uid of the Workload, the admission on which it runs. */
  readonly #running = new Map<string, string>()

  see(workload: QueuedWorkload, gone: boolean): void {
    const admitted = condition(workload, 'Admitted')
    if (admitted === undefined) return
    const { uid = '', namespace = '', name = '' } = workload.metadata
    const at = admitted.lastTransitionTime
    const id = `${uid}@${at}`
    const known = this.#seen.get(id)
    const before = this.#running.get(uid)
    const earlier = before === undefined ? undefined : this.#seen.get(before)
    if (earlier !== undefined && earlier.id !== id) this.#seen.set(earlier.id, { ...earlier, now: 'evicted' })
    if (admitted.status !== 'True') {
      this.#running.delete(uid)
      return
    }
    const now = stateOf(workload, gone)
    if (now === 'runs') this.#running.set(uid, id)
    else this.#running.delete(uid)
    this.#seen.set(id, known ? { ...known, now } : { ...{ id, at, namespace, name, now }, ...describe(workload, at) })
    if (this.#seen.size > MOST * 1.1) this.#forget(MOST)
  }

  timeline(now: number): Timeline {
    const oldest = now - SPAN_MS
    const counts = new Map<number, number>()
    for (const [id, { at }] of this.#seen) {
      const time = Date.parse(at)
      if (!(time >= oldest)) this.#drop(id)
      else counts.set(time - (time % MINUTE_MS), (counts.get(time - (time % MINUTE_MS)) ?? 0) + 1)
    }
    const minutes = [...counts].sort(([a], [b]) => a - b)
    return {
      minutes: minutes.map(([at, count]) => ({ at: new Date(at).toISOString(), count })),
      latest: this.#newestFirst().slice(0, SHOWN),
    }
  }

  get size(): number {
    return this.#seen.size
  }

  #forget(left: number): void {
    for (const { id } of this.#newestFirst().slice(left)) this.#drop(id)
  }

  #drop(id: string): void {
    this.#seen.delete(id)
    const uid = id.slice(0, id.indexOf('@'))
    if (this.#running.get(uid) === id) this.#running.delete(uid)
  }

  #newestFirst(): readonly Admission[] {
    return [...this.#seen.values()].sort((a, b) => (a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? 1 : -1))
  }
}

function stateOf(workload: QueuedWorkload, gone: boolean): Admission['now'] {
  if (isTrue(workload, 'Finished')) return 'finished'
  if (isTrue(workload, 'Evicted')) return 'evicted'
  return gone ? 'gone' : 'runs'
}

function describe(workload: QueuedWorkload, at: string): Pick<Admission, 'unit' | 'queue' | 'pods' | 'waited'> {
  const evicted = condition(workload, 'Evicted')?.lastTransitionTime
  const since = evicted !== undefined && evicted < at ? evicted : workload.metadata.creationTimestamp
  const waited = (Date.parse(at) - Date.parse(since ?? at)) / 1000
  return {
    unit: unitKeyOfWorkload(workload),
    queue: workload.spec.queueName,
    pods: podCount(workload),
    waited: Number.isFinite(waited) ? Math.max(0, waited) : 0,
  }
}
