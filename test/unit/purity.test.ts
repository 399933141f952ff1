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

const PURE_FOLDERS = ['reconciler', 'engines', 'workload', 'webhooks', 'validation', 'admission']
const PURE_KUBE = ['informer', 'reflector', 'store', 'work-queue', 'elector', 'events', 'backoff']

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
    for (const folder of PURE_FOLDERS) expect(pure.some(file => file.startsWith(`${folder}/`))).toBe(true)
    for (const name of PURE_KUBE) expect(pure).toContain(`kube/${name}.ts`)
  })

  it.each(pure)('%s reads no clock, no chance and no process but through its ports', file => {
    const code = codeOf(file)
    expect(FORBIDDEN.filter(([, pattern]) => pattern.test(code)).map(([what]) => what)).toEqual([])
  })

  it.each(pure)('%s opens no file and no socket', file => {
    expect(importsOf(file).filter(({ from }) => FORBIDDEN_MODULES.test(from))).toEqual([])
  })
})

const FOUNDATIONS = ['names.ts', 'logging.ts', 'json-text.ts', 'kube']

/** Lower rooms first: the code that decides, what runs around it, the commands. Imports go down or stay. */
const FLOORS: readonly (readonly string[])[] = [
  [...FOUNDATIONS, 'config', 'validation', 'admission', 'workload', 'webhooks', 'engines', 'reconciler'],
  ['review', 'server', 'tls', 'cluster'],
  ['cli'],
  ['main.ts'],
]

/** What the deciding code must never reach, not even through others. */
const OUT_OF_REACH =
  /^(?:server|cluster|tls|cli)\/|^kube\/(?:client|transport|credentials|kubeconfig|watch-stream)\.ts$/

describe('imports', () => {
  it.each(FILES)('of %s point downwards', file => {
    const floor = floorOf(file)
    const upwards = importsOf(file).filter(({ target }) => target !== undefined && floorOf(target) > floor)
    expect(upwards.map(({ from }) => from)).toEqual([])
  })

  const deciding = FILES.filter(file => /^(?:webhooks|validation|workload|admission)\//.test(file))
  it.each([...deciding, 'reconciler/decide.ts'])('of %s reach neither the server, nor a client, nor the disk', file => {
    const reached = reachableFrom(file)
    expect([...reached].filter(other => OUT_OF_REACH.test(other))).toEqual([])
    const modules = [...reached].flatMap(importsOf).filter(({ from }) => FORBIDDEN_MODULES.test(from))
    expect(modules.map(({ from }) => from)).toEqual([])
  })
})

function isPure(file: string): boolean {
  return (
    PURE_FOLDERS.some(folder => file.startsWith(`${folder}/`)) || PURE_KUBE.some(name => file === `kube/${name}.ts`)
  )
}

function floorOf(file: string): number {
  const [room = ''] = file.split('/')
  const floor = FLOORS.findIndex(rooms => rooms.includes(room))
  if (floor < 0) throw new Error(`${room} has no floor yet: give it one in this test`)
  return floor
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
