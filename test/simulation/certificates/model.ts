import {
  type Authority,
  decideRotation,
  isDue,
  LIFE_MS,
  type PairFacts,
  type Rotation,
  type Stored,
  stillTrusted,
} from '../../../src/tls/rotation.ts'
import { Sightings } from '../../../src/tls/sightings.ts'
import type { Dice } from '../time/dice.ts'

const SECOND = 1_000
const DAY = 86_400 * SECOND
/** As long as an API server may take to hear of a written bundle, and less than what Muster waits. */
const LAG = 5 * SECOND

type Record = Omit<Stored, 'ageMs'>

const NOTHING: Record = { ours: true, current: undefined, next: undefined, authorities: [] }

interface Versioned<T> {
  readonly version: number
  readonly value: T
}

/** Who is trusted in one entry. */
type Bundle = ReadonlyMap<string, Authority>

interface Replica {
  readonly name: string
  /** What its watches have brought. */
  record: Versioned<Record | undefined>
  bundles: readonly Versioned<Bundle>[]
  served: PairFacts
  /** It has been ready since its start; before, the Service sends nobody to it. */
  ready: boolean
  heardAt: number
  readonly skew: number
  records: Sightings
  trusted: Sightings
}

/**
 * A Secret, three entries of webhook configurations and some replicas, of which each acts on what it has heard. All
 * that is decided is decided by the code that ships; what is done with it is done here as `tls/rotator.ts` does it.
 */
export class CertificateModel {
  now = Date.UTC(2026, 0, 1)
  record: Versioned<Record | undefined> = { version: 1, value: undefined }
  bundles: Versioned<Bundle>[] = [0, 1, 2].map(() => ({ version: 1, value: new Map() }))
  readonly replicas: Replica[] = []
  readonly broken: string[] = []
  writes = 0
  readonly #dice: Dice
  /** Since when an entry has ever had an authority: a wipe is not Muster's doing. */
  readonly #since = new Map<string, number>()
  readonly #wipedIn = [0, 0, 0]
  #issued = 0
  #started = 0

  constructor(dice: Dice, replicas: number) {
    this.#dice = dice
    for (let index = 0; index < replicas; index++) this.start()
  }

  /** A process reads the Secret by a call, makes it where it is of no use, and is ready when it is trusted. */
  start(): void {
    const { record: step } = decideRotation(this.#facts(this.record.value, 0), undefined, this.now)
    if (step === 'issue' || step === 'promote') this.#take(step, this.record.value)
    const served = this.record.value?.current
    if (served === undefined) return
    this.replicas.push({
      name: `r${++this.#started}`,
      record: this.record,
      bundles: [...this.bundles],
      served,
      ready: false,
      heardAt: this.now,
      skew: this.#dice.int(0, 2) * 20 * SECOND,
      records: new Sightings(),
      trusted: new Sightings(),
    })
  }

  crash(replica: Replica): void {
    this.replicas.splice(this.replicas.indexOf(replica), 1)
  }

  hear(replica: Replica, what: 'record' | 'bundles'): void {
    if (what === 'record') replica.record = this.record
    else replica.bundles = [...this.bundles]
  }

  /** Everything reaches everybody, as it does within minutes whatever the watches do. */
  hearAll(): void {
    for (const replica of this.replicas) {
      this.hear(replica, 'record')
      this.hear(replica, 'bundles')
      replica.heardAt = this.now
    }
  }

  pass(ms: number): void {
    this.now += ms
    for (const { name, ready, served } of this.replicas) {
      if (ready && this.now >= served.notAfter) this.broken.push(`${name} serves what has expired`)
    }
  }

  /** One look of one replica. Of its writes, only the first `most` are sent before it dies, if it does. */
  act(replica: Replica, most = Number.POSITIVE_INFINITY): void {
    const view = this.#view(replica)
    const decided = decideRotation(view.stored, view.installed, this.now + replica.skew, replica.served)
    if (decided.serve && view.stored.current !== undefined) this.#serve(replica, view.stored.current)
    const trusted = view.installed.every(({ authorities }) => has(authorities, replica.served.authority))
    if (trusted) replica.ready = true
    let sent = 0
    if (decided.publish !== undefined) {
      // Two objects: the first holds the first entry, the second the others.
      for (const entries of [[0], [1, 2]]) {
        if (sent++ >= most) return
        if (!this.#publish(replica, entries, decided.publish)) return
      }
    }
    if (decided.record === 'keep' || sent >= most) return
    if (replica.record.version !== this.record.version) return
    this.#take(decided.record, replica.record.value)
    if (this.#dice.chance(0.7)) replica.record = this.record
  }

  /** Somebody applies a manifest, or clears a field. */
  wipe(index: number): void {
    this.#write(index, new Map())
    this.#wipedIn[index] = this.bundles[index]?.version ?? 0
  }

  deleteSecret(): void {
    this.record = { version: this.record.version + 1, value: undefined }
  }

  spoilSecret(): void {
    const { value } = this.record
    if (value !== undefined) this.#store({ ...value, current: undefined })
  }

  /** Somebody writes a pair of his own, with an authority that lives for ten years. */
  writeForeign(ours: boolean): void {
    const authority = this.#authority(3650 * DAY)
    const current = { authority, notBefore: this.now - 3_600 * SECOND, notAfter: this.now + 90 * DAY }
    this.#store({ ours, current, next: this.record.value?.next, authorities: [authority] })
  }

  /** Who writes a Secret of his own renews it in time, and mends it. */
  careForForeign(): void {
    const { value } = this.record
    if (value?.ours === false && (value.current?.notAfter ?? 0) < this.now + 30 * DAY) this.writeForeign(false)
  }

  /** How far the record is, for the tally. */
  get phase(): 'absent' | 'steady' | 'announced' {
    if (this.record.value === undefined) return 'absent'
    return this.record.value.next === undefined ? 'steady' : 'announced'
  }

  /** What is wrong when everybody has had the time to do all that there is to do. */
  unsettled(): readonly string[] {
    const { value } = this.record
    if (value?.current === undefined) return ['nothing can be served']
    const wanted = value.authorities.filter(({ notAfter }) => notAfter > this.now).map(({ fingerprint }) => fingerprint)
    const idle = this.replicas.flatMap(replica => {
      const { stored, installed } = this.#view(replica)
      const { record, publish } = decideRotation(stored, installed, this.now + replica.skew, replica.served)
      return [
        ...(replica.served.authority === value.current?.authority ? [] : [`${replica.name} serves an old pair`]),
        ...(replica.ready ? [] : [`${replica.name} is not ready`]),
        ...(record === 'keep' && publish === undefined ? [] : [`${replica.name} has not finished`]),
      ]
    })
    const bundles = this.bundles.flatMap(({ value: bundle }, index) =>
      [...bundle.keys()].sort().join() === [...wanted].sort().join()
        ? []
        : [`bundle ${index} holds ${[...bundle.keys()]} for ${wanted}`],
    )
    const overdue = value.ours && isDue(value.current, this.now) ? ['what is served is due'] : []
    return [...overdue, ...idle, ...bundles]
  }

  #view(replica: Replica): { stored: Stored; installed: { authorities: (Authority & { ageMs: number })[] }[] } {
    const { value } = replica.record
    const names = (value?.authorities ?? []).map(({ fingerprint }) => fingerprint).join()
    const recordAge = replica.records.see([names], this.now)
    const entries = replica.bundles.map(({ value: bundle }, index) =>
      [...bundle.values()].map(authority => ({ key: `${index} ${authority.fingerprint}`, authority })),
    )
    const age = replica.trusted.see(
      entries.flat().map(({ key }) => key),
      this.now,
    )
    return {
      stored: this.#facts(value, recordAge(names)),
      installed: entries.map(entry => ({
        authorities: entry.map(({ key, authority }) => ({ ...authority, ageMs: age(key) })),
      })),
    }
  }

  /** The first rule, held against what the API servers know and not against what the replica has heard. */
  #serve(replica: Replica, pair: PairFacts): void {
    if (replica.served.authority === pair.authority) return
    const { fingerprint } = pair.authority
    const isTrusted =
      replica.ready && replica.bundles.every(({ value }) => value.has(replica.served.authority.fingerprint))
    const ms = isTrusted ? LAG : 0
    const isKnown = ({ value }: Versioned<Bundle>, index: number): boolean => {
      const hasHeardOfWipe = (replica.bundles[index]?.version ?? 0) >= (this.#wipedIn[index] ?? 0)
      const since = this.#since.get(`${index} ${fingerprint}`) ?? Number.POSITIVE_INFINITY
      return since <= this.now - ms && (value.has(fingerprint) || !hasHeardOfWipe)
    }
    if (!this.bundles.every(isKnown)) this.broken.push(`${replica.name} serves ${fingerprint} before it is trusted`)
    replica.served = pair
  }

  /** False when somebody was faster. */
  #publish(replica: Replica, entries: readonly number[], authorities: readonly Authority[]): boolean {
    if (entries.some(index => this.bundles[index]?.version !== replica.bundles[index]?.version)) return false
    for (const index of entries) {
      const before: Bundle = this.bundles[index]?.value ?? new Map()
      const after = new Map(authorities.map(authority => [authority.fingerprint, authority]))
      if (after.size === before.size && [...after.keys()].every(fingerprint => before.has(fingerprint))) continue
      for (const other of this.replicas) {
        const { fingerprint } = other.served.authority
        if (before.has(fingerprint) && !after.has(fingerprint) && other.served.notAfter > this.now) {
          this.broken.push(`${replica.name} takes ${fingerprint} away, which ${other.name} serves`)
        }
      }
      this.#write(index, after)
      this.writes++
    }
    // The answer may be lost; the watch brings it some time.
    if (this.#dice.chance(0.7)) replica.bundles = [...this.bundles]
    return true
  }

  #write(index: number, value: Bundle): void {
    this.bundles[index] = { version: (this.bundles[index]?.version ?? 0) + 1, value }
    for (const fingerprint of value.keys()) {
      const key = `${index} ${fingerprint}`
      if (!this.#since.has(key)) this.#since.set(key, this.now)
    }
  }

  #store(value: Record): void {
    this.record = { version: this.record.version + 1, value }
  }

  #facts(value: Record | undefined, ageMs: number): Stored {
    const { ours, current, next, authorities } = value ?? NOTHING
    // Without its authority a pair is of no use.
    const usable = (pair: PairFacts | undefined) => (pair && has(authorities, pair.authority) ? pair : undefined)
    return { ours, current: usable(current), next: usable(next), authorities, ageMs }
  }

  /** As `rewritten` does it with real certificates. */
  #take(step: Exclude<Rotation['record'], 'keep'>, found: Record | undefined): void {
    this.writes++
    const record = found ?? NOTHING
    if (step === 'promote') {
      this.#store({ ...record, current: record.next, next: undefined })
      return
    }
    const authority = this.#authority(LIFE_MS)
    const pair = { authority, notBefore: this.now - 3_600 * SECOND, notAfter: authority.notAfter }
    const authorities = [authority, ...stillTrusted(record, this.now)]
    if (step === 'issue') this.#store({ ...record, current: pair, next: undefined, authorities })
    else this.#store({ ...record, next: pair, authorities })
  }

  #authority(life: number): Authority {
    return { fingerprint: `ca${++this.#issued}`, notAfter: this.now + life, certificate: '' }
  }
}

const has = (authorities: readonly Authority[], { fingerprint }: Authority): boolean =>
  authorities.some(other => other.fingerprint === fingerprint)
