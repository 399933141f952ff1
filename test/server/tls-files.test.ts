import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
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
    expect((await readdir(folder)).sort()).toEqual(['ca.crt', 'ca.key', 'tls.crt', 'tls.key'])
    expect([await mode('ca.key'), await mode('tls.key')]).toEqual([0o600, 0o600])
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
  ])('gets a new leaf from the same CA when the leaf %s', async (_what, damage) => {
    const first = await load()
    await damage()
    const second = await load()
    expect(second.bundle).toBe(first.bundle)
    expect(second.certificate).not.toBe(first.certificate)
    expect(pairProblem(second, SERVING_NAMES, Date.now())).toBeUndefined()
  })

  it('gets a new leaf when a third of its life is left or a name is missing', async () => {
    const now = Date.now()
    const first = await load(now)
    expect((await load(now + 19 * DAY)).certificate).toBe(first.certificate)
    const second = await load(now + 21 * DAY)
    expect(second.certificate).not.toBe(first.certificate)
    expect(second.bundle).toBe(first.bundle)
    const named = await load(now + 21 * DAY, [...SERVING_NAMES, 'muster.example'])
    expect(inspect(named.certificate).names).toContain('muster.example')
    expect(named.bundle).toBe(first.bundle)
  })

  it.each([
    ['expires soon', 300 * DAY, async () => {}],
    ['cannot be read', 0, async () => await writeFile(join(folder, 'ca.crt'), 'garbage')],
    ['lost its key', 0, async () => await writeFile(join(folder, 'ca.key'), 'garbage')],
  ])('gets everything new, and says so, when the CA %s', async (_what, later, damage) => {
    const first = await load()
    await damage()
    logs = []
    const second = await load(Date.now() + later)
    expect(second.bundle).not.toBe(first.bundle)
    expect(pairProblem(second, SERVING_NAMES, Date.now() + later)).toBeUndefined()
    expect(logs[0]).toMatchObject({ msg: 'a new CA is made; clients have to trust the new ca.crt' })
  })

  it('is not written to when the pair in it is somebody else\u2019s', async () => {
    const pair = await issuePair()
    await load()
    await rm(join(folder, 'ca.key'))
    await writePair(pair)
    await writeFile(join(folder, 'ca.crt'), pair.bundle)
    expect(await load()).toEqual(pair)
    await expect(load(Date.now() + 31 * DAY)).rejects.toThrow(/cannot be served: the certificate expired .* no ca\.key/)
    expect(await readFile(join(folder, 'tls.crt'), 'utf8')).toBe(pair.certificate)
  })
})

async function writePair(pair: { certificate: string; key: string }): Promise<void> {
  await writeFile(join(folder, 'tls.crt'), pair.certificate)
  await writeFile(join(folder, 'tls.key'), pair.key)
}
