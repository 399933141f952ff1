import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { stringify } from 'yaml'
import { ensurePrograms } from '../cluster/programs/build.ts'
import { CONTROL_PLANE } from '../cluster/programs/catalog.ts'
import { type ControlPlane, startControlPlane } from '../cluster/support/control-plane.ts'
import { untilServed } from '../cluster/support/kinds.ts'
import { manifestsFor } from '../cluster/support/muster.ts'
import { freePorts } from '../cluster/support/ports.ts'
import { balance, type Target } from '../soak/balancer.ts'
import { Starvation } from '../soak/starvation.ts'
import { createApi } from './api.ts'
import { Load, NAMESPACE, QUEUES, Tally } from './load.ts'
import { checkOut, HERE, lastRelease, type Release, Replica, type ReplicaOptions } from './release.ts'

/**
 * `npm run test:upgrade -- [--from COMMIT] [--seconds 20]`: the last release and this checkout on one real control plane,
 * from the one to the other and back, while tenants create, change and delete. No call may fail, nobody may run beyond
 * a limit, and who has to wait waits.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { from: { type: 'string' }, seconds: { type: 'string', default: '20' } } })
  const from = values.from ?? lastRelease()
  if (from === undefined) throw new Error('there is no tag yet: say --from COMMIT')
  await ensurePrograms(CONTROL_PLANE, line => console.error(line))
  const folder = mkdtempSync(join(tmpdir(), 'muster-upgrade-'))
  const plane = await startControlPlane({ name: 'upgrade', featureGates: 'none', nodes: 4 })
  const tally = new Tally()
  try {
    await plane.createNamespace(NAMESPACE)
    await change(plane, checkOut(from, join(folder, 'release')), Number(values.seconds) * 1000, tally)
  } finally {
    await plane.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  const total = [...tally.calls.values()].reduce((sum, calls) => sum + calls, 0)
  console.log(`${total} calls of tenants, ${tally.wrong.length} complaints, ${tally.starved} out of time without a CPU`)
  process.exitCode = tally.wrong.length === 0 && total > 0 ? 0 : 1
}

async function change(plane: ControlPlane, release: Release, steadyMs: number, tally: Tally): Promise<void> {
  const [port = 0] = await freePorts(1)
  const ready: Target[] = []
  const balancer = await balance(port, ready)
  const api = await createApi(plane.kubeconfig)
  const starvation = new Starvation(() => performance.now())
  const load = new Load(api, tally, starvation)
  const deployment = new Deployment(plane, ready, port)
  const phase = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    tally.phase = name
    const started = performance.now()
    await work()
    const seconds = Math.round((performance.now() - started) / 1000)
    console.log(`${name}: ${seconds} s, ${tally.calls.get(name) ?? 0} calls, ${tally.wrong.length} complaints so far`)
  }
  let watching = true
  const watch = async (): Promise<void> => {
    for (; watching; await sleep(500)) await load.judge()
  }
  let watched: Promise<unknown> = Promise.resolve()
  try {
    await phase(`install ${release.name}`, () => deployment.install(release))
    await phase('sentinels', () => load.sentinels())
    load.start()
    watched = Promise.all([
      watch(),
      starvation.watch(
        () => deployment.pids,
        () => !watching,
      ),
    ])
    await phase(`${release.name} alone`, () => sleep(steadyMs))
    await phase('upgrade', () => deployment.roll(HERE))
    await phase('this checkout alone', () => sleep(steadyMs))
    await phase('downgrade', () => deployment.roll(release))
    await phase(`${release.name} again`, () => sleep(steadyMs))
    await phase('upgrade again', () => deployment.roll(HERE))
    await load.stop()
    await phase('the rest', () => untilOver(load, tally))
  } finally {
    watching = false
    await Promise.all([load.stop(), watched])
    deployment.kill()
    await balancer.close()
    api.close()
  }
}

/** What was created is over in the end, but for those whose queue holds nothing. */
async function untilOver(load: Load, tally: Tally): Promise<void> {
  const deadline = performance.now() + 300_000
  let left = await load.unfinished()
  while (left.length > 0 && performance.now() < deadline) {
    await sleep(1000)
    left = await load.unfinished()
  }
  for (const name of left) tally.complain(`${name} is not over`)
  const sentinels = (await load.pods()).filter(({ metadata }) => metadata.name?.startsWith('sentinel-'))
  if (sentinels.length !== 5) tally.complain(`${sentinels.length} of 5 sentinels are left`)
}

/** Two replicas, replaced one after the other with one more meanwhile, as the Deployment says. */
class Deployment {
  readonly #plane: ControlPlane
  /** Where a Service would send anybody. */
  readonly #ready: Target[]
  readonly #port: number
  #replicas: readonly Replica[] = []

  constructor(plane: ControlPlane, ready: Target[], port: number) {
    this.#plane = plane
    this.#ready = ready
    this.#port = port
  }

  async install(release: Release): Promise<void> {
    await this.#apply(release)
    await untilServed(this.#plane.kubectl, 'workloads.muster.dev')
    for (let count = 0; count < 2; count++) await this.#add(release)
  }

  /** `kubectl apply -k`, and what the Deployment's controller does then. */
  async roll(release: Release): Promise<void> {
    await this.#apply(release)
    for (const old of this.#replicas) {
      await this.#add(release)
      this.#replicas = this.#replicas.filter(replica => replica !== old)
      this.#ready.splice(
        this.#ready.findIndex(({ port }) => port === old.port),
        1,
      )
      const code = await old.stop()
      if (code !== 0) throw new Error(`a replica of ${old.release.name} ended with ${code}`)
    }
  }

  /** The replicas, and the process in which the balancer is. */
  get pids(): readonly number[] {
    return [process.pid, ...this.#replicas.map(({ pid }) => pid)]
  }

  kill(): void {
    for (const replica of this.#replicas) replica.kill()
  }

  async #apply(release: Release): Promise<void> {
    const stdin = await manifestsFor(this.#plane, join(release.folder, 'manifests'), this.#port)
    await this.#plane.kubectl(['apply', '-f', '-'], { stdin })
  }

  async #add(release: Release): Promise<void> {
    const replica = await Replica.start(release, await this.#options())
    this.#replicas = [...this.#replicas, replica]
    this.#ready.push({ port: replica.port, isReady: () => true })
  }

  async #options(): Promise<ReplicaOptions> {
    const queues = Object.entries(QUEUES).map(([name, pods]) => ({ name, limits: { pods } }))
    const head = { apiVersion: 'config.muster.dev/v1alpha1', kind: 'Configuration' }
    const config = join(this.#plane.folder, 'muster.yaml')
    await writeFile(config, stringify({ ...head, queues, guard: { statusWriters: ['kwok'] } }))
    const kubeconfig = await this.#plane.serviceAccountKubeconfig('muster-system', 'muster')
    return { kubeconfig, config, logs: this.#plane.folder }
  }
}

await main()
