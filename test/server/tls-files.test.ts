import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inspect, pairProblem, SERVING_NAMES } from '../../src/tls/authority.ts'
import { loadOrCreate } from '../../src/tls/files.ts'
import { issuePair } from '../support/tls.ts'

const DAY = 86_400_000
let folder: string
let logs: Record<string, unknown>[]
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'muster-certs-')), 'certs')
  logs = []
})
afterEach(async () => await rm(join(folder, '..'), { recursive: true }))

const load = (now = Date.now(), names = SERVING_NAMES) =>
  loadOrCreate({ folder, names, now: () => now, log: pino({}, { write: line => logs.push(JSON.parse(line)) }) })
const mode = async (file: string) => (await stat(join(folder, file))).mode & 0o777

describe('the certificate folder', () => {
  it('is made with keys that only the owner reads, and nothing else in it', async () => {
    const pair = await load()
    expect(pairProblem(pair, SERVING_NAMES, Date.now())).toBeUndefined()
    expect((await readdir(folder)).sort()).toEqual(['.made-by-muster', 'ca.crt', 'tls.crt', 'tls.key'])
    expect(await mode('tls.key')).toBe(0o600)
    expect(await readFile(join(folder, 'ca.crt'), 'utf8')).toBe(pair.bundle)
  })

  it('is used as it is when it is good', async () => {
    const first = await load()
    logs = []
    expect(await load()).toEqual(first)
    expect(logs).toEqual([])
  })

  it('gives the same pair to servers that start at once', async () => {
    const pairs = await Promise.all(Array.from({ length: 6 }, () => load()))
    expect(new Set(pairs.map(pair => pair.certificate)).size).toBe(1)
    expect(pairProblem(pairs[0] ?? (await load()), SERVING_NAMES, Date.now())).toBeUndefined()
    expect(await readdir(folder)).not.toContain('.lock')
  })

  it('does not wait for a server that died while it held the lock', async () => {
    await load()
    await rm(join(folder, 'tls.crt'))
    await writeFile(join(folder, '.lock'), '')
    const old = new Date(Date.now() - 60_000)
    await utimes(join(folder, '.lock'), old, old)
    expect(pairProblem(await load(), SERVING_NAMES, Date.now())).toBeUndefined()
  })

  it.each([
    ['is missing', () => rm(join(folder, 'tls.crt'))],
    ['is corrupt', () => writeFile(join(folder, 'tls.crt'), 'garbage')],
    ['lost its key', () => writeFile(join(folder, 'tls.key'), 'garbage')],
    ['belongs to another CA', async () => await writePair(await issuePair())],
    ['has a CA that cannot be read', () => writeFile(join(folder, 'ca.crt'), 'garbage')],
  ])('gets everything new, and says so, when the leaf %s', async (_what, damage) => {
    const first = await load()
    await damage()
    logs = []
    const second = await load()
    expect(second.certificate).not.toBe(first.certificate)
    expect(pairProblem(second, SERVING_NAMES, Date.now())).toBeUndefined()
    expect(logs[0]).toMatchObject({ msg: 'a new CA is made; clients have to trust the new ca.crt' })
  })

  it('announces a new CA when a third of the life is left, serves it after that, and forgets the old one', async () => {
    const now = Date.now()
    const first = await load(now)
    expect(await load(now + 19 * DAY)).toEqual(first)
    const [announced, next] = [await load(now + 21 * DAY), join(folder, 'next.crt')]
    expect(announced.certificate).toBe(first.certificate)
    expect(announced.bundle).toContain(first.bundle.trim())
    expect(announced.bundle).not.toBe(first.bundle)
    expect(await mode('next.key')).toBe(0o600)
    const coming = await readFile(next, 'utf8')
    const second = await load(now + 21 * DAY)
    expect(second).toMatchObject({ certificate: coming, bundle: announced.bundle })
    expect(await readdir(folder)).not.toContain('next.crt')
    expect(pairProblem(second, SERVING_NAMES, now + 21 * DAY)).toBeUndefined()
    await load(now + 50 * DAY)
    expect((await load(now + 50 * DAY)).bundle).not.toContain(first.bundle.trim())
  })

  it('goes on where a process was killed between two files', async () => {
    const now = Date.now()
    const first = await load(now)
    await load(now + 21 * DAY)
    // The key of the next pair is in place, its certificate is not.
    await writeFile(join(folder, 'tls.key'), await readFile(join(folder, 'next.key')))
    const coming = await readFile(join(folder, 'next.crt'), 'utf8')
    expect((await load(now + 21 * DAY)).certificate).toBe(coming)
    expect(coming).not.toBe(first.certificate)
  })

  it('gets a new leaf when a name is missing', async () => {
    await load()
    const named = await load(Date.now(), [...SERVING_NAMES, 'muster.example'])
    expect(inspect(named.certificate).names).toContain('muster.example')
  })

  it('of an earlier version is taken over, without the key of its CA', async () => {
    const first = await load()
    await rm(join(folder, '.made-by-muster'))
    await writeFile(join(folder, 'ca.key'), 'a key')
    expect(await load()).toEqual(first)
    await load(Date.now() + 21 * DAY)
    expect((await readdir(folder)).sort()).toEqual(
      ['.made-by-muster', 'ca.crt', 'next.crt', 'next.key', 'tls.crt', 'tls.key'].sort(),
    )
  })

  it('is not written to when the pair in it is somebody else\u2019s', async () => {
    const pair = await issuePair()
    await load()
    await rm(join(folder, '.made-by-muster'))
    await writePair(pair)
    await writeFile(join(folder, 'ca.crt'), pair.bundle)
    expect(await load()).toEqual(pair)
    await expect(load(Date.now() + 31 * DAY)).rejects.toThrow(/cannot be served: not valid today .* not its to replace/)
    expect(await readFile(join(folder, 'tls.crt'), 'utf8')).toBe(pair.certificate)
  })
})

describe('a folder that a clock ahead of ours has written', () => {
  it.each(['ours', 'somebody else\u2019s'])('is served all the same: %s', async whose => {
    const pair = whose === 'ours' ? await load() : await issuePair()
    if (whose !== 'ours') {
      await mkdir(folder)
      await writePair(pair)
      await writeFile(join(folder, 'ca.crt'), pair.bundle)
    }
    const ahead = new Date(Date.now() + 60_000)
    await utimes(join(folder, 'ca.crt'), ahead, ahead)
    expect(await load()).toEqual(pair)
  })
})

async function writePair(pair: { certificate: string; key: string }): Promise<void> {
  await writeFile(join(folder, 'tls.crt'), pair.certificate)
  await writeFile(join(folder, 'tls.key'), pair.key)
}
