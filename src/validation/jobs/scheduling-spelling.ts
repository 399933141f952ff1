import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { type FieldError, forbidden, invalid } from '../field-error.ts'
import {
  claimsTree,
  collectStrays,
  constraintsTree,
  disruptionTree,
  policyTree,
  type RawBlock,
  type StrayKey,
} from './scheduling-tree.ts'

/**
 * One scheduling block as a person wrote it, in the names of Kubernetes 1.37. `paths` leads back to the names that
 * were written, because an error about a field that is nowhere in the manifest helps nobody.
 */
export interface WrittenBlock {
  readonly model: RawBlock
  readonly paths: BlockPaths
  /** Keys that no building block has: an option of the future, or a typing mistake. */
  readonly stray: readonly StrayKey[]
  /** What is wrong with the writing itself: no object, or two names for one thing. */
  readonly errors: readonly FieldError[]
  /** Paths with the names of KEP-6089, which no API server ever understood. */
  readonly kepPaths: readonly string[]
}

export interface BlockPaths {
  readonly block: string
  readonly policy: string
  readonly minCount: string
  readonly constraints: string
  readonly topology: string
  readonly topologyKey: (index: number) => string
  readonly disruption: string
  readonly claims: string
  /** What to say of a required field that is missing, when its value stands under another name. */
  readonly hints: ReadonlyMap<string, string>
}

/** A field of the block: the shipped name first, then what KEP-6089 calls it. */
const NAMES = {
  policy: ['schedulingPolicy', 'policy'],
  constraints: ['schedulingConstraints', 'constraints'],
  // The Go types of the KEP say `disruptionMode`, its first example says `disruption`.
  disruption: ['disruptionMode', 'disruption'],
} as const

const FIELDS = Object.values(NAMES)
const CLAIMS = 'resourceClaims'
const SHIPPED_KEYS = [NAMES.policy[0], NAMES.constraints[0], NAMES.disruption[0], CLAIMS]
const KEP_KEYS = [NAMES.policy[1], NAMES.constraints[1], NAMES.disruption[0], CLAIMS]
const KNOWN = new Set<string>([...FIELDS.flat(), CLAIMS])

/** The names a block may have, in the set that was chosen. */
export const blockKeys = (block: WrittenBlock): readonly string[] =>
  block.kepPaths.length > 0 ? KEP_KEYS : SHIPPED_KEYS

/** Reads the block at `root`, a field path; `value` is anything. */
export function readBlock(value: unknown, root: string): WrittenBlock {
  if (!isObject(value)) {
    const detail = `must be an object with ${SHIPPED_KEYS.join(', ')}`
    const names = { policy: NAMES.policy[0], constraints: NAMES.constraints[0], disruption: NAMES.disruption[0] }
    const paths = pathsOf(root, names, () => 'key', new Map())
    return { model: {}, paths, stray: [], errors: [invalid(root, value, detail)], kepPaths: [] }
  }
  const kepNames = FIELDS.filter(([, kep]) => present(value, kep)).map(([, kep]) => kep)
  const kep = kepNames.length > 0 && speaksKep(value)
  const names = {
    policy: nameOf(value, NAMES.policy, kep),
    constraints: nameOf(value, NAMES.constraints, kep),
    disruption: nameOf(value, NAMES.disruption, false),
  }
  const stray: StrayKey[] = []
  collectStrays(value, root, 'block', KNOWN, stray)
  const levels = names.constraints === NAMES.constraints[1]
  const hints = new Map<string, string>()
  const topologyErrors: FieldError[] = []
  const constraintsPath = `${root}.${names.constraints}`
  const model: RawBlock = {
    schedulingPolicy: policyTree(value[names.policy], `${root}.${names.policy}`, stray),
    schedulingConstraints: constraintsTree(value[names.constraints], constraintsPath, stray, (entry, at) =>
      topologyKey(entry, at, levels, hints, topologyErrors),
    ),
    disruptionMode: disruptionTree(value[names.disruption], `${root}.${names.disruption}`, stray),
    resourceClaims: claimsTree(value[CLAIMS], `${root}.${CLAIMS}`, stray),
  }
  return {
    model,
    paths: pathsOf(root, names, () => (levels ? 'level' : 'key'), hints),
    stray,
    errors:
      kepNames.length > 0
        ? [...twiceNamed(value, root), ...mixedNames(value, root), ...topologyErrors]
        : topologyErrors,
    kepPaths: kepNames.map(name => `${root}.${name}`),
  }
}

type Names = { readonly policy: string; readonly constraints: string; readonly disruption: string }

function pathsOf(
  root: string,
  { policy, constraints, disruption }: Names,
  leaf: () => string,
  hints: ReadonlyMap<string, string>,
): BlockPaths {
  const topology = `${root}.${constraints}.topology`
  return {
    block: root,
    policy: `${root}.${policy}`,
    minCount: `${root}.${policy}.gang.minCount`,
    constraints: `${root}.${constraints}`,
    topology,
    topologyKey: index => `${topology}[${index}].${leaf()}`,
    disruption: `${root}.${disruption}`,
    claims: `${root}.${CLAIMS}`,
    hints,
  }
}

/** In Go's JSON, null is absent. */
const present = (value: Fields, key: string): boolean => value[key] !== undefined && value[key] !== null

const speaksKep = (value: Fields): boolean =>
  FIELDS.some(([shipped, kep]) => present(value, kep) && !present(value, shipped))

function nameOf(value: Fields, [shipped, kep]: readonly [string, string], kepByDefault: boolean): string {
  if (present(value, shipped)) return shipped
  return present(value, kep) || kepByDefault ? kep : shipped
}

function twiceNamed(value: Fields, root: string): readonly FieldError[] {
  return FIELDS.filter(([shipped, kep]) => present(value, shipped) && present(value, kep)).map(([shipped, kep]) =>
    forbidden(`${root}.${kep}`, `\`${kep}\` and \`${shipped}\` are two names of one field: keep \`${shipped}\``),
  )
}

/** `disruptionMode` belongs to both sets. */
function mixedNames(value: Fields, root: string): readonly FieldError[] {
  const shipped = [NAMES.policy[0], NAMES.constraints[0]].find(name => present(value, name))
  if (shipped === undefined) return []
  return FIELDS.filter(([own, kep]) => present(value, kep) && !present(value, own)).map(([own, kep]) => {
    const detail =
      `\`${kep}\` is a name of KEP-6089 and \`${shipped}\` one of Kubernetes 1.37: ` +
      `a block uses one set of names, write \`${own}\``
    return forbidden(`${root}.${kep}`, detail)
  })
}

/**
 * The key of one topology entry. `level` under shipped names is what the API server drops before it asks for the key;
 * the answer is the same here, with the reason. `key` under the names of the KEP is the other mixture.
 */
function topologyKey(
  entry: Fields,
  at: string,
  levels: boolean,
  hints: Map<string, string>,
  errors: FieldError[],
): unknown {
  const { key, level } = entry
  const bothNamed = present(entry, 'key') && present(entry, 'level')
  if (bothNamed) {
    errors.push(forbidden(`${at}.level`, '`level` and `key` are two names of one field: keep one of them'))
    return levels ? level : key
  }
  if (!levels && present(entry, 'level')) {
    const detail = '`level` is the name that KEP-6089 gives to `key`, and the other names here are Kubernetes 1.37’s'
    hints.set(`${at}.key`, `${detail}: write \`key\``)
  }
  if (levels && present(entry, 'key')) {
    const detail =
      '`key` is a name of Kubernetes 1.37 and `constraints` one of KEP-6089: ' +
      'a block uses one set of names, write `level`, or `schedulingConstraints`'
    errors.push(forbidden(`${at}.key`, detail))
    return key
  }
  return levels ? level : key
}
