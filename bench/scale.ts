// What Muster costs with 1,000, 10,000 and 50,000 managed pods, and how each figure grows. No control plane on one
// machine holds the last, so the API server is the simulator's, over HTTPS: `npm run bench:scale -- --sizes 1000` for a try.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { cpuMicros, peakMb, residentMb } from './processes.ts'
import { ScaleApi } from './scale-api.ts'
import { CLOSED, ScaleCluster, type Wanted } from './scale-cluster.ts'
import { applyManifests, Replica } from './scale-muster.ts'
import { type Cost, isGood, page, type Size, summary } from './scale-report.ts'

const ROOT = new URL('..', import.meta.url).pathname
const SETTLED_MS = 10_000
const IDLE_SECONDS = 10
/** Pods that are under way at a time while the way through is measured. */
const AT_ONCE = 64
const QUEUES = 100
/** Nothing fits, and all might: who waits there waits for his turn. */
const CONFIG = { queues: [{ name: CLOSED, limits: { pods: 1 } }] }

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000,50000' },
    /** Pods that come and go at each size, as single pods and in groups of 10. */
    passing: { type: 'string', default: '500' },
    /** Writes docs/scale.md. */
    write: { type: 'boolean', default: false },
  },
})
const wantedSizes = values.sizes.split(',').map(Number)
const passing = Number(values.passing)

const built = spawnSync(process.execPath, [join(ROOT, 'scripts/build.ts')], { stdio: 'inherit' })
if (built.status !== 0) process.exit(1)

const folder = mkdtempSync(join(tmpdir(), 'muster-scale-'))
const cluster = new ScaleCluster(CONFIG.queues)
applyManifests(cluster.model)
const api = await ScaleApi.start(cluster.model)
let replica = await Replica.prepare(folder, api, CONFIG)
let other = await Replica.prepare(folder, api, CONFIG)
const sizes: Size[] = []
try {
  let pods = 0
  for (const size of wantedSizes) {
    await grow(size - pods)
    pods = size
    sizes.push(await measure(size))
    process.stderr.write(`${JSON.stringify(sizes.at(-1))}\n`)
  }
} finally {
  await Promise.all([replica.end('SIGTERM'), other.end('SIGTERM')])
  await api.stop()
  rmSync(folder, { recursive: true })
}
process.stdout.write(summary(sizes))
process.exitCode = isGood(sizes) ? 0 : 1
if (values.write) writeFileSync(join(ROOT, 'docs/scale.md'), page(sizes))

/** Of ten pods six run alone, two in groups of ten, and two wait. */
async function grow(pods: number): Promise<void> {
  const started = performance.now()
  const queue = (index: number) => `team-${index % QUEUES}`
  await cluster.grow({ pods: pods * 0.6, group: 1, queue })
  await cluster.grow({ pods: pods * 0.2, group: 10, queue })
  await cluster.grow({ pods: pods * 0.2, group: 1, queue: () => CLOSED })
  process.stderr.write(`${pods} pods more after ${((performance.now() - started) / 1000).toFixed(0)} s\n`)
}

async function measure(pods: number): Promise<Size> {
  await replica.end('SIGTERM')
  const start = await replica.start()
  const startCpu = cpuMicros(replica.pid) / 1e6
  const firstLift = start + (await first())
  const peak = peakMb(replica.pid)
  await sleep(SETTLED_MS)
  const resident = residentMb(replica.pid)
  const before = cpuMicros(replica.pid)
  await sleep(IDLE_SECONDS * 1000)
  const idle = (cpuMicros(replica.pid) - before) / IDLE_SECONDS / 10_000
  const queue = (index: number) => `team-${index % QUEUES}`
  // The first ones after a start are dearer: the machine has yet to find out what is worth compiling.
  await cost({ pods: passing, group: 1, queue })
  const single = await cost({ pods: passing, group: 1, queue })
  const group = await cost({ pods: passing, group: 10, queue })
  const queues = await cost({ pods: passing, group: 1, queue: index => `queue-of-its-own-${index}` })
  const handover = await takeover('SIGTERM')
  const failover = await takeover('SIGKILL')
  return { pods, start, startCpu, firstLift, peak, resident, idle, single, group, queues, handover, failover }
}

/** Seconds until a pod that comes now has come through. */
async function first(): Promise<number> {
  return await cluster.pass({ pods: 1, group: 1, queue: () => 'team-0' }, 1)
}

async function cost(wanted: Wanted): Promise<Cost> {
  const [writes, events, cpu] = [new Map(api.writes), api.streams.events, cpuMicros(replica.pid)]
  const seconds = await cluster.pass(wanted, AT_ONCE)
  const grown = [...api.writes].map(([what, count]): [string, number] => [what, count - (writes.get(what) ?? 0)])
  const sum = (of: (what: string) => boolean) =>
    grown.filter(([what]) => of(what)).reduce((total, [, count]) => total + count, 0) / wanted.pods
  return {
    perSecond: wanted.pods / seconds,
    cpu: (cpuMicros(replica.pid) - cpu) / 1000 / wanted.pods,
    watched: (api.streams.events - events) / wanted.pods,
    writes: sum(what => !what.endsWith('events') && !what.endsWith('leases')),
    told: sum(what => what.endsWith('events')),
  }
}

/** Seconds from the end of the leader until its successor, who was there and ready, has let a pod through. */
async function takeover(signal: 'SIGTERM' | 'SIGKILL'): Promise<number> {
  await other.start()
  const started = performance.now()
  await replica.end(signal)
  ;[replica, other] = [other, replica]
  await first()
  return (performance.now() - started) / 1000
}
