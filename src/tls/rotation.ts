/** A CA certificate, as far as a decision needs it. */
export interface Authority {
  readonly fingerprint: string
  readonly notAfter: number
  /** PEM. */
  readonly certificate: string
}

/** A certificate whose key fits and which names whom it has to: who signed it, and when a client accepts both. */
export interface PairFacts {
  readonly authority: Authority
  readonly notBefore: number
  readonly notAfter: number
}

/** What lies in the folder or in the Secret. */
export interface Stored {
  /** Whether Muster made it, and may write it. Somebody else's is served as it is. */
  readonly ours: boolean
  /** The pair for every replica to serve. Undefined if there is none that a client would accept on any day. */
  readonly current: PairFacts | undefined
  /** The pair that comes after it: announced, and served by nobody yet. */
  readonly next: PairFacts | undefined
  /** Whom clients shall trust, the newest first. */
  readonly authorities: readonly Authority[]
  /** For how long this process has seen exactly these authorities in it. */
  readonly ageMs: number
}

/** One place by which clients judge us: an entry of a webhook configuration, or the `ca.crt` of a folder. */
export interface InstalledBundle {
  /** Each with the time for which this process has seen it there. */
  readonly authorities: readonly (Authority & { readonly ageMs: number })[]
}

/** What is to be done now. Each of the three is safe to be done twice, by two replicas, or not at all this time. */
export interface Rotation {
  /**
   * What becomes of the record: a pair is `issue`d in place of one that is of no use, `announce`d as the next one, or
   * the next one is `promote`d.
   */
  readonly record: 'keep' | 'issue' | 'announce' | 'promote'
  /** What every bundle has to hold; undefined where they all do, and hold nothing else. */
  readonly publish: readonly Authority[] | undefined
  /** Whether the current pair of the record may be served now. */
  readonly serve: boolean
}

/** For how long a certificate of Muster is valid, and its authority with it. */
export const LIFE_MS = 30 * 86_400_000

/** By then every API server of a cluster has read a webhook configuration that was written: they say "a few seconds". */
export const SPREAD_MS = 10_000

/**
 * For how long a CA that nothing in the record explains stays in the bundles. Until then every replica that lives has
 * heard of the record, by its watch or by the look that it takes each minute, and serves nothing of that CA any more.
 */
export const LEFTOVER_MS = 600_000

/**
 * The one rule before all others: a certificate is served only after every installed bundle trusts who signed it. So a
 * new authority goes through phases, and which one it is in is read off what is there, never remembered:
 *
 * 1. announced: the record has a next pair, and its authority beside the old one;
 * 2. published: every bundle has both;
 * 3. promoted: every API server knows that, and the next pair becomes the current one, which each replica serves when
 *    the bundles that it sees itself trust it;
 * 4. the old authority leaves record and bundles when it expires. It has signed one certificate, which expires with it:
 *    by then that one is out of use, whoever had it.
 *
 * `installed` is undefined as long as nobody has read the bundles: then nothing is known to be trusted.
 */
export function decideRotation(
  stored: Stored,
  installed: readonly InstalledBundle[] | undefined,
  now: number,
  served?: PairFacts,
): Rotation {
  const trusted = (pair: PairFacts, ms: number): boolean => installed?.every(trusts(pair, ms)) ?? false
  const { current } = stored
  // Who has nothing better to offer waits for no API server.
  const patience = served !== undefined && isValid(served, now) && trusted(served, 0) ? SPREAD_MS : 0
  return {
    record: stored.ours ? recordStep(stored, now, pair => trusted(pair, SPREAD_MS)) : 'keep',
    publish: installed && published(stored, installed, now, served),
    serve: current !== undefined && isValid(current, now) && trusted(current, patience),
  }
}

function recordStep(
  { current, next }: Stored,
  now: number,
  isSpread: (pair: PairFacts) => boolean,
): Rotation['record'] {
  const successor = next !== undefined && isValid(next, now) ? next : undefined
  if (current === undefined || !isValid(current, now)) return successor === undefined ? 'issue' : 'promote'
  if (!isDue(current, now)) return 'keep'
  if (successor === undefined || isDue(successor, now)) return 'announce'
  return isSpread(successor) ? 'promote' : 'keep'
}

/**
 * The authorities of the record, that of what is served here, and leftovers: what stands in a bundle and not in the
 * record may be another replica's, which has read a newer record or not yet read this one.
 */
function published(
  { authorities, ageMs }: Stored,
  installed: readonly InstalledBundle[],
  now: number,
  served: PairFacts | undefined,
): readonly Authority[] | undefined {
  const found = installed.flatMap(bundle => bundle.authorities)
  const isYoung = ({ fingerprint }: Authority): boolean =>
    Math.max(...found.filter(other => other.fingerprint === fingerprint).map(other => other.ageMs)) < LEFTOVER_MS
  const leftovers = found.filter(authority => ageMs < LEFTOVER_MS || isYoung(authority))
  const wanted = new Map<string, Authority>()
  for (const authority of [...authorities, ...(served === undefined ? [] : [served.authority]), ...leftovers]) {
    if (now < authority.notAfter && !wanted.has(authority.fingerprint)) wanted.set(authority.fingerprint, authority)
  }
  const holds = (bundle: InstalledBundle): boolean => {
    const present = new Set(bundle.authorities.map(({ fingerprint }) => fingerprint))
    return present.size === wanted.size && [...wanted.keys()].every(fingerprint => present.has(fingerprint))
  }
  // With nothing to trust there is nothing to write: a bundle of somebody else is no worse than an empty one.
  return wanted.size === 0 || installed.every(holds) ? undefined : [...wanted.values()]
}

/**
 * What a record still has to trust when a new authority joins it. One of ours ends with its one certificate. One that
 * lives longer, because somebody else has put it there, leaves when it has not signed what is served today: with every
 * renewal the bundle forgets whom nobody needs.
 */
export function stillTrusted(
  { current, authorities }: Pick<Stored, 'current' | 'authorities'>,
  now: number,
): readonly Authority[] {
  const isNeeded = ({ fingerprint, notAfter }: Authority): boolean =>
    current === undefined || fingerprint === current.authority.fingerprint || notAfter <= now + LIFE_MS
  return authorities.filter(authority => now < authority.notAfter && isNeeded(authority))
}

function trusts({ authority }: PairFacts, ms: number): (bundle: InstalledBundle) => boolean {
  return ({ authorities }) =>
    authorities.some(({ fingerprint, ageMs }) => fingerprint === authority.fingerprint && ageMs >= ms)
}

const isValid = ({ notBefore, notAfter }: PairFacts, now: number): boolean => notBefore <= now && now < notAfter

/** Certificates are renewed when a third of their life is left: the rest is time for people to notice a failure. */
export const isDue = ({ notBefore, notAfter }: Pick<PairFacts, 'notBefore' | 'notAfter'>, now: number): boolean =>
  now >= notAfter - (notAfter - notBefore) / 3
