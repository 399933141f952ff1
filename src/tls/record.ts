import { authoritiesIn, bundleOf, issuePair, type KeyPair, readPair, type ServingPair } from './authority.ts'
import { type PairFacts, type Rotation, type Stored, stillTrusted } from './rotation.ts'

/** What a folder or a Secret holds. Both keep the same things under the same names. */
export interface CertificateRecord {
  /** Whether Muster made it, and may write it. */
  readonly ours: boolean
  readonly current: KeyPair | undefined
  readonly next: KeyPair | undefined
  /** The CA certificates of both, and those of pairs that may still be in use somewhere. */
  readonly bundle: string
}

/** File names in a folder, keys in a Secret. `cert-manager` writes the first three. */
export const NAMES = {
  bundle: 'ca.crt',
  current: { certificate: 'tls.crt', key: 'tls.key' },
  next: { certificate: 'next.crt', key: 'next.key' },
} as const

/** There is nothing yet, and whoever comes first makes it. */
export const NOTHING: CertificateRecord = { ours: true, current: undefined, next: undefined, bundle: '' }

export function storedFacts(record: CertificateRecord, names: readonly string[], ageMs: number): Stored {
  const facts = (pair: KeyPair | undefined): PairFacts | undefined => {
    const found = pair && readPair({ ...pair, bundle: record.bundle }, names)
    return typeof found === 'object' ? found : undefined
  }
  return {
    ours: record.ours,
    current: facts(record.current),
    next: facts(record.next),
    authorities: authoritiesIn(record.bundle),
    ageMs,
  }
}

/** The pair that every replica is to serve, whether it can be served or not. */
export function currentPair({ current, bundle }: CertificateRecord): ServingPair | undefined {
  return current && { ...current, bundle }
}

/** The record after a step. */
export async function rewritten(
  record: CertificateRecord,
  step: Exclude<Rotation['record'], 'keep'>,
  names: readonly string[],
  now: number,
): Promise<CertificateRecord> {
  if (step === 'promote') return { ...record, current: record.next, next: undefined }
  const { bundle, ...pair } = await issuePair(names, now)
  const trusted = bundleOf([...authoritiesIn(bundle), ...stillTrusted(storedFacts(record, names, 0), now)])
  if (step === 'issue') return { ...record, current: pair, next: undefined, bundle: trusted }
  return { ...record, next: pair, bundle: trusted }
}
