import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, copyFileSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { SERVING_NAMES } from '../src/tls/authority.ts'
import { loadOrCreate } from '../src/tls/files.ts'
import { load, quantile } from './load.ts'
import { sampleReview } from './review.ts'

const GOAL_RATE = 0.8
const GOAL_P99 = 2
const GOAL_IDLE_MB = 100

interface Contender {
  readonly name: string
  readonly args: readonly string[]
}

interface Figures {
  rate: number[]
  p99: number[]
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '8' },
  },
})

const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'))
const children: ChildProcess[] = []
try {
  await main()
} finally {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}

async function main(): Promise<void> {
  const { bundle } = await loadOrCreate({ folder, names: SERVING_NAMES, now: Date.now, log: pino({ level: 'silent' }) })
  const pair = [join(folder, 'tls.key'), join(folder, 'tls.crt')]
  const here = (file: string) => new URL(file, import.meta.url).pathname
  const contenders: readonly Contender[] = [
    { name: 'bare node', args: [here('bare-node.ts'), ...pair] },
    { name: 'bare fastify', args: [here('bare-fastify.ts'), ...pair] },
    { name: 'muster', args: [await install(), 'serve', '--port', '0', '--health-port', '0', '--certs-dir', folder] },
  ]
  const running = await Promise.all(contenders.map(start))
  await sleep(500)
  const idle = running.map(({ child }) => residentMb(child))
  const body = sampleReview()
  const [rounds, milliseconds, connections] = [
    Number(values.rounds),
    Number(values.seconds) * 1000,
    Number(values.connections),
  ]
  process.stdout.write(
    `${body.length} B review, ${connections} keep-alive TLS connections, ${rounds} rounds of ${values.seconds} s each\n`,
  )

  const figures: Figures[] = contenders.map(() => ({ rate: [], p99: [] }))
  // In turns, so that a machine that gets slower or faster while we measure does so for all of them.
  for (let round = -1; round < rounds; round++) {
    for (const [index, { port }] of running.entries()) {
      const sample = await load({ port, path: '/mutate/pods', ca: bundle }, body, connections, milliseconds)
      if (round < 0) continue
      figures[index]?.rate.push(sample.requests / sample.seconds)
      figures[index]?.p99.push(quantile(sample.latencies, 0.99))
    }
  }
  report(contenders, figures, idle)
}

function report(contenders: readonly Contender[], figures: readonly Figures[], idle: readonly number[]): void {
  const base = figures[0]
  const muster = figures.at(-1)
  if (base === undefined || muster === undefined) throw new Error('nothing was measured')
  process.stdout.write('\nserver          reviews/s   p99 ms   idle MB   rate ratio   p99 ratio\n')
  for (const [index, { name }] of contenders.entries()) {
    const { rate = [], p99 = [] } = figures[index] ?? {}
    const cells = [
      median(rate).toFixed(0).padStart(9),
      median(p99).toFixed(2).padStart(8),
      (idle[index] ?? 0).toFixed(0).padStart(9),
    ]
    const ratios = [ratio(rate, base.rate).toFixed(2).padStart(12), ratio(p99, base.p99).toFixed(2).padStart(11)]
    process.stdout.write(`${name.padEnd(15)} ${cells.join(' ')} ${ratios.join(' ')}\n`)
  }
  const results = [
    [`rate at least ${GOAL_RATE} of bare node`, ratio(muster.rate, base.rate) >= GOAL_RATE],
    [`p99 at most ${GOAL_P99} times bare node's`, ratio(muster.p99, base.p99) <= GOAL_P99],
    [`idle memory under ${GOAL_IDLE_MB} MB`, (idle.at(-1) ?? Number.POSITIVE_INFINITY) < GOAL_IDLE_MB],
  ] as const
  process.stdout.write('\n')
  for (const [goal, met] of results) process.stdout.write(`${met ? 'met   ' : 'MISSED'} ${goal}\n`)
  if (results.some(([, met]) => !met)) process.exitCode = 1
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN
}

/** Round by round, then the median: what disturbed one round disturbed its neighbours too. */
function ratio(ours: readonly number[], base: readonly number[]): number {
  return median(ours.map((value, index) => value / (base[index] ?? Number.NaN)))
}

/** Built as for the image: running from TypeScript would count the memory of the compiler that strips the types. */
async function install(): Promise<string> {
  const root = new URL('..', import.meta.url).pathname
  const app = join(folder, 'app')
  mkdirSync(join(app, 'bin'), { recursive: true })
  const build = spawn(process.execPath, [join(root, 'scripts/build.ts'), join(app, 'dist')], { stdio: 'inherit' })
  const [code] = await once(build, 'exit')
  if (code !== 0) throw new Error('the build failed')
  copyFileSync(join(root, 'package.json'), join(app, 'package.json'))
  copyFileSync(join(root, 'bin/muster.js'), join(app, 'bin/muster.js'))
  symlinkSync(join(root, 'node_modules'), join(app, 'node_modules'))
  return join(app, 'bin/muster.js')
}

/** Output goes to a file, not to a pipe that this process would have to empty while it measures. */
async function start({ name, args }: Contender): Promise<{ child: ChildProcess; port: number }> {
  const logFile = join(folder, `${name.replace(' ', '-')}.log`)
  const output = openSync(logFile, 'w')
  const child = spawn(process.execPath, [...args], { stdio: ['ignore', output, output] })
  closeSync(output)
  children.push(child)
  for (let tries = 0; tries < 200; tries++) {
    const match = /listening (\d+)|https:\/\/localhost:(\d+)/.exec(readFileSync(logFile, 'utf8'))
    if (match !== null) return { child, port: Number(match[1] ?? match[2]) }
    if (child.exitCode !== null) break
    await sleep(50)
  }
  throw new Error(`${name} did not start:\n${readFileSync(logFile, 'utf8')}`)
}

function residentMb(child: ChildProcess): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
  return match === null ? Number.NaN : Number(match[1]) / 1024
}
