import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/**
 * The simulator proves something about the code that ships only if that code has no way around its ports: time comes
 * from `Clock`, chance from `Random`, the API server from `KubeApi`. And the parts stay exchangeable only if imports
 * point downwards. Neither is left to reviews.
 */
const SRC = fileURLToPath(new URL('../../src', import.meta.url))

const PURE_ROOMS = [
  'reconciler',
  'engines',
  'coscheduling',
  'insight',
  'uninstall',
  'webhooks',
  'workload',
  'validation',
  'admission',
  'kube/cache',
  'kube/coordination',
]

const FORBIDDEN: readonly (readonly [string, RegExp])[] = [
  ['Date.now', /\bDate\.now\b/],
  ['new Date() without an argument', /\bnew Date\(\s*\)/],
  ['performance.now', /\bperformance\.now\b/],
  ['setTimeout', /\bsetTimeout\b/],
  ['setInterval', /\bsetInterval\b/],
  ['setImmediate', /\bsetImmediate\b/],
  ['AbortSignal.timeout', /\bAbortSignal\.timeout\b/],
  ['Math.random', /\bMath\.random\b/],
  ['randomUUID or randomBytes', /\brandom(?:UUID|Bytes)\b/],
  ['process.env', /\bprocess\.env\b/],
  ['fetch', /\bfetch\(/],
]
const FORBIDDEN_MODULES = /^node:(?:fs|net|http|https|tls|timers|dgram|child_process)(?:\/|$)/

const FILES = sourcesUnder(SRC)

describe('code under simulation', () => {
  const pure = FILES.filter(isPure)

  it('is all that decides, and the parts of the client that keep state', () => {
    for (const room of PURE_ROOMS) expect(pure.some(file => file.startsWith(`${room}/`))).toBe(true)
  })

  it.each(pure)('%s reads no clock, no chance and no process but through its ports', file => {
    const code = codeOf(file)
    expect(FORBIDDEN.filter(([, pattern]) => pattern.test(code)).map(([what]) => what)).toEqual([])
  })

  it.each(pure)('%s opens no file and no socket', file => {
    expect(importsOf(file).filter(({ from }) => FORBIDDEN_MODULES.test(from))).toEqual([])
  })
})

/** What is there from the import on and can be written to: something empty that is not meant for reading only. */
const MEMORY =
  /^(?:export )?(?:let |var |const \w+(?:: (?!(?:readonly|Readonly))[^=\n]+)? = (?:new (?:Weak)?(?:Map|Set)(?:<[^\n]*>)?\(\)|\[\]|\{\})$)/m

describe('what decides', () => {
  // The compiled schemas are the same whatever was reviewed before.
  const deferred = ['validation/jobs/scheduling-schemas.ts']
  const deciding = FILES.filter(file => isPure(file) && !file.startsWith('kube/') && !deferred.includes(file))

  it.each(deciding)('%s remembers nothing from one call to the next', file => {
    expect(MEMORY.exec(codeOf(file))?.[0]).toBeUndefined()
  })

  it.each([
    'let oldest = 0',
    'const KNOWN = new Map<string, readonly string[]>()',
    'export const SEEN: Set<string> = new Set()',
    'const TEXTS = new WeakMap<readonly string[], string>()',
    'const KNOWN: { readonly hash: string }[] = []',
  ])('would show a memory like `%s`', line => {
    expect(MEMORY.test(`import x from 'y'\n\n${line}\n`)).toBe(true)
  })
})

/**
 * The house, ground floor first. An import goes down to a lower floor or stays in its room; it goes neither up nor
 * across to another room of the same floor, and a borrowed type counts like any other import.
 */
const FLOORS: readonly (readonly string[])[] = [
  ['kube'],
  ['documents'],
  ['config'],
  ['validation'],
  ['admission', 'workload'],
  ['webhooks'],
  ['reconciler'],
  ['engines', 'coscheduling'],
  ['server', 'tls', 'review'],
  ['cluster'],
  // Above the cluster: what is said of an installation is said by the very rules that it runs by.
  ['insight'],
  // A server for one person, on his own machine, of which nothing that runs in a cluster knows; and what sees as much as
  // insight, and writes.
  ['dashboard', 'uninstall'],
  ['cli'],
  ['main.ts'],
]

/** The rooms within kube/, lower first. */
const KUBE_FLOORS: readonly (readonly string[])[] = [['vocabulary'], ['client', 'cache', 'coordination']]

/** What the deciding code must never reach, not even through others. */
const OUT_OF_REACH = /^(?:server|cluster|tls|cli)\/|^kube\/client\//

describe('imports', () => {
  it.each(FILES)('of %s point downwards', file => {
    const wrong = importsOf(file).filter(({ target }) => target !== undefined && !pointsDown(file, target))
    expect(wrong.map(({ target }) => target)).toEqual([])
  })

  it('go by the floors that docs/architecture.md draws', () => {
    const page = readFileSync(join(SRC, '../docs/architecture.md'), 'utf8')
    const drawn = /```\n(cli\n[\s\S]*?)```/.exec(page)?.[1] ?? ''
    const floors = drawn
      .trim()
      .split('\n')
      .map(line => line.trim().split(/\s+/))
    expect(floors.reverse()).toEqual(FLOORS.filter(rooms => !rooms.includes('main.ts')))
  })

  it('form no circle', () => {
    expect(circles()).toEqual([])
  })

  const deciding = FILES.filter(file => /^(?:webhooks|validation|workload|admission|engines|coscheduling)\//.test(file))
  it.each([...deciding, 'reconciler/decide.ts'])('of %s reach neither the server, nor a client, nor the disk', file => {
    const reached = reachableFrom(file)
    expect([...reached].filter(other => OUT_OF_REACH.test(other))).toEqual([])
    const modules = [...reached].flatMap(importsOf).filter(({ from }) => FORBIDDEN_MODULES.test(from))
    expect(modules.map(({ from }) => from)).toEqual([])
  })
})

function isPure(file: string): boolean {
  return PURE_ROOMS.some(room => file.startsWith(`${room}/`))
}

function pointsDown(file: string, target: string): boolean {
  const [room = '', inner = ''] = file.split('/')
  const [otherRoom = '', otherInner = ''] = target.split('/')
  if (room !== otherRoom) return floorOf(otherRoom, FLOORS) < floorOf(room, FLOORS)
  if (room !== 'kube' || inner === otherInner) return true
  return floorOf(otherInner, KUBE_FLOORS) < floorOf(inner, KUBE_FLOORS)
}

function floorOf(room: string, floors: readonly (readonly string[])[]): number {
  const floor = floors.findIndex(rooms => rooms.includes(room))
  if (floor < 0) throw new Error(`${room} has no floor yet: give it one in this test`)
  return floor
}

/** Files that import each other, be it through others: each as the way back to where it began. */
function circles(): readonly string[] {
  const done = new Set<string>()
  const found: string[] = []
  const walk = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) found.push([...way.slice(way.indexOf(file)), file].join(' -> '))
    if (done.has(file)) return
    done.add(file)
    for (const { target } of importsOf(file)) if (target !== undefined) walk(target, [...way, file])
  }
  for (const file of FILES) walk(file, [])
  return found
}

interface Import {
  readonly from: string
  /** The file below `src`, if it is one of ours. */
  readonly target: string | undefined
  readonly typeOnly: boolean
}

/** Types are erased: what only borrows a type depends on its shape, not on its code. */
function reachableFrom(start: string): ReadonlySet<string> {
  const reached = new Set([start])
  for (const file of reached) {
    for (const { target, typeOnly } of importsOf(file)) if (target !== undefined && !typeOnly) reached.add(target)
  }
  return reached
}

const IMPORT = /^import\b(\s+type\b)?(?:[\s\w{},*$]*?\bfrom)?\s*'([^']+)'/gm
const REEXPORT = /^export\b(\s+type\b)?\s*[{*][\s\w{},*$]*?\bfrom\s*'([^']+)'/gm
const DYNAMIC = /\bimport()\('([^']+)'\)/g

function importsOf(file: string): readonly Import[] {
  const code = codeOf(file)
  const statements = [IMPORT, REEXPORT, DYNAMIC].flatMap(pattern => [...code.matchAll(pattern)])
  return statements.map(([, type, from = '']) => {
    const target = from.startsWith('.') ? join(dirname(file), from) : '..'
    const typeOnly = type !== undefined && type !== ''
    return { from, target: target.startsWith('..') ? undefined : target, typeOnly }
  })
}

/** Comments may name what the code may not. */
function codeOf(file: string): string {
  return readFileSync(join(SRC, file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
}

function sourcesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => relative(SRC, join(entry.parentPath, entry.name)))
    .sort()
}
