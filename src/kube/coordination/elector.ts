import { ApiError, type KubeApi } from '../vocabulary/api.ts'
import { sleep } from '../vocabulary/backoff.ts'
import type { Clock, Random } from '../vocabulary/clock.ts'
import type { Log } from '../vocabulary/log.ts'
import { microTime } from '../vocabulary/microtime.ts'
import type { KubeObject } from '../vocabulary/objects.ts'
import { LEASES } from '../vocabulary/resources.ts'

interface LeaseSpec {
  readonly holderIdentity?: string | null
  readonly leaseDurationSeconds?: number | null
  readonly acquireTime?: string | null
  readonly renewTime?: string | null
  readonly leaseTransitions?: number | null
}

export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec
}

export interface ElectorOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly namespace: string
  readonly name: string
  /** Must be unique per process, not per pod: a restarted container is another candidate. */
  readonly identity: string
  readonly leaseDurationMs?: number
  readonly renewDeadlineMs?: number
  readonly retryPeriodMs?: number
  readonly onStarted?: () => void
  /** Awaited before the lease is released, so that the last write is over when the next leader begins. */
  readonly onStopped?: () => void | Promise<void>
}

const JITTER = 1.2

/** Of the retry period: so that several who wait do not ask in step. */
const SPREAD = 0.2

/**
 * Leader election on a Lease. It is not fencing: every write must stay safe under two leaders. What it does promise is
 * that `isLeader` turns false before anybody who follows the same rules can take the lease, whatever the wall clocks of
 * the candidates say: only durations on the local monotonic clock are compared.
 */
export class Elector {
  readonly #options: ElectorOptions
  readonly #leaseDurationMs: number
  readonly #renewDeadlineMs: number
  readonly #retryPeriodMs: number
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #lease: Lease | undefined
  /** When we first saw the lease as it is now. Nobody else's clock has a say in this. */
  #observedAt = 0
  #lastRenewAt = Number.NEGATIVE_INFINITY
  #leading = false
  #cancelDeadline: (() => void) | undefined
  #handover: Promise<void> = Promise.resolve()

  constructor(options: ElectorOptions) {
    this.#options = options
    this.#leaseDurationMs = options.leaseDurationMs ?? 15_000
    this.#renewDeadlineMs = options.renewDeadlineMs ?? 10_000
    this.#retryPeriodMs = options.retryPeriodMs ?? 2_000
    if (this.#leaseDurationMs <= this.#renewDeadlineMs || this.#renewDeadlineMs <= this.#retryPeriodMs * JITTER) {
      throw new RangeError('elector: lease duration > renew deadline > 1.2 x retry period must hold')
    }
  }

  /** Ask before every write, not once per loop. */
  isLeader(): boolean {
    return this.#leading && this.#options.clock.monotonic() - this.#lastRenewAt <= this.#renewDeadlineMs
  }

  /** Who holds the lease as far as we have seen, for logs and status. */
  get holder(): string | undefined {
    return this.#lease?.spec?.holderIdentity || undefined
  }

  start(): void {
    if (this.#stopping.signal.aborted) throw new Error('elector: it cannot start again after stop')
    this.#running ??= this.#run(this.#stopping.signal)
  }

  /** Steps down, waits for `onStopped`, then releases the lease so that the next leader need not wait it out. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    this.#stepDown('stopping')
    await this.#handover
    await this.#release()
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options
    while (!signal.aborted) {
      const startedAt = clock.monotonic()
      try {
        if (await this.#acquireOrRenew(signal)) this.#renewed(startedAt)
        else this.#stepDown('another candidate holds the lease')
      } catch (error) {
        if (signal.aborted) return
        log.warn({ err: error, lease: this.#options.name }, 'lease could not be read or written')
      }
      const spreadMs = this.#leading ? 0 : SPREAD * this.#retryPeriodMs * random()
      await sleep(clock, Math.min(this.#retryPeriodMs, this.#untilVacantMs()) + spreadMs, signal)
    }
  }

  /**
   * Who waits for a leader that is gone asks in the moment in which it may take the lease, and not up to a period later.
   */
  #untilVacantMs(): number {
    const lease = this.#lease
    if (this.#leading || !lease?.spec?.holderIdentity || this.#expired(lease)) return Number.POSITIVE_INFINITY
    return this.#observedAt + this.#termMs(lease) - this.#options.clock.monotonic() + 1
  }

  #renewed(startedAt: number): void {
    const { clock, log, identity } = this.#options
    // The lease counts for others from the moment they see it, which is after we asked: count from the question.
    const leftMs = startedAt + this.#renewDeadlineMs - clock.monotonic()
    if (leftMs <= 0 || this.#stopping.signal.aborted) {
      this.#stepDown('the renewal came too late')
      return
    }
    // The process stood still, and whoever asked meanwhile was told no and let his work fall: all of it is looked at anew.
    if (this.#leading && !this.isLeader()) this.#stepDown('nobody could tell for a while whether the lease was held')
    this.#lastRenewAt = startedAt
    this.#cancelDeadline?.()
    this.#cancelDeadline = clock.after(leftMs, () => this.#stepDown('the lease could not be renewed in time'))
    if (this.#leading) return
    this.#leading = true
    log.info({ lease: this.#options.name, identity }, 'leading')
    this.#hand(() => this.#options.onStarted?.())
  }

  #stepDown(reason: string): void {
    this.#cancelDeadline?.()
    this.#cancelDeadline = undefined
    if (!this.#leading) return
    this.#leading = false
    this.#options.log.info({ lease: this.#options.name, reason }, 'no longer leading')
    this.#hand(async () => await this.#options.onStopped?.())
  }

  /** One after the other: who starts again must not meet the remains of the last time. */
  #hand(callback: () => void | Promise<void>): void {
    this.#handover = this.#handover.then(callback).catch(error => {
      this.#options.log.error({ err: error }, 'leader election callback failed')
    })
  }

  /** True if the lease is ours after this attempt. Throws when that cannot be known. */
  async #acquireOrRenew(signal: AbortSignal): Promise<boolean> {
    if (this.#leading && this.#lease) {
      // One call instead of two while nobody disputes the lease, which also halves the ways a renewal can fail.
      const renewed = await this.#write(this.#lease, signal)
      if (renewed) return true
    }
    const current = await this.#read(signal)
    if (current === undefined) return this.#write(undefined, signal)
    if (current.metadata.resourceVersion !== this.#lease?.metadata.resourceVersion) this.#observe(current)
    const holder = current.spec?.holderIdentity
    if (holder && holder !== this.#options.identity && !this.#expired(current)) return false
    return this.#write(current, signal)
  }

  #observe(lease: Lease): void {
    this.#lease = lease
    this.#observedAt = this.#options.clock.monotonic()
  }

  #expired(lease: Lease): boolean {
    return this.#options.clock.monotonic() - this.#observedAt > this.#termMs(lease)
  }

  /** For so long nobody else may take it, counted from when we saw it. */
  #termMs(lease: Lease): number {
    return Math.max((lease.spec?.leaseDurationSeconds ?? 0) * 1000, this.#leaseDurationMs)
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { api, namespace, name } = this.#options
    try {
      return await api.get<Lease>(LEASES, { namespace, name }, this.#limits(signal))
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined
      throw error
    }
  }

  /** False when somebody else was faster: the next attempt reads what they wrote. */
  async #write(current: Lease | undefined, signal: AbortSignal): Promise<boolean> {
    const { api, clock, identity, namespace, name } = this.#options
    const now = microTime(clock.now())
    const kept = current?.spec?.holderIdentity === identity
    const spec: LeaseSpec = {
      ...current?.spec,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(this.#leaseDurationMs / 1000),
      acquireTime: kept ? (current.spec?.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (current?.spec?.leaseTransitions ?? 0) + (current && !kept ? 1 : 0),
    }
    try {
      const written = current
        ? await api.replace<Lease>(LEASES, { namespace, name }, { ...current, spec }, this.#limits(signal))
        : await api.create<Lease>(LEASES, newLease(namespace, name, spec), this.#limits(signal))
      this.#observe(written)
      return true
    } catch (error) {
      if (error instanceof ApiError && (error.status === 409 || error.status === 404)) return false
      throw error
    }
  }

  async #release(): Promise<void> {
    const { api, clock, log, identity, namespace, name } = this.#options
    const limits = { timeoutMs: this.#retryPeriodMs }
    if (this.holder !== identity) return
    const now = microTime(clock.now())
    const released = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now }
    for (let attempt = 1; ; attempt++) {
      try {
        const current = await api.get<Lease>(LEASES, { namespace, name }, limits)
        if (current.spec?.holderIdentity !== identity) return
        const lease = { ...current, spec: { ...current.spec, ...released } }
        this.#observe(await api.replace<Lease>(LEASES, { namespace, name }, lease, limits))
        return
      } catch (error) {
        // Stopping cuts off a renewal that the server may still carry out, even between these two calls.
        if (attempt < 3 && error instanceof ApiError && error.status === 409) continue
        log.warn({ err: error, lease: name }, 'lease could not be released; the next leader waits until it expires')
        return
      }
    }
  }

  /** A call that hangs must leave room for another before the deadline. */
  #limits(signal: AbortSignal) {
    return { signal, timeoutMs: this.#renewDeadlineMs / 2 }
  }
}

function newLease(namespace: string, name: string, spec: LeaseSpec): Lease {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name }, spec }
}
