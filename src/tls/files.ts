import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { authoritiesIn, inspect, type KeyPair, readPair, type ServingPair } from './authority.ts'
import { type CertificateRecord, currentPair, NAMES, rewritten, storedFacts } from './record.ts'
import { decideRotation, type Rotation } from './rotation.ts'

/** Says whose folder it is. Earlier versions kept the key of their CA there, and that said it. */
const OURS = '.made-by-muster'
const FORMERLY_OURS = 'ca.key'

/** A lock this old belongs to a process that died. */
const LOCK_LIFE_MS = 10_000

export interface CertificateFolder {
  readonly folder: string
  readonly names: readonly string[]
  readonly now: () => number
  readonly log: Logger
}

/**
 * The serving pair that lies in a folder, made or renewed where needed. A folder with a pair and without Muster's mark
 * is somebody else's, a mounted Secret perhaps: it is used as it is, and never written to. Who the clients are is not
 * known, so `ca.crt` is taken for what they trust.
 */
export async function loadOrCreate(options: CertificateFolder): Promise<ServingPair> {
  const present = await look(options)
  if (present.step !== 'keep') {
    await mkdir(options.folder, { recursive: true, mode: 0o700 })
    await withLock(options.folder, async () => {
      // Another process may have done the work while this one waited.
      const { step, record } = await look(options)
      if (step !== 'keep') await takeStep(options, step, record)
    })
  }
  const pair = currentPair((await look(options)).record)
  if (pair === undefined) throw new Error(foreignProblem(options.folder, 'one of them is missing'))
  return pair
}

interface Look {
  readonly step: Rotation['record']
  readonly record: CertificateRecord
}

async function look({ folder, names, now }: CertificateFolder): Promise<Look> {
  const { record, ageMs } = await read(folder, now())
  const authorities = authoritiesIn(record.bundle).map(authority => ({ ...authority, ageMs }))
  const decided = decideRotation(storedFacts(record, names, ageMs), [{ authorities }], now())
  const pair = currentPair(record)
  if (!record.ours && pair !== undefined && !decided.serve) {
    const facts = readPair(pair, names)
    throw new Error(foreignProblem(folder, typeof facts === 'string' ? facts : outOfDate(facts.notAfter)))
  }
  return { step: decided.record, record }
}

async function read(folder: string, now: number): Promise<{ record: CertificateRecord; ageMs: number }> {
  const file = (name: string): string => join(folder, name)
  const [current, next, bundle] = await Promise.all([
    readFiles(folder, NAMES.current),
    readFiles(folder, NAMES.next),
    readText(file(NAMES.bundle)),
  ])
  const marks = await Promise.all([OURS, FORMERLY_OURS].map(name => modified(file(name))))
  const ours = current === undefined || marks.some(mark => mark !== undefined)
  const written = await modified(file(NAMES.bundle))
  // A file is younger than nothing where it was written in this millisecond, or by a clock that is ahead of ours.
  const ageMs = written === undefined ? 0 : Math.max(0, now - written)
  return { record: { ours, current, next, bundle: bundle ?? '' }, ageMs }
}

/** In an order in which a process can be killed anywhere: what is there then is good, or is made again. */
async function takeStep(
  { folder, names, now, log }: CertificateFolder,
  step: Exclude<Rotation['record'], 'keep'>,
  found: CertificateRecord,
): Promise<void> {
  const { current, next, bundle } = await rewritten(found, step, names, now())
  await replace(join(folder, OURS), '', 0o644)
  if (next !== undefined) await writePair(folder, NAMES.next, next)
  if (bundle !== found.bundle) {
    await replace(join(folder, NAMES.bundle), bundle, 0o644)
    log.info({ folder, step }, 'a new CA is made; clients have to trust the new ca.crt')
  }
  if (current !== undefined && current !== found.current) {
    await writePair(folder, NAMES.current, current)
    log.info({ folder, notAfter: new Date(inspect(current.certificate).notAfter).toISOString() }, 'certificate issued')
  }
  const gone = next === undefined ? Object.values(NAMES.next) : []
  await Promise.all([...gone, FORMERLY_OURS].map(name => rm(join(folder, name), { force: true })))
}

const outOfDate = (notAfter: number): string => `not valid today (until ${new Date(notAfter).toISOString()})`

function foreignProblem(folder: string, problem: string): string {
  return `${folder}: tls.crt and tls.key cannot be served: ${problem}. Muster has not made them (there is no ${OURS}), so they are not its to replace: renew them, or empty the folder and let Muster make its own`
}

async function readFiles(folder: string, files: { certificate: string; key: string }): Promise<KeyPair | undefined> {
  const [certificate, key] = await Promise.all([
    readText(join(folder, files.certificate)),
    readText(join(folder, files.key)),
  ])
  return certificate === undefined || key === undefined ? undefined : { certificate, key }
}

async function modified(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).mtimeMs
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** The key first: a reader that comes in between sees a pair that does not match, never a key without protection. */
async function writePair(folder: string, files: { certificate: string; key: string }, pair: KeyPair): Promise<void> {
  await replace(join(folder, files.key), pair.key, 0o600)
  await replace(join(folder, files.certificate), pair.certificate, 0o644)
}

async function replace(file: string, text: string, mode: number): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await writeFile(temporary, text, { mode, flag: 'wx' })
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Two servers started at once must not mix their CAs and leaves: one writes, the other waits and reads. */
async function withLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const lock = join(folder, '.lock')
  for (;;) {
    try {
      await (await open(lock, 'wx', 0o600)).close()
      break
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error
      if (await isStale(lock)) await rm(lock, { force: true })
      else await sleep(20)
    }
  }
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

async function isStale(lock: string): Promise<boolean> {
  const taken = await modified(lock)
  return taken !== undefined && Date.now() - taken > LOCK_LIFE_MS
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
