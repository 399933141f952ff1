import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type ControlPlane, startControlPlane } from '../cluster/support/control-plane.ts'
import { Muster, type MusterOptions } from '../cluster/support/muster.ts'
import { freePorts } from '../cluster/support/ports.ts'
import { NODE_FLAGS } from '../support/installed.ts'
import { type Balancer, balance, Wire } from './balancer.ts'
import { NAMESPACE } from './clients.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const DAY = 86_400_000

/** As the manifests have it, a second of readiness probes less. */
const PROBE_MS = 1000
/** As in the manifests: connections of the API server that nobody uses are open for 90 s. */
export const DRAIN_SECONDS = 15

/** Constant in `steady`; those of `changing` are changed by the plan, and `open` has none. */
export const LIMITS = { steady: 6, changing: 8 } as const

export interface Seat {
  readonly muster: Muster
  readonly wire: Wire
  ready: boolean
  leads: boolean
}

/** Where the clocks of all replicas stand, from the start and then step by step: docs/reliability.md says why so. */
export const CLOCK_STEPS: readonly number[] = [-29 * DAY, -9 * DAY, 1.5 * DAY, 0]

/** A real control plane, and two replicas behind a balancer, each with a way of its own to the API server. */
export class Site {
  readonly plane: ControlPlane
  readonly seats: readonly Seat[]
  readonly balancer: Balancer
  readonly #clockFile: string
  #clockStep = 0
  #clockSetMs = 0
  #stopped = false

  private constructor(plane: ControlPlane, seats: readonly Seat[], balancer: Balancer, clockFile: string) {
    this.plane = plane
    this.seats = seats
    this.balancer = balancer
    this.#clockFile = clockFile
    for (const seat of seats) void this.#probe(seat)
  }

  static async open(): Promise<Site> {
    const plane = await startControlPlane({ name: 'soak', featureGates: 'none', nodes: 4, startLimitMs: 300_000 })
    try {
      await plane.createNamespace(NAMESPACE)
      const clockFile = join(plane.folder, 'clock')
      await writeFile(clockFile, String(CLOCK_STEPS[0]))
      const [calledAt = 0, ...wirePorts] = await freePorts(3)
      const wires = await Promise.all(wirePorts.map(port => Wire.open(port, Number(new URL(plane.server).port))))
      const [firstWire, secondWire] = wires
      if (firstWire === undefined || secondWire === undefined) throw new Error('two wires were asked for')
      const clock = `${pathToFileURL(join(import.meta.dirname, 'moved-clock.ts'))}?offset=${encodeURIComponent(clockFile)}`
      const optionsWith = (wire: Wire): MusterOptions => ({
        program: join(ROOT, 'dist/main.js'),
        logLevel: 'info',
        nodeFlags: ['--import', clock, ...NODE_FLAGS],
        drainSeconds: DRAIN_SECONDS,
        readyMs: 600_000,
        calledAt,
        reach: kubeconfig => throughWire(plane, kubeconfig, wire),
      })
      const first = await Muster.install(plane, configuration(LIMITS.changing), {
        ...optionsWith(firstWire),
        awaitReady: false,
      })
      const second = await first.another(plane.folder, { ...optionsWith(secondWire), awaitReady: false })
      const seats: Seat[] = [
        { muster: first, wire: firstWire, ready: false, leads: false },
        { muster: second, wire: secondWire, ready: false, leads: false },
      ]
      const targets = seats.map(seat => ({ port: seat.muster.port, isReady: () => seat.ready }))
      const site = new Site(plane, seats, await balance(calledAt, targets), clockFile)
      await Promise.all(seats.map(({ muster }) => muster.untilReady()))
      await sleep(2 * PROBE_MS)
      return site
    } catch (error) {
      // The replicas end with this process.
      await plane.stop()
      throw error
    }
  }

  get isClockAtStart(): boolean {
    return this.#clockStep === 0
  }

  /** False when the clocks have arrived, and stand where all others do. */
  get isClockMoved(): boolean {
    return this.#clockStep + 1 < CLOCK_STEPS.length
  }

  /** The clocks of all replicas go to the next step. */
  async moveClock(): Promise<void> {
    this.#clockStep++
    await this.#writeClock()
  }

  /** So far off where they stand otherwise. */
  async setClock(ms: number): Promise<void> {
    this.#clockSetMs = ms
    await this.#writeClock()
  }

  async configure(changing: number): Promise<void> {
    await this.seats[0]?.muster.reconfigure(configuration(changing))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.seats.map(({ muster }) => muster.kill()))
    await Promise.all([this.balancer.close(), ...this.seats.map(({ wire }) => wire.close())])
    await this.plane.stop()
  }

  async #writeClock(): Promise<void> {
    await writeFile(this.#clockFile, String((CLOCK_STEPS[this.#clockStep] ?? 0) + this.#clockSetMs))
  }

  async #probe(seat: Seat): Promise<void> {
    while (!this.#stopped) {
      const { status } = await seat.muster.health('/readyz').catch(() => NOBODY)
      seat.ready = status === 200
      const { body } = await seat.muster.health('/metrics').catch(() => NOBODY)
      seat.leads = /^muster_leader_election_master_status 1$/m.test(body)
      await sleep(PROBE_MS)
    }
  }
}

const NOBODY = { status: 0, body: '' }

const configuration = (changing: number) => ({
  queues: [
    { name: 'steady', limits: { pods: LIMITS.steady } },
    { name: 'changing', limits: { pods: changing } },
  ],
})

async function throughWire(plane: ControlPlane, kubeconfig: string, { port }: Wire): Promise<string> {
  const text = (await readFile(kubeconfig, 'utf8')).replaceAll(plane.server, `https://127.0.0.1:${port}`)
  const file = `${kubeconfig}.${port}`
  await writeFile(file, text, { mode: 0o600 })
  return file
}
