import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'

/**
 * A scheduling block with known keys only, in one order, without nulls: what is left after the API server has decoded
 * it into its types. The values may still be of the wrong type; the schemas find that.
 */
export interface RawBlock {
  readonly schedulingPolicy?: unknown
  readonly schedulingConstraints?: unknown
  readonly disruptionMode?: unknown
  readonly resourceClaims?: unknown
}

type Holder = 'block' | 'policy' | 'disruption' | 'part'

export interface StrayKey {
  /** Its path, and the path of the object that holds it. */
  readonly field: string
  readonly parent: string
  readonly key: string
  readonly holder: Holder
  /** The keys that its place does have. */
  readonly known: readonly string[]
  readonly value: unknown
}

/** Enough to see what is going on; a manifest with a thousand unknown keys is no manifest. */
const MAX_STRAYS = 16
/** No list of a block may have more than four items: what comes after these is counted and not looked at. */
export const MAX_ITEMS = 16

const POLICY_KEYS: ReadonlySet<string> = new Set(['basic', 'gang'])
const GANG_KEYS: ReadonlySet<string> = new Set(['minCount'])
const CONSTRAINT_KEYS: ReadonlySet<string> = new Set(['topology'])
const TOPOLOGY_KEYS: ReadonlySet<string> = new Set(['key', 'level'])
const DISRUPTION_KEYS: ReadonlySet<string> = new Set(['single', 'all'])
const CLAIM_KEYS: ReadonlySet<string> = new Set(['name', 'resourceClaimName', 'resourceClaimTemplateName'])
const NO_KEYS: ReadonlySet<string> = new Set()

/**
 * The functions below copy the known parts of a block and collect the unknown keys they meet in `found`. Go decides
 * what counts as there: null and an empty list are absent, an empty string is absent where the Go field is no pointer.
 */
export function collectStrays(
  value: Fields,
  at: string,
  holder: Holder,
  known: ReadonlySet<string>,
  found: StrayKey[],
): void {
  for (const key in value) {
    if (known.has(key) || value[key] === null || !Object.hasOwn(value, key)) continue
    if (found.length >= MAX_STRAYS) return
    found.push({ field: childPath(at, key), parent: at, key, holder, known: [...known], value: value[key] })
  }
}

/** A key that would not read as part of a path stands in brackets, as the keys of maps do. */
function childPath(at: string, key: string): string {
  if (/^[\w-]{1,63}$/.test(key)) return `${at}.${key}`
  return `${at}[${shortened(key)}]`
}

export const shortened = (text: string): string => (text.length > 63 ? `${text.slice(0, 60).toWellFormed()}...` : text)

export function policyTree(value: unknown, at: string, found: StrayKey[]): unknown {
  return object(value, at, 'policy', POLICY_KEYS, found, ({ basic, gang }) => ({
    basic: empty(basic, `${at}.basic`, found),
    gang: object(gang, `${at}.gang`, 'part', GANG_KEYS, found, ({ minCount }) => ({ minCount })),
  }))
}

export function constraintsTree(
  value: unknown,
  at: string,
  found: StrayKey[],
  keyOf: (entry: Fields, at: string) => unknown,
): unknown {
  return object(value, at, 'part', CONSTRAINT_KEYS, found, ({ topology }) => ({
    topology: list(topology, `${at}.topology`, (entry, place) =>
      object(entry, place, 'part', TOPOLOGY_KEYS, found, fields => ({ key: nonEmpty(keyOf(fields, place)) })),
    ),
  }))
}

export function disruptionTree(value: unknown, at: string, found: StrayKey[]): unknown {
  return object(value, at, 'disruption', DISRUPTION_KEYS, found, ({ single, all }) => ({
    single: empty(single, `${at}.single`, found),
    all: empty(all, `${at}.all`, found),
  }))
}

export function claimsTree(value: unknown, at: string, found: StrayKey[]): unknown {
  return list(value, at, (claim, place) =>
    object(claim, place, 'part', CLAIM_KEYS, found, ({ name, resourceClaimName, resourceClaimTemplateName }) => ({
      name: nonEmpty(name),
      resourceClaimName,
      resourceClaimTemplateName,
    })),
  )
}

const empty = (value: unknown, at: string, found: StrayKey[]): unknown =>
  object(value, at, 'part', NO_KEYS, found, () => ({}))

function object(
  value: unknown,
  at: string,
  holder: Holder,
  known: ReadonlySet<string>,
  found: StrayKey[],
  copy: (fields: Fields) => Fields,
): unknown {
  if (value === null || value === undefined) return undefined
  if (!isObject(value)) return value
  collectStrays(value, at, holder, known, found)
  return withoutAbsent(copy(value))
}

function list(value: unknown, at: string, copy: (item: unknown, at: string) => unknown): unknown {
  if (value === null || value === undefined) return undefined
  if (!Array.isArray(value)) return value
  if (value.length === 0) return undefined
  return value.map((item, index) => (index < MAX_ITEMS ? copy(item ?? {}, `${at}[${index}]`) : item))
}

const nonEmpty = (value: unknown): unknown => (value === '' ? undefined : value)

function withoutAbsent(fields: Fields): Fields {
  const kept: Record<string, unknown> = {}
  for (const key in fields) if (fields[key] !== undefined && fields[key] !== null) kept[key] = fields[key]
  return kept
}

/** Semantic equality of two trees: what counts as absent has been left out of both. */
export function sameTree(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.hasOwn(b, key) && sameTree((a as Fields)[key], (b as Fields)[key]))
  )
}
