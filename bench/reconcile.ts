// How fast Muster lifts, on a real control plane, against the fastest anybody could: a bare loop of the same patches.
// All figures are ratios within one run, medians of several rounds, with Muster as it is installed (compiled).
// Groups that kube-scheduler places as a whole have a control plane of their own, after the other is gone.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startControlPlane } from '../test/cluster/support/control-plane.ts'
import { hostilePod, queuedPod } from '../test/cluster/support/manifests.ts'
import { Muster } from '../test/cluster/support/muster.ts'
import { gangs } from './gangs.ts'
import { isMet } from './goal.ts'
import { jobSeconds, PODS_OF_A_JOB, writesOf } from './jobs.ts'
import {
  clientOf,
  createPods,
  deletePods,
  groupSeconds,
  PARALLEL,
  rawLiftSeconds,
  untilLifted,
  untilRunning,
} from './pods.ts'
import { cpuMicros, residentMb } from './processes.ts'
import { median, ratio } from './report.ts'

const GOALS = {
  ...{ group: 1.5, groupBusy: 2, singles: 0.25, jobs: 0.7, writesPerJob: 4 },
  ...{ gang: 1.5, writesPerGang: 2 },
  ...{ residentMb: 200, syncSeconds: 10, idlePercent: 2 },
}
const ROOT = new URL('..', import.meta.url).pathname
const PROGRAM = join(ROOT, 'dist/main.js')
const IDLE_SECONDS = 20
const NAMESPACES = ['raw', 'bench', 'busy', 'many', 'hostile', 'plain-jobs', 'queued-jobs']

const { values } = parseArgs({
  options: {
    group: { type: 'string', default: '300' },
    gang: { type: 'string', default: '300' },
    earlier: { type: 'string', default: '500' },
    singles: { type: 'string', default: '500' },
    jobs: { type: 'string', default: '200' },
    many: { type: 'string', default: '10000' },
    hostile: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '3' },
  },
})
const sizes = {
  group: Number(values.group),
  gang: Number(values.gang),
  earlier: Number(values.earlier),
  singles: Number(values.singles),
  jobs: Number(values.jobs),
  many: Number(values.many),
  hostile: Number(values.hostile),
  rounds: Number(values.rounds),
}

const built = spawnSync(process.execPath, [join(ROOT, 'scripts/build.ts')], { stdio: 'inherit' })
if (built.status !== 0) process.exit(1)
// Room for every pod of a round twice, so that nothing waits for a node.
const plane = await startControlPlane({ name: 'bench', featureGates: 'none', nodes: 8 })
const api = await clientOf(plane)
let missed = false
try {
  for (const namespace of NAMESPACES) await plane.createNamespace(namespace)
  const config = { queues: [{ name: 'closed', limits: { pods: 0 } }] }
  const muster = await Muster.install(plane, config, { logLevel: 'warn', program: PROGRAM })
  try {
    if (sizes.group > 0) await groups()
    if (sizes.singles > 0) await singles()
    if (sizes.jobs > 0) await jobs(muster)
    if (sizes.hostile > 0) await hostile(muster)
    if (sizes.many > 0) await many(muster)
  } finally {
    await muster.stop()
  }
} finally {
  await api.close()
  await plane.stop()
}
if (sizes.gang > 0) await wholeGroups()
process.exitCode = missed ? 1 : 0

async function groups(): Promise<void> {
  const { group: size } = sizes
  const raw: number[] = []
  const quiet: number[] = []
  const busy: number[] = []
  for (let round = 0; round < sizes.rounds; round++) {
    raw.push(await rawLiftSeconds(api, 'raw', size))
    quiet.push(await groupSeconds(api, 'bench', `quiet-${round}`, size))
    await deletePods(api, 'bench')
    await createPods(api, sizes.earlier, index => queuedPod({ namespace: 'busy', name: `early-${round}-${index}` }))
    await untilRunning(api, 'busy', sizes.earlier)
    const cleanup = deletePods(api, 'busy')
    busy.push(await groupSeconds(api, 'bench', `busy-${round}`, size))
    await Promise.all([cleanup, deletePods(api, 'bench')])
  }
  const limit = median(raw)
  process.stdout.write(`raw limit: ${(size / limit).toFixed(0)} gate patches/s over ${PARALLEL} connections\n`)
  const what = `group of ${size}: last create to last lift, times the raw limit`
  report(what, median(quiet) / limit, GOALS.group, 'at most', `${median(quiet).toFixed(2)} s`)
  const meanwhile = `the same while ${sizes.earlier} earlier pods are cleaned up`
  report(meanwhile, median(busy) / limit, GOALS.groupBusy, 'at most', `${median(busy).toFixed(2)} s`)
}

/** The same as one that kube-scheduler places as a whole: two objects more before the first gate falls. */
async function wholeGroups(): Promise<void> {
  const { seconds, raw, writes } = await gangs({ size: sizes.gang, rounds: sizes.rounds, program: PROGRAM })
  const what = `gang of ${sizes.gang}, by PodGroup`
  report(
    `${what}: last create to last lift, times the raw limit`,
    ratio(seconds, raw),
    GOALS.gang,
    'at most',
    `${median(seconds).toFixed(2)} s`,
  )
  // Not the median: one write too many in one round is a mistake, and no noise.
  report(
    `${what}: most writes of its scheduling objects`,
    Math.max(...writes),
    GOALS.writesPerGang,
    'at most',
    'writes',
  )
}

async function singles(): Promise<void> {
  const ratios: number[] = []
  const rates: number[] = []
  for (let round = 0; round < sizes.rounds; round++) {
    const rawBefore = await rawLiftSeconds(api, 'raw', sizes.singles)
    const started = performance.now()
    const lifted = untilLifted(api, 'bench', sizes.singles, name => name.startsWith(`single-${round}-`))
    await createPods(api, sizes.singles, index => queuedPod({ namespace: 'bench', name: `single-${round}-${index}` }))
    await lifted
    const rate = sizes.singles / ((performance.now() - started) / 1000)
    await deletePods(api, 'bench')
    // Before and after: on a machine that others use, too, the limit itself moves within a minute.
    const raw = (rawBefore + (await rawLiftSeconds(api, 'raw', sizes.singles))) / 2
    rates.push(rate)
    ratios.push((rate * raw) / sizes.singles)
  }
  const what = `${sizes.singles} single pods, first create to last lift, of the raw rate`
  report(what, median(ratios), GOALS.singles, 'at least', `${median(rates).toFixed(0)} pods/s`)
}

/** Through an open queue, against the same Jobs without any, before and after. */
async function jobs(muster: Muster): Promise<void> {
  const ratios: number[] = []
  const rates: number[] = []
  const objects: number[] = []
  const events: number[] = []
  const refused: number[] = []
  const access = { api, kubectl: plane.kubectl }
  for (let round = 0; round < sizes.rounds; round++) {
    const plainBefore = await jobSeconds(access, 'plain-jobs', sizes.jobs)
    const before = await writesOf(muster)
    const queued = await jobSeconds(access, 'queued-jobs', sizes.jobs, 'open')
    const after = await writesOf(muster)
    const plain = (plainBefore + (await jobSeconds(access, 'plain-jobs', sizes.jobs))) / 2
    ratios.push(plain / queued)
    rates.push(sizes.jobs / queued)
    objects.push((after.objects - before.objects) / sizes.jobs)
    events.push((after.events - before.events) / sizes.jobs)
    refused.push((after.refused - before.refused) / sizes.jobs)
  }
  const what = `${sizes.jobs} Jobs of ${PODS_OF_A_JOB} pods through an open queue`
  report(`${what}, of the rate without`, median(ratios), GOALS.jobs, 'at least', `${median(rates).toFixed(1)} Jobs/s`)
  const told = `and ${median(events).toFixed(1)} Events, ${median(refused).toFixed(2)} refused`
  report(`${what}: writes of Muster's per Job`, median(objects), GOALS.writesPerJob, 'at most', told)
}

/** What a tenant can do to the memory of a replica: the rest is in the tests (`npm run test:hostile`). */
async function hostile(muster: Muster): Promise<void> {
  const what = `${sizes.hostile} pods as large as etcd takes them`
  const bytes = residentMb(muster.pid)
  await createPods(api, sizes.hostile, index =>
    hostilePod({ namespace: 'hostile', name: `pod-${index}`, queue: 'closed' }),
  )
  await muster.stop()
  const starting = performance.now()
  await muster.start()
  report(`${what}: start to ready`, (performance.now() - starting) / 1000, GOALS.syncSeconds, 'at most', 's')
  const grown = residentMb(muster.pid) - bytes
  report(`${what}: resident memory`, residentMb(muster.pid), GOALS.residentMb, 'at most', `${grown.toFixed(0)} MB more`)
  await deletePods(api, 'hostile')
}

async function many(muster: Muster): Promise<void> {
  const what = `${sizes.many} managed pods`
  await createPods(api, sizes.many, index => queuedPod({ namespace: 'many', name: `pod-${index}`, queue: 'closed' }))
  await sleep(3_000)
  await muster.stop()
  const starting = performance.now()
  await muster.start()
  report(`${what}: start to ready`, (performance.now() - starting) / 1000, GOALS.syncSeconds, 'at most', 's')
  await sleep(20_000)
  report(`${what}: resident memory`, residentMb(muster.pid), GOALS.residentMb, 'at most', 'MB')
  const before = cpuMicros(muster.pid)
  await sleep(IDLE_SECONDS * 1000)
  report(
    `${what}: idle CPU`,
    (cpuMicros(muster.pid) - before) / IDLE_SECONDS / 10_000,
    GOALS.idlePercent,
    'at most',
    '%',
  )
}

function report(what: string, value: number, goal: number, sense: 'at most' | 'at least', detail: string): void {
  const met = isMet({ what, value, sense, goal })
  missed ||= !met
  const figure = `${value.toFixed(2)} (${detail})`
  process.stdout.write(
    `${met ? 'met   ' : 'MISSED'}  ${what.padEnd(62)} ${figure.padStart(20)}   goal ${sense} ${goal}\n`,
  )
}
