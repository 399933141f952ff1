import type { QueueConfiguration } from '../../../src/config/configuration.ts'
import { HELD, QUEUED, STOPPING } from '../../../src/kube/vocabulary/names.ts'
import { EVENTS, JOB_SETS, JOBS, NAMESPACES, PODS } from '../../../src/kube/vocabulary/resources.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { REASONS } from '../../../src/workload/reasons.ts'
import { asPod, asWorkload, conditionOf, holdsQuota, isDeleting, mayRun, podUsage, queueOf } from '../facts.ts'
import { asJob, CONTROLLER_UID, hasEnded, type Job } from '../model/job-rules.ts'
import { asJobSet, JOB_SET_UID, type JobSet, setHasEnded } from '../model/job-set-rules.ts'
import { equal } from '../model/patches.ts'
import type { ModelServer, Stored } from '../model/server.ts'
import type { Judge } from './judge.ts'

/** The Workload that speaks for a Job: its controller is the Job, by its uid. */
export function workloadOfJob(server: ModelServer, { metadata: { uid } }: Stored): QueuedWorkload | undefined {
  const found = server
    .all(server.workloads)
    .find(({ metadata }) => metadata.ownerReferences?.some(owner => owner.uid === uid && owner.controller))
  return found && asWorkload(found)
}

const marked = ({ metadata }: Stored, key: string): boolean => metadata.annotations?.[key] === 'true'
const label = ({ metadata: { namespace, name } }: Stored | QueuedWorkload): string => `${namespace}/${name}`
/** As many pods as it can have at once. */
const sizeOf = ({ spec }: Job): number => Math.min(spec.parallelism, spec.completions ?? spec.parallelism)

/**
 * I2 for Jobs: one that waits is started by Muster alone, on a Workload that is admitted and large enough, with the
 * place of its admission in the same write; while it runs it does not outgrow it. I5: of a Job nothing is written but
 * that it runs or not, its place and our marks; and when it waits again it is what its author wrote.
 */
export function watchJobs(
  server: ModelServer,
  queues: readonly QueueConfiguration[],
  muster: string,
  judge: Judge,
): void {
  /** A queue without limits gives nothing away: its Workloads may go while they are decided on. */
  const isOpen = (job: Stored) => !queues.some(({ name }) => name === queueOf(asPod(job)))

  /** The template as it was before a start, to be found again after a stop. */
  const original = new Map<string, Job['spec']['template']>()

  const checkStart = (before: Job, after: Job, who: string) => {
    const name = label(after)
    const workload = workloadOfJob(server, after)
    if (who !== muster) judge.fail('I5', `${who} could start ${name}, which waits`)
    else if (marked(before, HELD)) judge.fail('I5', `${name} is started, which its author holds`)
    else if (workload === undefined) {
      if (!isOpen(after)) judge.fail('I2', `${name} is started and has no Workload`)
    } else if (!isAdmitted(workload))
      judge.fail('I2', `${name} is started and its Workload is not admitted or has ended`)
    else {
      checkCharge(after, workload)
      checkPlace(after, workload)
    }
  }

  const checkCharge = (job: Job, { spec: { podSets }, status }: QueuedWorkload) => {
    const [podSet] = podSets
    const [assigned] = status?.admission?.podSetAssignments ?? []
    const places = assigned?.count ?? podSet?.count ?? 0
    if (sizeOf(job) > places)
      judge.fail('I2', `${label(job)} runs ${sizeOf(job)} pods at once, ${places} were admitted`)
    const asked = podUsage(job.spec.template.spec as never).milliCpu
    if (podSet !== undefined && asked > podUsage(podSet.template.spec).milliCpu) {
      judge.fail('I2', `the pods of ${label(job)} ask for more than their Workload is charged with`)
    }
  }

  const checkPlace = (job: Job, { status }: QueuedWorkload) => {
    const { nodeSelector = {}, tolerations = [] } = job.spec.template.spec
    for (const place of status?.admission?.podSetAssignments ?? []) {
      const elsewhere = Object.entries(place.nodeSelector ?? {}).some(([key, value]) => nodeSelector[key] !== value)
      const shy = (place.tolerations ?? []).some(({ key }) => !tolerations.some(own => own.key === key))
      if (elsewhere || shy) judge.fail('I2', `${label(job)} is started without the place of its admission`)
    }
  }

  const checkManners = (before: Job, after: Job) => {
    const name = label(after)
    if (!equal(before.status, after.status) && !onlyStartTime(before, after)) {
      judge.fail('I5', `the status of ${name} was changed`)
    }
    if (!equal(before.metadata.finalizers, after.metadata.finalizers)) {
      judge.fail('I5', `finalizers of ${name} were changed`)
    }
    const rest = ({ suspend: _, template: __, parallelism: ___, completions: ____, ...spec }: Job['spec']) => spec
    if (!equal(rest(before.spec), rest(after.spec))) judge.fail('I5', `the spec of ${name} was changed`)
  }

  const checkRestored = (job: Job) => {
    const was = original.get(job.metadata.uid ?? '')
    if (was === undefined || equal(placeOf(was), placeOf(job.spec.template))) return
    judge.fail('I5', `${label(job)} waits again, and its template is not what its author wrote`)
  }

  const written = new Map<string, JobSet>()
  const checkSet = (before: JobSet, after: JobSet, who: string) => {
    const uid = after.metadata.uid ?? ''
    const was = written.get(uid)
    if (who === muster && marked(before, STOPPING) && !marked(after, STOPPING) && was !== undefined) {
      const places = ({ spec }: JobSet) => spec.replicatedJobs.map(({ template }) => placeOf(template.spec.template))
      if (!equal(places(was), places(after))) {
        judge.fail('I5', `${label(after)} waits again, and its templates are not what its author wrote`)
      }
    }
    if (before.spec.suspend === true && after.spec.suspend !== true) written.set(uid, before)
    if (before.spec.suspend !== true || after.spec.suspend === true || !marked(before, QUEUED)) return
    const name = label(after)
    const workload = workloadOfJob(server, after)
    if (who !== muster) judge.fail('I5', `${who} could start ${name}, which waits`)
    else if (marked(before, HELD)) judge.fail('I5', `${name} is started, which its author holds`)
    else if (workload === undefined ? !isOpen(after) : !isAdmitted(workload)) {
      judge.fail('I2', `${name} is started and its Workload is not there, not admitted or has ended`)
    }
  }

  server.subscribe(({ resource, type, before: old, after: object, who }) => {
    if (resource === JOB_SETS && old !== undefined && type === 'updated') {
      checkSet(asJobSet(old), asJobSet(object), who)
    }
    if (resource !== JOBS || old === undefined || type !== 'updated') return
    const [before, after] = [asJob(old), asJob(object)]
    if (before.spec.suspend && !after.spec.suspend && marked(before, QUEUED)) {
      original.set(after.metadata.uid ?? '', before.spec.template)
      checkStart(before, after, who)
    }
    if (!before.spec.suspend && !after.spec.suspend && sizeOf(after) > sizeOf(before) && marked(after, QUEUED)) {
      const workload = workloadOfJob(server, after)
      if (workload !== undefined) checkCharge(after, workload)
    }
    if (who !== muster) return
    checkManners(before, after)
    if (marked(before, STOPPING) && !marked(after, STOPPING)) checkRestored(after)
  })
}

/** All that an admission adds to, where nothing and an empty list or map are the same. */
function placeOf({ metadata, spec }: Job['spec']['template']): object {
  const { nodeSelector = {}, tolerations = [] } = spec
  return { labels: metadata?.labels ?? {}, annotations: metadata?.annotations ?? {}, nodeSelector, tolerations }
}

/** Before 1.36 a Job has to forget when it began before its template may change. */
function onlyStartTime({ status: before }: Job, { status: after }: Job): boolean {
  const { startTime: _, ...was } = before ?? {}
  const { startTime, ...is } = after ?? {}
  return startTime === undefined && equal(was, is)
}

function isAdmitted(workload: QueuedWorkload): boolean {
  const says = (type: string) => conditionOf(workload, type) === 'True'
  return says('Admitted') && says('QuotaReserved') && !says('Finished')
}

/** Nothing is made there any more. Its pods go first, and what others keep of them keeps the Jobs. */
function isGoing(server: ModelServer, namespace = ''): boolean {
  const found = server.all(NAMESPACES).find(({ metadata }) => metadata.name === namespace)
  return found === undefined || isDeleting(found)
}

/** I4 for Jobs: every one has ended, or waits and says why; and who has ended or is held keeps nothing. */
export function unfinishedJobs(server: ModelServer): readonly string[] {
  const told = new Set(server.all(EVENTS).map(event => (event as { regarding?: { uid?: string } }).regarding?.uid))
  return server.all(JOBS).flatMap(object => {
    const job = asJob(object)
    const workload = workloadOfJob(server, job)
    const left = server
      .all(PODS)
      .some(pod => pod.metadata.labels?.[CONTROLLER_UID] === job.metadata.uid && mayRun(asPod(pod)))
    if (left || isDeleting(job) || isGoing(server, job.metadata.namespace)) return []
    const name = label(job)
    if (hasEnded(job)) {
      const open = workload !== undefined && conditionOf(workload, 'Finished') !== 'True'
      return open ? [`Job ${name} has ended and its Workload is not finished`] : []
    }
    if (!marked(job, QUEUED)) return []
    if (!job.spec.suspend) return [`Job ${name} runs no pods, has not ended and does not wait`]
    if (marked(job, STOPPING)) return [`Job ${name} was stopped and its template is not restored`]
    if (marked(job, HELD)) {
      return workload !== undefined && holdsQuota(workload) ? [`Job ${name} is held and holds quota`] : []
    }
    if (workload === undefined) return [`Job ${name} waits and has no Workload`]
    if (isAdmitted(workload) && workload.spec.active !== false) return [`Job ${name} is admitted and not started`]
    const conditions = workload.status?.conditions ?? []
    const says = conditions.some(({ reason }) => REASONS.some(known => known === reason))
    return says || told.has(job.metadata.uid) ? [] : [`Job ${name} waits and nobody says why`]
  })
}

/** I4 for JobSets, in the same words. */
export function unfinishedSets(server: ModelServer): readonly string[] {
  return server.all(JOB_SETS).flatMap(object => {
    const set = asJobSet(object)
    const workload = workloadOfJob(server, set)
    const left = server
      .all(PODS)
      .some(pod => pod.metadata.labels?.[JOB_SET_UID] === set.metadata.uid && mayRun(asPod(pod)))
    if (left || isDeleting(set) || isGoing(server, set.metadata.namespace)) return []
    const name = label(set)
    if (setHasEnded(set)) {
      const open = workload !== undefined && conditionOf(workload, 'Finished') !== 'True'
      return open ? [`JobSet ${name} has ended and its Workload is not finished`] : []
    }
    if (set.spec.suspend !== true) return [`JobSet ${name} runs no pods, has not ended and does not wait`]
    if (marked(set, STOPPING)) return [`JobSet ${name} was stopped and its templates are not restored`]
    if (marked(set, HELD)) {
      return workload !== undefined && holdsQuota(workload) ? [`JobSet ${name} is held and holds quota`] : []
    }
    if (workload === undefined) return [`JobSet ${name} waits and has no Workload`]
    const open = isAdmitted(workload) && workload.spec.active !== false
    return open ? [`JobSet ${name} is admitted and not started`] : []
  })
}
