import type { Pod } from '../../kube/vocabulary/objects.ts'
import type { Engine } from '../../reconciler/engine.ts'
import { unitKeyOf, unitKeyOfWorkload } from '../../reconciler/unit.ts'
import { uidOf } from '../../workload/pod-facts.ts'
import type { QueuedWorkload } from '../../workload/queued-workload.ts'
import type { Installation } from '../installation.ts'
import { type QueuesReport, reportQueues } from '../queues/report.ts'
import { Admissions } from './admissions.ts'
import { type Overview, overviewOf, placesIn } from './overview.ts'
import { type Known, type Look, looked, type Placed, type Waiter, waiterOf } from './waiting.ts'

export interface BooksOptions {
  readonly installation: Installation
  readonly known: Known
  readonly workloads: () => Iterable<QueuedWorkload>
}

type About = Pick<Overview, 'cluster' | 'namespace' | 'isComplete' | 'trouble'>

/**
 * What the page is made of, kept up to date unit by unit: a change costs what the unit costs, and not what the cluster
 * does. The queues themselves are reckoned anew as `muster queues` does it, once for however many changes.
 */
export class Books {
  readonly #known: Known
  readonly #workloads: () => Iterable<QueuedWorkload>
  readonly #waiters = new Map<string, Waiter>()
  readonly #admissions = new Admissions()
  readonly #touched = new Set<string>()
  #installation: Installation
  #unseen: readonly string[] = []
  #report: QueuesReport | undefined
  #places: ReadonlyMap<string, number> = new Map()
  #revision = 0
  #last: { readonly key: string; readonly rows: readonly Placed[] } | undefined

  constructor({ installation, known, workloads }: BooksOptions) {
    this.#installation = installation
    this.#known = known
    this.#workloads = workloads
  }

  get engine(): Engine {
    return this.#installation.engine
  }

  seePod(pod: Pod): void {
    this.#touched.add(unitKeyOf(pod))
    for (const workload of this.#known.records.ownedBy(uidOf(pod))) this.#touched.add(unitKeyOfWorkload(workload))
  }

  seeWorkload(workload: QueuedWorkload, gone: boolean): void {
    this.#admissions.see(workload, gone)
    this.#touched.add(unitKeyOfWorkload(workload))
    this.#report = undefined
  }

  /** A unit may stand elsewhere, for another reason than its own objects. */
  touch(unit: string): void {
    this.#touched.add(unit)
  }

  /** Other limits, other rights: what is reckoned by them is reckoned anew. */
  configure(installation: Installation, unseen: readonly string[]): void {
    const isSame =
      JSON.stringify([installation.config, unseen]) === JSON.stringify([this.#installation.config, this.#unseen])
    if (isSame) return
    this.#installation = installation
    this.#unseen = unseen
    this.#report = undefined
  }

  /** Takes up what was touched, a part at a time: between two parts others have their turn. */
  *settle(now: string, part = 500): Generator<undefined, void> {
    let done = 0
    for (const unit of this.#touched) {
      this.#touched.delete(unit)
      const waiter = waiterOf(unit, this.#known, now)
      const before = this.#waiters.get(unit)
      if (waiter === undefined) this.#waiters.delete(unit)
      else this.#waiters.set(unit, waiter)
      if (JSON.stringify(waiter) !== JSON.stringify(before)) this.#revision++
      if (++done % part === 0) yield
    }
  }

  get isSettled(): boolean {
    return this.#touched.size === 0
  }

  overview(about: About, now: number): Overview {
    return overviewOf({
      about: { ...about, engine: this.#installation.engine.name, revision: this.#revision },
      report: this.#reckoned(),
      waiters: this.#waiters.values(),
      timeline: this.#admissions.timeline(now),
    })
  }

  /** So many of those who wait, from one on, with how many there are in all. */
  waiting(look: Look, from: number, count: number): { readonly total: number; readonly rows: readonly Placed[] } {
    this.#reckoned()
    const key = JSON.stringify([this.#revision, look])
    if (this.#last?.key !== key) this.#last = { key, rows: looked(this.#waiters.values(), this.#places, look) }
    const { rows } = this.#last
    return { total: rows.length, rows: rows.slice(from, from + count) }
  }

  #reckoned(): QueuesReport {
    if (this.#report !== undefined) return this.#report
    this.#report = reportQueues(this.#installation, [...this.#workloads()], this.#unseen)
    this.#places = placesIn(this.#report)
    this.#revision++
    return this.#report
  }
}
