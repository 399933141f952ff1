import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from './report.ts'

/**
 * What `muster review` costs, as it is installed: compiled, bundled, with Node's compile cache. CPU seconds, because they
 * are the same on a machine that has something else to do.
 */
const GOAL_START = 4
const GOAL_SECONDS = 3
const GOAL_MB = 300
const GOAL_DIALECT = 1.5
const GOAL_FORMAT = 1.5
const PODS = 10_000
const FILES = 1_000
const ROUNDS = 3

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'muster-bench-review-'))
interface Cost {
  readonly seconds: number
  readonly megabytes: number
}

function main(): void {
  const program = installed()
  const review = (...args: readonly string[]): Cost => cost([program, 'review', ...args])
  const one = file('pods.yaml', podsText('---\n'))
  const rows: (readonly [name: string, cost: Cost])[] = []
  const measured = (name: string, run: () => Cost): Cost => {
    const found = typical(run)
    rows.push([name, found])
    process.stdout.write(
      `${name.padEnd(34)}${found.seconds.toFixed(2).padStart(8)} s${found.megabytes.toFixed(0).padStart(8)} MB\n`,
    )
    return found
  }
  const bare = measured('node -e 0', () => cost(['-e', '0']))
  review(file('one.yaml', podText(0)))
  const start = measured('one pod', () => review(join(folder, 'one.yaml')))
  const table = measured(`${PODS} pods in one file`, () => review(one))
  const many = measured(`${PODS} pods in ${FILES} files`, () => review(manyFiles()))
  const dialects = Object.entries(DIALECTS).map(([name, change]) => {
    const path = file(`${name}.yaml`, change(podsText('---\n')))
    return measured(`  with ${name}`, () => review(path))
  })
  const formats = ['json', 'yaml', 'objects', 'diff', 'junit', 'sarif', 'github'].map(format =>
    measured(`  as ${format}`, () => review(one, '-o', `${format}=${join(folder, 'out')}`)),
  )
  const times = (costs: readonly Cost[]): number => Math.max(...costs.map(({ seconds }) => seconds / table.seconds))
  const ratio = start.seconds / bare.seconds
  const all = [table, many, ...dialects, ...formats]
  conclude([
    [`cold start at most ${GOAL_START} times node -e 0 (${ratio.toFixed(1)})`, ratio <= GOAL_START],
    [`${PODS} pods within ${GOAL_SECONDS} s`, [table, many].every(({ seconds }) => seconds <= GOAL_SECONDS)],
    [`and within ${GOAL_MB} MB, in every dialect and format`, all.every(({ megabytes }) => megabytes <= GOAL_MB)],
    [
      `every dialect within ${GOAL_DIALECT} times the plain one (${times(dialects).toFixed(2)})`,
      times(dialects) <= GOAL_DIALECT,
    ],
    [
      `every format within ${GOAL_FORMAT} times the table (${times(formats).toFixed(2)})`,
      times(formats) <= GOAL_FORMAT,
    ],
  ])
}

/** As npm installs it; the packages are those of the checkout. */
function installed(): string {
  const dist = join(folder, 'package', 'dist')
  for (const script of ['build.ts', 'bundle.ts']) {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts', script), dist], { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
  }
  for (const path of ['bin', 'package.json'])
    cpSync(join(root, path), join(folder, 'package', path), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'package', 'node_modules'))
  return join(folder, 'package', 'bin', 'muster.js')
}

const REPORT = 'muster-usage '
const PROBE = `process.on('exit', () => process.stderr.write('${REPORT}' + JSON.stringify(process.resourceUsage()) + '\\n'))`

function cost(args: readonly string[]): Cost {
  const probe = ['--import', `data:text/javascript,${encodeURIComponent(PROBE)}`]
  const { status, stderr } = spawnSync(process.execPath, [...probe, ...args], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'cache') },
  })
  const usage = stderr.split(REPORT)[1]
  if (status !== 0 || usage === undefined) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`)
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(usage)
  return { seconds: (userCPUTime + systemCPUTime) / 1e6, megabytes: maxRSS / 1024 }
}

function typical(run: () => Cost): Cost {
  const costs = Array.from({ length: ROUNDS }, run)
  return { seconds: median(costs.map(each => each.seconds)), megabytes: median(costs.map(each => each.megabytes)) }
}

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

function podText(index: number): string {
  return readFileSync(join(root, 'examples/story-1-single-pod.yaml'), 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace(/name: \S+/, `name: pod-${index}`)
}

const podsText = (separator: string): string =>
  Array.from({ length: PODS }, (_, index) => podText(index)).join(separator)

function manyFiles(): string {
  const path = join(folder, 'many')
  mkdirSync(path, { recursive: true })
  for (let each = 0; each < FILES; each++) {
    const pods = Array.from({ length: PODS / FILES }, (_, index) => podText((each * PODS) / FILES + index))
    writeFileSync(join(path, `${each}.yaml`), pods.join('---\n'))
  }
  return path
}

/** What people's editors and tools leave in a file. */
const DIALECTS: Readonly<Record<string, (text: string) => string>> = {
  CRLF: text => text.replaceAll('\n', '\r\n'),
  tabs: text => text.replace(/(image: \S+)/g, '$1\t# pinned'),
  'folded texts': text =>
    text.replace(/^metadata:\n/gm, 'metadata:\n  annotations:\n    note: >-\n      folded\n      text\n'),
  'document ends': text => text.replaceAll('---\n', '...\n---\n'),
}

function conclude(results: readonly (readonly [goal: string, met: boolean])[]): void {
  process.stdout.write('\n')
  for (const [goal, met] of results) process.stdout.write(`${met ? 'met   ' : 'MISSED'} ${goal}\n`)
  if (results.some(([, met]) => !met)) process.exitCode = 1
}

try {
  main()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
