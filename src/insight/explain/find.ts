import { MANAGED } from '../../kube/vocabulary/names.ts'
import { controllerOf, type KubeObject, type Pod } from '../../kube/vocabulary/objects.ts'
import { LIMIT_RANGES, PODS, RUNTIME_CLASSES } from '../../kube/vocabulary/resources.ts'
import { POD_OUTLINE, podForCache } from '../../reconciler/cache-contents.ts'
import type { Engine } from '../../reconciler/engine.ts'
import { jobKeyOf, jobUnitFrom } from '../../reconciler/jobs/job-unit.ts'
import { type Records, unitFrom, unitKeyOf, unitKeyOfWorkload } from '../../reconciler/unit.ts'
import { groupNameOf, groupSelector } from '../../workload/group.ts'
import { asksForQueue, childOf, isQueued } from '../../workload/job-facts.ts'
import { frameworkKind, jobKindOf } from '../../workload/jobs/job-kinds.ts'
import {
  defaultRequests,
  type LimitRange,
  type PodDefaults,
  type RuntimeClass,
} from '../../workload/jobs/pod-defaults.ts'
import type { QueuedJob } from '../../workload/jobs/queued-job.ts'
import { singlePodWorkloadName, workloadName } from '../../workload/names.ts'
import { isMarkedManaged, nameOf, queueOf, uidOf, workloadAnnotationIn } from '../../workload/pod-facts.ts'
import type { QueuedWorkload } from '../../workload/queued-workload.ts'
import type { Seen, Sight } from '../sight.ts'
import type { Subject, SubjectKind } from './explanation.ts'
import type { Found, WholePod } from './facts.ts'
import { foreign, leftBehind, noQueue, notTaken } from './not-ours.ts'

/** There is nothing to explain; the message is for the terminal. */
export class SubjectError extends Error {
  override readonly name = 'SubjectError'
}

export interface Search {
  readonly sight: Sight
  readonly engine: Engine
  /** Whether the objects of the namespace are Muster's to queue. */
  readonly selects: (namespace: string) => boolean
}

export interface Finding {
  readonly found: Found
  /** What waits in the stead of what was asked about. */
  readonly through?: Subject
}

/** What a subject is, with everything that decides about it and no more. */
export async function find(search: Search, subject: Subject): Promise<Finding> {
  switch (subject.kind) {
    case 'pod':
      return await findPod(search, subject)
    case 'group':
      return { found: await findGroup(search, subject) }
    case 'workload':
      return await findByWorkload(search, subject)
    case 'job':
    case 'jobset':
      return await findJob(search, subject)
  }
}

/** With the scheduler's words, which no cache keeps. */
interface RawPod extends Omit<Pod, 'status'> {
  readonly status?: Omit<NonNullable<Pod['status']>, 'conditions'> & {
    readonly conditions?:
      | readonly { readonly type: string; readonly status: string; readonly message?: string }[]
      | null
  }
}

async function findPod(search: Search, subject: Subject): Promise<Finding> {
  const raw = there(await search.sight.get<RawPod>(PODS, subject), subject)
  if (!isMarkedManaged(raw)) return await findOwner(search, subject, raw)
  const pod = podForCache(raw)
  const scheduler = raw.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False')
  const whole: WholePod = { pod, ...(scheduler?.message && { scheduler: scheduler.message }) }
  const group = groupNameOf(pod)
  const pods = group === undefined ? [pod] : await membersOf(search, subject.namespace, group, pod)
  return { found: { kind: 'pods', unit: await unitOf(search, unitKeyOf(pod), pods), pod: whole } }
}

/** A pod without our label waits for nothing, or its Job waits in its stead; or it was left behind with our marks. */
async function findOwner(search: Search, subject: Subject, pod: Pod): Promise<Finding> {
  const left = leftBehind(pod)
  if (left !== undefined) return { found: left }
  const owner = controllerOf(pod.metadata.ownerReferences)
  if (owner?.kind === 'Job' && owner.apiVersion.startsWith('batch/')) {
    const through: Subject = { kind: 'job', namespace: subject.namespace, name: owner.name }
    const inner = await findJob(search, through)
    if (inner.found.kind !== 'none') return { through, ...inner }
  }
  return { found: queueOf(pod) === '' ? noQueue('pod') : notTaken('pod') }
}

async function findGroup(search: Search, subject: Subject): Promise<Found> {
  const { namespace, name } = subject
  const pods = await membersOf(search, namespace, name)
  const unit = await unitOf(search, `group/${namespace}/${name}`, pods)
  if (unit.pods.length === 0 && unit.workload === undefined) throw notThere(subject)
  return { kind: 'pods', unit }
}

/** By the label, which is quick. A name that is too long for one stands in an annotation, on all pods of the group. */
async function membersOf({ sight }: Search, namespace: string, group: string, known?: Pod): Promise<readonly Pod[]> {
  const members = async (selectors: readonly string[]): Promise<readonly Pod[]> => {
    const query = { namespace, outline: POD_OUTLINE, labelSelector: selectors.join(',') }
    const pods = await sight.list<Pod>(PODS, query, podForCache)
    return pods === 'denied' ? [] : pods.filter(pod => groupNameOf(pod) === group)
  }
  const selector = groupSelector(group)
  const labelled = selector === undefined ? [] : await members([`${MANAGED}=true`, selector])
  const isWhole = known === undefined ? labelled.length > 0 : labelled.some(pod => uidOf(pod) === uidOf(known))
  const all = isWhole ? labelled : await members([`${MANAGED}=true`])
  return all.length === 0 && known !== undefined ? [known] : all
}

async function unitOf({ sight, engine, selects }: Search, key: string, pods: readonly Pod[]) {
  const [kind, namespace = '', name = ''] = key.split('/')
  const own = kind === 'group' ? [name] : pods.map(pod => singlePodWorkloadName(nameOf(pod), uidOf(pod)))
  const recorded = pods.flatMap(pod => workloadAnnotationIn(pod.metadata.annotations ?? undefined) ?? [])
  const ahead = pods.slice(0, 1).flatMap(pod => engine.prebuiltOf?.(pod) || [])
  const workloads: QueuedWorkload[] = []
  for (const each of new Set([...own, ...recorded.slice(0, 1), ...ahead])) {
    const found = await sight.get<QueuedWorkload>(engine.workloads, { namespace, name: each })
    if (typeof found === 'object') workloads.push(engine.forCache(found))
  }
  const records: Records = {
    podsOf: wanted => pods.filter(pod => unitKeyOf(pod) === wanted),
    workloadsOf: wanted => workloads.filter(workload => unitKeyOfWorkload(workload) === wanted),
    workload: (_, wanted) => workloads.find(({ metadata }) => metadata.name === wanted),
    ownedBy: uid => workloads.filter(({ metadata }) => metadata.ownerReferences?.some(owner => owner.uid === uid)),
    pod: (_, wanted) => pods.find(pod => nameOf(pod) === wanted),
    selects,
    owns: pod => engine.owns?.(pod) ?? true,
    prebuiltOf: pod => engine.prebuiltOf?.(pod),
  }
  return unitFrom(key, records)
}

async function findByWorkload(search: Search, subject: Subject): Promise<Finding> {
  const { sight, engine } = search
  const workload = there(await sight.get<QueuedWorkload>(engine.workloads, subject), subject)
  const [word = '', namespace = subject.namespace, name = ''] = unitKeyOfWorkload(workload).split('/')
  const alone: Finding = { found: { kind: 'workload', workload: engine.forCache(workload) } }
  const kind = word === 'single' ? 'pod' : (word as SubjectKind)
  try {
    const inner = await find(search, { kind, namespace, name })
    return inner.found.kind === 'none' ? alone : { found: { ...inner.found, ...withoutPod(inner.found) } }
  } catch (error) {
    if (error instanceof SubjectError) return alone
    throw error
  }
}

/** Somebody asked about all of it. */
const withoutPod = (found: Found): object =>
  found.kind === 'pods' && found.unit.kind === 'group' ? { pod: undefined } : {}

/**
 * A child's word of its parent is taken, and not the parent's of another one: anybody may write it on a Job that no
 * webhook of ours sees.
 */
async function findJob(search: Search, subject: Subject, mayBeChild = true): Promise<Finding> {
  const { sight, engine, selects } = search
  const kind = jobKindOf(subject.kind)
  if (kind === undefined) throw new Error(`${subject.kind} is no kind of Job`)
  const job = kind.forCache(there(await sight.get<KubeObject>(kind.resource, subject), subject))
  const parent = mayBeChild ? parentOf(job, subject.namespace) : undefined
  if (parent !== undefined) return { through: parent, ...(await findJob(search, parent, false)) }
  if (!asksForQueue(job)) return { found: noQueue(kind.resource.kind) }
  const { namespace } = subject
  const name = workloadName(kind.resource, subject.name, job.metadata.uid ?? '')
  const workload = await sight.get<QueuedWorkload>(engine.workloads, { namespace, name })
  const defaults = await defaultsFor(sight, job, namespace)
  const unit = jobUnitFrom(kind, jobKeyOf(kind, job), {
    job: (of, _, wanted) => (of === kind && wanted === subject.name ? job : undefined),
    workloadsOf: () => (typeof workload === 'object' ? [engine.forCache(workload)] : []),
    selects,
    defaultsIn: () => defaults,
  })
  if (unit.job !== undefined) return { found: { kind: 'job', unit } }
  return { found: isQueued(job) ? foreign(kind) : notTaken(kind.resource.kind) }
}

function parentOf(job: QueuedJob, namespace: string): Subject | undefined {
  const [framework = '', name] = childOf(job)?.split(':') ?? []
  const kind = frameworkKind(framework)
  return kind === undefined || name === undefined ? undefined : { kind: kind.word as SubjectKind, namespace, name }
}

/** What the API server will add to its pods. Where that may not be read, the Workload has it already. */
async function defaultsFor(sight: Sight, job: QueuedJob, namespace: string): Promise<PodDefaults> {
  const ranges = await sight.list<LimitRange>(LIMIT_RANGES, { namespace })
  const overheads = new Map<string, RuntimeClass>()
  for (const name of new Set(job.podSets.flatMap(({ runtimeClass }) => runtimeClass ?? []))) {
    const found = await sight.get<RuntimeClass>(RUNTIME_CLASSES, { name })
    if (typeof found === 'object') overheads.set(name, found)
  }
  return {
    ...defaultRequests(ranges === 'denied' ? [] : ranges),
    overheadOf: name => overheads.get(name)?.overhead?.podFixed ?? undefined,
  }
}

function there<T>(seen: Seen<T>, subject: Subject): T {
  if (seen === 'absent') throw notThere(subject)
  if (seen === 'denied') {
    const { kind, namespace } = subject
    throw new SubjectError(`you may not read ${kind}s of namespace ${namespace}: ask for the role view there`)
  }
  return seen
}

const notThere = ({ kind, namespace, name }: Subject): SubjectError =>
  new SubjectError(`there is no ${kind} ${name} in namespace ${namespace}; another one is chosen with -n`)
