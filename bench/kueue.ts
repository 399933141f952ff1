// The same loads through Kueue's own pod integration, through Muster with each engine, and with no queue at all, on one
// control plane in one run. What counts are the ratios: `npm run bench:kueue -- --singles 100 --large 0` for a try.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createKubeClient } from '../src/kube/client/client.ts'
import { kubeconfigCredentials } from '../src/kube/client/credentials.ts'
import { systemClock } from '../src/kube/vocabulary/clock.ts'
import { startControlPlane } from '../test/cluster/support/control-plane.ts'
import { Bystanders } from './bystanders.ts'
import { isMet } from './goal.ts'
import { goals, type Loads } from './kueue-goals.ts'
import { type Load, run } from './kueue-loads.ts'
import { page, picture, summary } from './kueue-page.ts'
import type { Figures, Results } from './kueue-report.ts'
import { Arena, SYSTEMS, type System } from './kueue-systems.ts'
import { cpuMicros, residentMb } from './processes.ts'

const ROOT = new URL('..', import.meta.url).pathname
const REVIEW_SECONDS = 5

const { values } = parseArgs({
  options: {
    singles: { type: 'string', default: '500' },
    group: { type: 'string', default: '300' },
    large: { type: 'string', default: '1000' },
    /** Pods that are cleaned up while another group starts. */
    earlier: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '1' },
    /** Only these, by their names in the table. */
    systems: { type: 'string', default: '' },
    /** Writes docs/benchmarks.md and its picture. */
    write: { type: 'boolean', default: false },
  },
})
const sizes = {
  ...{ singles: Number(values.singles), group: Number(values.group), large: Number(values.large) },
  ...{ earlier: Number(values.earlier), rounds: Number(values.rounds) },
}
const { singles, group, large, earlier } = sizes
const loads: Loads = {
  ...(singles > 0 && { singles: { name: `${singles} single pods`, pods: singles, group: false, earlier: 0 } }),
  ...(group > 0 && { group: { name: `a group of ${group}`, pods: group, group: true, earlier: 0 } }),
  ...(large > 0 && { large: { name: `a group of ${large}`, pods: large, group: true, earlier: 0 } }),
  ...(group > 0 &&
    earlier > 0 && {
      busy: { name: `a group of ${group} while ${earlier} are cleaned up`, pods: group, group: true, earlier },
    }),
}
const wanted = values.systems.split(',').filter(name => name !== '')
const systems = SYSTEMS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))

const built = spawnSync(process.execPath, [join(ROOT, 'scripts/build.ts')], { stdio: 'inherit' })
if (built.status !== 0) process.exit(1)

const results = systems.map(
  ({ name }): Results => ({
    ...{ name, reviews: [], memory: [] },
    loads: new Map(Object.values(loads).map((load: Load): [Load, Figures[]] => [load, []])),
  }),
)
const bystanders = new Bystanders()
// Room for every pod of a load twice, so that nothing waits for a node.
const plane = await startControlPlane({ name: 'bench-kueue', featureGates: 'none', nodes: 8 })
const api = createKubeClient({
  credentials: await kubeconfigCredentials({ file: plane.kubeconfig, clock: systemClock }),
  clock: systemClock,
})
try {
  const arena = await Arena.open(plane, api)
  try {
    await arena.warmUp()
    // In turns, so that a machine that gets slower or faster while we measure does so for all of them. What is compared
    // most comes first, and each is written when it is known: of a run that is cut short its beginning counts.
    for (let round = 0; round < sizes.rounds; round++) {
      for (const system of systems.toReversed()) {
        await measure(
          arena,
          system,
          results.find(({ name }) => name === system.name),
        )
        write()
      }
    }
  } finally {
    await arena.close()
  }
} finally {
  await api.close()
  await plane.stop()
}

process.stdout.write(summary(results, loads))
process.exitCode = goals(results, loads).every(isMet) ? 0 : 1

function write(): void {
  if (!values.write) return
  const known = results.filter(({ memory }) => memory.length > 0)
  writeFileSync(
    join(ROOT, 'docs/benchmarks.md'),
    page(known, loads, { rounds: sizes.rounds, others: bystanders.percent }),
  )
  writeFileSync(join(ROOT, 'docs/images/benchmarks.svg'), picture(known, loads))
}

async function measure(arena: Arena, system: System, result: Results | undefined): Promise<void> {
  await arena.enter(system)
  const { processes } = arena
  if (system.engine !== undefined || system.kueue !== undefined) {
    result?.reviews.push(await arena.reviews(system, REVIEW_SECONDS))
  }
  for (const load of Object.values(loads) as Load[]) {
    const before = cpuOf(processes)
    const timing = await bystanders.watch(arena.pids, () => run(api, system.way, load))
    const after = cpuOf(processes)
    const perPod = (name: keyof typeof processes) => (after[name] - before[name]) / 1000 / (load.pods + load.earlier)
    const figures = { muster: perPod('muster'), kueue: perPod('kueue'), apiServer: perPod('apiServer') }
    result?.loads.get(load)?.push({ ...timing, ...figures })
    process.stderr.write(`${system.name}, ${load.name}: last lift after ${timing.lifted.toFixed(1)} s\n`)
    await arena.clear(system)
  }
  result?.memory.push({ muster: residentMb(processes.muster) || 0, kueue: residentMb(processes.kueue) || 0 })
  await arena.leave(system)
}

function cpuOf(processes: Arena['processes']): Record<keyof Arena['processes'], number> {
  const { muster, kueue, apiServer } = processes
  return { muster: cpuMicros(muster) || 0, kueue: cpuMicros(kueue) || 0, apiServer: cpuMicros(apiServer) || 0 }
}
