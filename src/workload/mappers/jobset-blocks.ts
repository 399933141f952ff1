import { type FieldError, forbidden, invalid, required } from '../../validation/field-error.ts'
import { withStrayErrors } from '../../validation/jobs/job-allow.ts'
import { creationErrors } from '../../validation/jobs/scheduling-rules.ts'
import { readBlock, type WrittenBlock } from '../../validation/jobs/scheduling-spelling.ts'
import { type Fields, isRecord } from '../../validation/jobs/scheduling-tree.ts'
import { ALL_OF_KUBERNETES } from './source.ts'

/** What a JobSet says itself about scheduling: for the whole, and for its replicated jobs by name. */
export interface JobSetBlocks {
  readonly root: WrittenBlock | undefined
  readonly targeted: ReadonlyMap<string, WrittenBlock>
  readonly errors: readonly FieldError[]
}

const ROOT = 'spec.scheduling'
const POLICIES = 'replicatedJobPolicies'
const TARGET = 'targetReplicatedJob'

/**
 * Both options of KEP-6089 have the block of the whole in `spec.scheduling`. In the second one it also holds the policies
 * of the replicated jobs; people put them beside it.
 */
export function readJobSetBlocks(spec: Fields, names: ReadonlySet<string>): JobSetBlocks {
  const { scheduling } = spec
  const root = scheduling === undefined || scheduling === null ? undefined : readRoot(scheduling)
  const inside = isRecord(scheduling) ? scheduling[POLICIES] : undefined
  const targeted = new Map<string, WrittenBlock>()
  const errors: FieldError[] = [...(root?.errors ?? [])]
  for (const [path, list] of [
    [`${ROOT}.${POLICIES}`, inside],
    [`spec.${POLICIES}`, spec[POLICIES]],
  ] as const) {
    errors.push(...readTargeted(path, list, names, targeted))
  }
  return { root: root?.block, targeted, errors }
}

/**
 * A group of groups counts groups: its gang has `minGroupCount` where one of pods has `minCount`, and it has no claims.
 * Otherwise the blocks are alike, so the one of pods is read and its number renamed back.
 */
function readRoot(value: unknown): { readonly block: WrittenBlock; readonly errors: readonly FieldError[] } {
  const { [POLICIES]: _policies, ...own } = isRecord(value) ? value : {}
  const renamed = Object.entries(own).map(([key, part]) => [key, POLICY_NAMES.has(key) ? countingPods(part) : part])
  const read = readBlock(isRecord(value) ? Object.fromEntries(renamed) : value, ROOT)
  const { policy, minCount, claims } = read.paths
  const minGroupCount = `${policy}.gang.minGroupCount`
  const stray = read.stray.map(key => ({ ...key, known: key.known.map(groupsName) }))
  const block: WrittenBlock = { ...read, stray, paths: { ...read.paths, minCount: minGroupCount } }
  const written = isRecord(value) ? value[policy.slice(ROOT.length + 1)] : undefined
  const countsPods = isRecord(written) && isRecord(written.gang) && Object.hasOwn(written.gang, 'minCount')
  return {
    block,
    errors: [
      ...(countsPods ? [forbidden(minCount, 'a group of groups counts groups: write `minGroupCount`')] : []),
      ...blockErrors(block).map(error => (error.field === minCount ? { ...error, field: minGroupCount } : error)),
      ...(read.model.resourceClaims === undefined
        ? []
        : [forbidden(claims, 'only pods share claims: give them to a replicated job')]),
    ],
  }
}

const POLICY_NAMES: ReadonlySet<string> = new Set(['policy', 'schedulingPolicy'])
const groupsName = (key: string): string => (key === 'minCount' ? 'minGroupCount' : key)

function countingPods(policy: unknown): unknown {
  if (!isRecord(policy) || !isRecord(policy.gang)) return policy
  const { minGroupCount, minCount: _pods, ...rest } = policy.gang
  return { ...policy, gang: { ...rest, ...(minGroupCount === undefined ? {} : { minCount: minGroupCount }) } }
}

function readTargeted(
  path: string,
  list: unknown,
  names: ReadonlySet<string>,
  targeted: Map<string, WrittenBlock>,
): readonly FieldError[] {
  if (list === undefined || list === null) return []
  if (!Array.isArray(list)) return [invalid(path, list, 'must be a list')]
  return list.flatMap((entry: unknown, index): readonly FieldError[] => {
    const at = `${path}[${index}]`
    if (!isRecord(entry)) return [invalid(at, entry, `must be an object with ${TARGET} and a scheduling block`)]
    const { [TARGET]: target, ...own } = entry
    if (typeof target !== 'string' || target === '') return [required(`${at}.${TARGET}`, 'names a replicated job')]
    if (!names.has(target)) {
      const detail = `there is no such replicated job; there are: ${[...names].join(', ')}`
      return [invalid(`${at}.${TARGET}`, target, detail)]
    }
    if (targeted.has(target)) return [{ field: `${at}.${TARGET}`, type: 'Duplicate', detail: '', value: target }]
    const block = readBlock(own, at)
    targeted.set(target, block)
    return blockErrors(block)
  })
}

/** What it says, what it does not know, and how it is written. */
function blockErrors(block: WrittenBlock): readonly FieldError[] {
  return [...withStrayErrors(creationErrors(block), block, ALL_OF_KUBERNETES), ...block.errors]
}
