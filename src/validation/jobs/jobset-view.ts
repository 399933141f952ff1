import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { type FieldError, forbidden, invalid, required } from '../field-error.ts'
import { annotatedBlock, annotationPath, type JobView, podSpecOf, readAnnotated, viewJob } from './job-view.ts'
import { readBlock, type WrittenBlock } from './scheduling-spelling.ts'
import { MAX_ITEMS } from './scheduling-tree.ts'

/**
 * What a JobSet says about scheduling, level by level: about the whole in `spec.scheduling`, or in the annotation, since
 * no version of JobSet has that field yet; and about each replicated job either in its template (option A of KEP-6089)
 * or in an entry that targets it (option B).
 */
export interface JobSetView {
  /** It counts groups: its paths say `minGroupCount`, its model says `minCount` like any other. */
  readonly root: WrittenBlock | undefined
  readonly targeted: ReadonlyMap<string, WrittenBlock>
  readonly jobs: ReadonlyMap<string, ReplicatedJob>
  /** Its jobs start one after the other: waiting for all of them would be waiting for ever. */
  readonly isSequenced: boolean
  /** All that stands outside of the templates, as it is written. */
  readonly outside: readonly unknown[]
  /** Entries that cannot be read, or target nobody. */
  readonly targetErrors: readonly FieldError[]
  /** What keeps it from being a JobSet, whatever it says about scheduling. */
  readonly shapeErrors: readonly FieldError[]
}

export interface ReplicatedJob {
  readonly name: string
  /** Of all its replicas together. */
  readonly pods: number
  readonly job: JobView
  readonly podSpec: Fields
  /** Its pods name a group that somebody else makes. */
  readonly bringsGroup: boolean
}

const JOBS = 'spec.replicatedJobs'
const ROOT = 'spec.scheduling'
const POLICIES = 'replicatedJobPolicies'
const TARGET = 'targetReplicatedJob'

export function viewJobSet(object: unknown): JobSetView {
  const spec = isObject(object) && isObject(object.spec) ? object.spec : {}
  const { startupPolicy } = spec
  const shapeErrors: FieldError[] = []
  const targetErrors: FieldError[] = []
  const { jobs, names } = readJobs(spec.replicatedJobs, shapeErrors)
  const said = saidOfTheWhole(object, spec.scheduling, targetErrors)
  // The KEP has the entries inside of the block; people put them beside it.
  const inside = isObject(said.block) ? said.block[POLICIES] : undefined
  const targeted = new Map<string, WrittenBlock>()
  readTargeted(`${said.path}.${POLICIES}`, inside, names, targeted, targetErrors)
  readTargeted(`spec.${POLICIES}`, spec[POLICIES], names, targeted, targetErrors)
  const inOrder = isObject(startupPolicy) && startupPolicy.startupPolicyOrder === 'InOrder'
  return {
    root: isAbsent(said.block) ? undefined : readRoot(said.block, said.path),
    targeted,
    jobs,
    isSequenced: inOrder || (Array.isArray(spec.replicatedJobs) && spec.replicatedJobs.some(hasDependencies)),
    outside: [said.written, spec[POLICIES]].map(value => value ?? undefined),
    targetErrors,
    shapeErrors,
  }
}

/** The block of the whole, and where it stands. With two of them one is too many. */
function saidOfTheWhole(object: unknown, field: unknown, errors: FieldError[]) {
  const path = annotationPath({ prefix: '' })
  const text = annotatedBlock(object)
  if (text === undefined || text === null) return { block: field, path: ROOT, written: field }
  const read = readAnnotated(text, path)
  if ('problem' in read) errors.push(read.problem)
  if (isAbsent(field)) return { block: 'value' in read ? read.value : undefined, path, written: text }
  errors.push(forbidden(path, `${ROOT} says the same thing: a JobSet has one scheduling block, remove the annotation`))
  return { block: field, path: ROOT, written: [field, text] }
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null

const hasDependencies = (job: unknown): boolean =>
  isObject(job) && Array.isArray(job.dependsOn) && job.dependsOn.length > 0

/** `names` has those of jobs with errors, too: a policy for one of them does not target nobody. */
function readJobs(list: unknown, errors: FieldError[]): { jobs: Map<string, ReplicatedJob>; names: Set<string> } {
  const jobs = new Map<string, ReplicatedJob>()
  const names = new Set<string>()
  if (!Array.isArray(list) || list.length === 0) errors.push(required(JOBS, 'a JobSet has at least one replicated job'))
  for (const [index, value] of (Array.isArray(list) ? list : []).entries()) {
    const { name } = isObject(value) ? value : {}
    if (typeof name === 'string' && names.has(name)) {
      errors.push({ field: `${JOBS}[${index}].name`, type: 'Duplicate', detail: '', value: name })
      continue
    }
    if (typeof name === 'string') names.add(name)
    const job = readJob(value, `${JOBS}[${index}]`, errors)
    if (job !== undefined) jobs.set(job.name, job)
  }
  return { jobs, names }
}

function readJob(value: unknown, path: string, errors: FieldError[]): ReplicatedJob | undefined {
  if (!isObject(value)) {
    errors.push(invalid(path, value, 'must be an object with name and template'))
    return undefined
  }
  const { name, template } = value
  if (typeof name !== 'string' || name === '') {
    errors.push(required(`${path}.name`, ''))
    return undefined
  }
  const job = viewJob(template, `${path}.template.`, name)
  if (!('prefix' in job)) {
    errors.push(...job)
    return undefined
  }
  errors.push(...job.numberErrors)
  const replicas = value.replicas ?? 1
  const isCount = typeof replicas === 'number' && Number.isInteger(replicas) && replicas >= 0
  if (!isCount) {
    errors.push(invalid(`${path}.replicas`, replicas, 'must be a whole number that is not negative, without quotes'))
  }
  const podSpec = podSpecOf(isObject(template) ? template.spec : undefined)
  const pods = (isCount ? replicas : 1) * job.parallelism
  return { name, pods, job, podSpec, bringsGroup: !isAbsent(podSpec.schedulingGroup) }
}

/**
 * A group of groups counts groups: its gang has `minGroupCount` where one of pods has `minCount`, and it has no claims.
 * Otherwise the blocks are alike, so the one of pods is read and its number renamed back.
 */
function readRoot(value: unknown, path: string): WrittenBlock {
  const { [POLICIES]: _policies, ...own } = isObject(value) ? value : {}
  const renamed = Object.entries(own).map(([key, part]) => [key, POLICY_NAMES.has(key) ? countingPods(part) : part])
  const read = readBlock(isObject(value) ? Object.fromEntries(renamed) : value, path)
  const { policy, minCount, claims } = read.paths
  const written = own[policy.slice(path.length + 1)]
  const countsPods = isObject(written) && isObject(written.gang) && Object.hasOwn(written.gang, 'minCount')
  const hasClaims = read.model.resourceClaims !== undefined
  return {
    ...read,
    stray: read.stray.map(key => ({ ...key, known: key.known.map(groupsName) })),
    paths: { ...read.paths, minCount: `${policy}.gang.${groupsName('minCount')}` },
    errors: [
      ...(countsPods ? [forbidden(minCount, 'a group of groups counts groups: write `minGroupCount`')] : []),
      ...read.errors,
      ...(hasClaims ? [forbidden(claims, 'only pods share claims: give them to a replicated job')] : []),
    ],
  }
}

const POLICY_NAMES: ReadonlySet<string> = new Set(['policy', 'schedulingPolicy'])
const groupsName = (key: string): string => (key === 'minCount' ? 'minGroupCount' : key)

function countingPods(policy: unknown): unknown {
  if (!isObject(policy) || !isObject(policy.gang)) return policy
  const { minGroupCount, minCount: _pods, ...rest } = policy.gang
  return { ...policy, gang: { ...rest, ...(minGroupCount === undefined ? {} : { minCount: minGroupCount }) } }
}

function readTargeted(
  path: string,
  list: unknown,
  names: ReadonlySet<string>,
  targeted: Map<string, WrittenBlock>,
  errors: FieldError[],
): void {
  if (isAbsent(list)) return
  if (!Array.isArray(list)) errors.push(invalid(path, list, 'must be a list'))
  for (const [index, entry] of (Array.isArray(list) ? list : []).entries()) {
    const at = `${path}[${index}]`
    if (!isObject(entry)) {
      errors.push(invalid(at, entry, `must be an object with ${TARGET} and a scheduling block`))
      continue
    }
    const { [TARGET]: target, ...own } = entry
    if (typeof target !== 'string' || target === '') {
      errors.push(required(`${at}.${TARGET}`, 'names a replicated job'))
    } else if (!names.has(target)) {
      const detail = `there is no such replicated job; there are: ${someOf(names)}`
      errors.push(invalid(`${at}.${TARGET}`, target, detail))
    } else if (targeted.has(target)) {
      errors.push({ field: `${at}.${TARGET}`, type: 'Duplicate', detail: '', value: target })
    } else {
      targeted.set(target, readBlock(own, at))
    }
  }
}

/** A hostile JobSet has thousands of names, and an error for each. */
function someOf(names: ReadonlySet<string>): string {
  const some = [...names].slice(0, MAX_ITEMS).join(', ')
  return names.size > MAX_ITEMS ? `${some}, ...` : some
}
