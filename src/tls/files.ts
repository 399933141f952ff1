import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { inspect, isDue, issueAuthority, issueLeaf, type KeyPair, pairProblem, type ServingPair } from './authority.ts'

const AUTHORITY = { certificate: 'ca.crt', key: 'ca.key' }
const LEAF = { certificate: 'tls.crt', key: 'tls.key' }

/** A lock this old belongs to a process that died. */
const LOCK_LIFE_MS = 10_000

export interface CertificateFolder {
  readonly folder: string
  readonly names: readonly string[]
  readonly now: () => number
  readonly log: Logger
}

/**
 * The serving pair that lies in a folder (ca.crt, ca.key, tls.crt, tls.key), made or renewed where needed.
 * A folder with a pair but without ca.key is somebody else's, a mounted Secret perhaps: it is used as it is,
 * and never written to.
 */
export async function loadOrCreate(options: CertificateFolder): Promise<ServingPair> {
  const present = await read(options)
  if (present.kind === 'good') return present.pair
  if (present.kind === 'foreign') throw new Error(foreignProblem(options.folder, present.problem))
  await mkdir(options.folder, { recursive: true, mode: 0o700 })
  return await withLock(options.folder, async () => {
    // Another process may have done the work while this one waited.
    const again = await read(options)
    return again.kind === 'good' ? again.pair : await renew(options)
  })
}

type Present =
  | { readonly kind: 'good'; readonly pair: ServingPair }
  | { readonly kind: 'due' }
  | { readonly kind: 'foreign'; readonly problem: string }

async function read({ folder, names, now }: CertificateFolder): Promise<Present> {
  const authority = await readPair(folder, AUTHORITY)
  const leaf = await readPair(folder, LEAF)
  if (leaf.certificate === undefined || leaf.key === undefined) return { kind: 'due' }
  const pair = { certificate: leaf.certificate, key: leaf.key, bundle: authority.certificate ?? '' }
  const problem = pairProblem(pair, names, now())
  if (authority.key === undefined) return problem === undefined ? { kind: 'good', pair } : { kind: 'foreign', problem }
  const due =
    problem !== undefined || isDue(pair.certificate, now()) || authorityProblem(authority, now()) !== undefined
  return due ? { kind: 'due' } : { kind: 'good', pair }
}

async function renew({ folder, names, now, log }: CertificateFolder): Promise<ServingPair> {
  const found = await readPair(folder, AUTHORITY)
  const problem = authorityProblem(found, now())
  let authority: KeyPair
  if (problem === undefined && found.certificate !== undefined && found.key !== undefined) {
    authority = { certificate: found.certificate, key: found.key }
  } else {
    log.info({ folder, reason: problem }, 'a new CA is made; clients have to trust the new ca.crt')
    authority = await issueAuthority(now())
    await writePair(folder, AUTHORITY, authority)
  }
  const leaf = await issueLeaf(authority, names, now())
  await writePair(folder, LEAF, leaf)
  log.info({ folder, notAfter: new Date(inspect(leaf.certificate).notAfter).toISOString() }, 'certificate issued')
  return { ...leaf, bundle: authority.certificate }
}

function authorityProblem(authority: Partial<KeyPair>, now: number): string | undefined {
  if (authority.certificate === undefined || authority.key === undefined) return 'there is none yet'
  // A CA is its own leaf for this purpose: the key fits, it has signed itself, the dates hold.
  const pair = { certificate: authority.certificate, key: authority.key, bundle: authority.certificate }
  return pairProblem(pair, [], now) ?? (isDue(authority.certificate, now) ? 'the old one expires soon' : undefined)
}

function foreignProblem(folder: string, problem: string): string {
  return `${folder}: tls.crt and tls.key cannot be served: ${problem}. There is no ca.key, so they are not Muster's to replace: renew them, or empty the folder and let Muster make its own`
}

async function readPair(folder: string, files: { certificate: string; key: string }): Promise<Partial<KeyPair>> {
  const [certificate, key] = await Promise.all([
    readText(join(folder, files.certificate)),
    readText(join(folder, files.key)),
  ])
  return { certificate, key }
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
  try {
    return Date.now() - (await stat(lock)).mtimeMs > LOCK_LIFE_MS
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false
    throw error
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
