import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { readDocuments } from '../../src/documents/documents.ts'
import { tallyOf } from '../support/tally.ts'
import { cacheFolder } from './programs/catalog.ts'

/**
 * kubectl reads YAML with sigs.k8s.io/yaml. What Muster makes of a document must be what kubectl makes of it, or Muster
 * must refuse it: a review of something else than what is applied is worth nothing.
 */
const MUTATIONS = Number(process.env.MUSTER_YAML_MUTATIONS ?? 40_000)
const root = fileURLToPath(new URL('../..', import.meta.url))
const sources = join(root, 'test/cluster/programs/yaml')

let program = ''
beforeAll(() => {
  const hash = createHash('sha256')
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(sources, file)))
  const folder = join(cacheFolder(process.env), 'programs', `yaml-${hash.digest('hex').slice(0, 12)}`)
  program = join(folder, 'yaml')
  if (existsSync(program)) return
  mkdirSync(folder, { recursive: true })
  const temporary = `${program}.${process.pid}.tmp`
  const build = spawnSync('go', ['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-o', temporary, '.'], {
    cwd: sources,
    encoding: 'utf8',
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
  })
  if (build.status !== 0) throw new Error(build.stderr)
  renameSync(temporary, program)
}, 600_000)

interface Said {
  readonly json?: string
  readonly error?: string
}

async function kubectl(texts: readonly string[]): Promise<readonly Said[]> {
  const child = spawn(program)
  const chunks: Buffer[] = []
  child.stdout.on('data', chunk => chunks.push(chunk))
  const ended = once(child.stdout, 'close')
  for (const text of texts) if (!child.stdin.write(`${JSON.stringify(text)}\n`)) await once(child.stdin, 'drain')
  child.stdin.end()
  await ended
  const lines = Buffer.concat(chunks).toString().trimEnd().split('\n')
  return lines.map(line => JSON.parse(line))
}

/** The first document, or why it cannot be read: of several in one text kubectl takes only the first. */
function muster(text: string): Said & { readonly value?: unknown } {
  const [read] = readDocuments(text, 'a.yaml')
  if (read === undefined) return { json: 'null', value: null }
  return 'message' in read ? { error: read.message } : { json: canonical(read.value), value: read.value }
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )

/** Documents of which both make something, and something else; of what is no object nothing is reviewed. */
function disagreement(text: string, theirs: Said): string | undefined {
  const ours = muster(text)
  if (theirs.json === undefined || ours.json === undefined) return undefined
  const wanted = JSON.parse(theirs.json)
  if (typeof wanted !== 'object' || wanted === null) return undefined
  if (ours.json === canonical(wanted)) return undefined
  return `${JSON.stringify(text)}\n  kubectl: ${theirs.json}\n  muster:  ${ours.json}`
}

function yamlIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => /\.ya?ml$/.test(file))
    .map(file => readFileSync(join(folder, file), 'utf8'))
}

/** The trees that are there: our own, and those of the programs that the cluster tests are built from. */
const trees = [
  ...['manifests', 'examples', 'test/cluster'].map(folder => join(root, folder)),
  join(cacheFolder(process.env), 'programs'),
].filter(existsSync)
const documents = trees
  .flatMap(yamlIn)
  .flatMap(text => text.split(/^---(?=[ \t\r\n]|$)/m))
  .filter(text => text.trim() !== '' && text.length < 200_000)

describe('a document', () => {
  it('of a real tree means what it means to kubectl', async () => {
    expect(documents.length).toBeGreaterThan(30)
    const said = await kubectl(documents)
    expect(documents.flatMap((text, index) => disagreement(text, said[index] ?? {}) ?? [])).toEqual([])
    const refused = documents.filter(
      (text, index) => said[index]?.json !== undefined && muster(text).error !== undefined,
    )
    expect(refused).toEqual([])
  })

  it('that is mutated means what it means to kubectl, or is refused', async () => {
    const bases = documents.filter(text => text.length < 3_000)
    const random = mulberry32(20_261_118)
    const texts = Array.from({ length: MUTATIONS }, () => mutated(bases[random(bases.length)] ?? '', random))
    const said = await kubectl(texts)
    const tried = tallyOf('read by both', 'refused by both', 'refused by Muster alone', 'refused by kubectl alone')
    const found: string[] = []
    for (const [index, text] of texts.entries()) {
      const theirs = said[index] ?? {}
      const ours = muster(text)
      const reads = [theirs.json !== undefined, ours.json !== undefined] as const
      if (reads[0] && reads[1]) tried.count('read by both')
      else if (reads[0]) tried.count('refused by Muster alone')
      else tried.count(reads[1] ? 'refused by kubectl alone' : 'refused by both')
      const problem = disagreement(text, theirs)
      if (problem !== undefined) found.push(problem)
    }
    expect(found).toEqual([])
    tried.expectAll()
  }, 600_000)

  it.each([
    ['a key that is there twice', 'a: 1\na: 2\n', 'is there twice'],
    ['a tag that means nothing here', 'a: !x b\n', 'is not understood here'],
    ['a line end that nobody sees', 'a: b\u2028c: d\n', 'nobody sees'],
    ['something behind the document', ' a: b\nc: d\n', 'is not valid YAML'],
  ])('is refused, though kubectl takes it, because of %s', async (_what, text, why) => {
    const [theirs] = await kubectl([text])
    expect(theirs?.json).toBeDefined()
    expect(muster(text).error).toContain(why)
  })
})

const PIECES = [
  ...' \n:-#"\'[]{},|>&*!?%~.<0e_\\a\t',
  ...['- ', ': ', ' #', '\n  ', '\n- ', '|\n', '>-\n', '---', '...\n', '<<: ', '   \n', '\r\n', "\\'", 'on: ', '1: '],
  ...['0x1F', '1e3', 'yes', '012345678901234567890', '\u0085', '\u2028', '\ufeff', '"\n', "'\n"],
]

function mutated(base: string, random: (below: number) => number): string {
  let text = base
  for (let edits = random(3) + 1; edits > 0; edits--) {
    const at = random(text.length + 1)
    text = text.slice(0, at) + (PIECES[random(PIECES.length)] ?? '') + text.slice(at + random(3))
  }
  return text
}

/** Small and good enough; the same documents on every run. */
function mulberry32(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}
