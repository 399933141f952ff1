import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { SERVING_NAMES } from '../src/tls/authority.ts'
import { loadOrCreate } from '../src/tls/files.ts'
import { sampleJobReview } from './job-review.ts'
import { load, quantile } from './load.ts'
import { cpuMicros, residentMb } from './processes.ts'
import { type Figures, median, printTable, ratio } from './report.ts'
import { sampleReview } from './review.ts'
import { install, metric, type RunningServer, start } from './servers.ts'

/** Of the server as it starts; and with the full set of rules at work: an owner in the cache, a group declaration. */
const GOAL_RATE = 0.8
const GOAL_RATE_CACHED = 0.75
const GOAL_P99 = 2
const GOAL_JOB = 1.3
const GOAL_IDLE_MB = 100
const GOAL_GROWTH = 1.5
const LOOKUPS = 'muster_webhook_lookups_total'

interface Row extends Figures {
  readonly server: RunningServer
  readonly path: string
  readonly body: Buffer
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '8' },
  },
})

const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'))
const running: RunningServer[] = []
try {
  await main()
} finally {
  for (const { child } of running) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}

async function main(): Promise<void> {
  const { bundle } = await loadOrCreate({ folder, names: SERVING_NAMES, now: Date.now, log: pino({ level: 'silent' }) })
  const pair = [join(folder, 'tls.key'), join(folder, 'tls.crt')]
  const run = async (name: string, args: readonly string[]): Promise<RunningServer> => {
    const server = await start(name, args, folder)
    running.push(server)
    return server
  }
  const here = (file: string) => new URL(file, import.meta.url).pathname
  const bareNode = await run('bare node', [here('bare-node.ts'), ...pair])
  const bareFastify = await run('bare fastify', [here('bare-fastify.ts'), ...pair])
  const serveFlags = ['serve', '--port', '0', '--health-port', '0', '--certs-dir', folder]
  const serve = await run('muster serve', [await install(folder), ...serveFlags])
  const cached = await run('muster cached', [here('muster-app.ts'), ...pair])
  await sleep(500)

  const created = sampleReview({ owner: 'Job' })
  const base = row('bare node', bareNode, '/mutate/pods', created)
  // Without a cluster there is no Job; the owner is of a kind that is not asked for, at the same length.
  const served = row('muster serve', serve, '/mutate/pods', sampleReview({ owner: 'Run' }))
  const known = row('muster cached', cached, '/mutate/pods', created)
  const podValidation = row('  validating', cached, '/validate/pods', sampleReview({ owner: 'Job', marked: true }))
  const jobValidation = row('  a Job', cached, '/validate/jobs', sampleJobReview())
  const rows = [
    base,
    row('bare fastify', bareFastify, '/mutate/pods', created),
    served,
    known,
    podValidation,
    jobValidation,
  ]
  const idle = residentMb(serve.child.pid)
  await measure(rows, bundle)
  printTable(rows, base)
  const growth = await growthPerKilobyte(cached, bundle)
  const lookups = (await metric(serve, LOOKUPS)) + (await metric(cached, LOOKUPS))
  const judged = [served, known]
  const jobCost = ratio(jobValidation.cpu, podValidation.cpu)
  conclude([
    [`rate of muster serve at least ${GOAL_RATE} of bare node`, ratio(served.rate, base.rate) >= GOAL_RATE],
    [`rate with caches at least ${GOAL_RATE_CACHED} of bare node`, ratio(known.rate, base.rate) >= GOAL_RATE_CACHED],
    [`p99 at most ${GOAL_P99} times bare node's`, judged.every(({ p99 }) => ratio(p99, base.p99) <= GOAL_P99)],
    [`a Job review costs at most ${GOAL_JOB} pod reviews (${jobCost.toFixed(2)})`, !(jobCost > GOAL_JOB)],
    [`idle memory of muster serve under ${GOAL_IDLE_MB} MB (${idle.toFixed(0)} MB)`, idle < GOAL_IDLE_MB],
    [`no API call in any review (${lookups} look-ups)`, lookups === 0],
    [`time per kB grows at most ${GOAL_GROWTH} times (${growth.toFixed(2)})`, growth <= GOAL_GROWTH],
  ])
}

function row(name: string, server: RunningServer, path: string, body: Buffer): Row {
  return { name, server, path, body, rate: [], p99: [], cpu: [] }
}

async function measure(rows: readonly Row[], ca: string): Promise<void> {
  const [rounds, seconds, connections] = [Number(values.rounds), Number(values.seconds), Number(values.connections)]
  process.stdout.write(
    `${rows[0]?.body.length} B review, ${connections} keep-alive TLS connections, ${rounds} rounds of ${seconds} s each\n\n`,
  )
  // In turns, so that a machine that gets slower or faster while we measure does so for all of them.
  for (let round = -1; round < rounds; round++) {
    for (const { server, path, body, rate, p99, cpu } of rows) {
      const before = cpuMicros(server.child.pid)
      const sample = await load({ port: server.port, path, ca }, body, connections, seconds * 1000)
      if (round < 0) continue
      rate.push(sample.requests / sample.seconds)
      p99.push(quantile(sample.latencies, 0.99))
      cpu.push((cpuMicros(server.child.pid) - before) / sample.requests)
    }
  }
}

/** From each size to the next. One connection, so that a review waits for nothing but itself. */
async function growthPerKilobyte(server: RunningServer, ca: string): Promise<number> {
  const perKilobyte: number[] = []
  for (const settings of [8, 575, 5990]) {
    const body = sampleReview({ owner: 'Job', settings })
    const target = { port: server.port, path: '/mutate/pods', ca }
    await load(target, body, 1, 500)
    const { latencies } = await load(target, body, 1, 2000)
    const [kilobytes, ms] = [body.length / 1000, median([...latencies])]
    perKilobyte.push(ms / kilobytes)
    const each = ((1000 * ms) / kilobytes).toFixed(1)
    process.stdout.write(`${kilobytes.toFixed(1).padStart(7)} kB: ${ms.toFixed(3)} ms, ${each} us per kB\n`)
  }
  return Math.max(...perKilobyte.slice(1).map((each, index) => each / (perKilobyte[index] ?? Number.NaN)))
}

function conclude(results: readonly (readonly [goal: string, met: boolean])[]): void {
  process.stdout.write('\n')
  for (const [goal, met] of results) process.stdout.write(`${met ? 'met   ' : 'MISSED'} ${goal}\n`)
  if (results.some(([, met]) => !met)) process.exitCode = 1
}
