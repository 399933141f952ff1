import { JOB_SETS, JOBS, PODS } from '../../../src/kube/vocabulary/resources.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { JOB_CONTROLLER } from '../actors/job-controller.ts'
import type { Queues } from '../cluster/queues.ts'
import {
  asPod,
  asWorkload,
  exceeds,
  holdsQuota,
  isDeleting,
  isGated,
  mayRun,
  plus,
  podUsage,
  type Usage,
  workloadUsage,
} from '../facts.ts'
import { asJob, jobOf } from '../model/job-rules.ts'
import { JOB_SET_UID } from '../model/job-set-rules.ts'
import type { Change, ModelServer, Stored } from '../model/server.ts'
import { workloadOfJob } from './jobs.ts'
import type { Judge } from './judge.ts'
import { workloadOfPod } from './units.ts'

const NOTHING: Usage = { pods: 0, milliCpu: 0 }

/**
 * I1: what is admitted never exceeds the limits of a queue, counted twice: by the Workloads that hold a reservation,
 * and by the pods that may run, whatever the Workloads say.
 */
export function watchQuota(server: ModelServer, queues: Queues, judge: Judge): void {
  /** What was reserved at last, by queue: limits that fall take nothing from anybody. */
  let reserved: ReadonlyMap<string, Usage> = new Map()
  /** The queue that a lifted pod was charged to. */
  const charged = new Map<string, string>()
  const liftedOn = new Map<string, string | undefined>()
  /** By the uid of a Job: the Workload on which it was started last. */
  const startedOn = new Map<string, QueuedWorkload>()
  /** Also those whose Workload went as they were started: in a queue without limits nothing holds it. */
  const started = new Set<string>()
  /** Pods of Jobs that others than the Job controller delete. It replaces them at once, and nobody can be charged for both. */
  const replaced = new Set<string>()

  const checkReservations = () => {
    const usage = new Map<string, Usage>()
    for (const object of server.all(server.workloads)) {
      const workload = asWorkload(object)
      const { queueName } = workload.spec
      if (holdsQuota(workload)) usage.set(queueName, plus(usage.get(queueName) ?? NOTHING, workloadUsage(workload)))
    }
    compare(usage, reserved, 'is reserved')
    reserved = usage
  }

  const checkPods = () => {
    const usage = new Map<string, Usage>()
    for (const object of server.all(PODS)) {
      const pod = asPod(object)
      const queue = charged.get(pod.metadata.uid ?? '')
      if (replaced.has(pod.metadata.uid ?? '')) continue
      if (queue !== undefined && mayRun(pod)) usage.set(queue, plus(usage.get(queue) ?? NOTHING, podUsage(pod.spec)))
    }
    compare(usage, reserved, 'may run')
  }

  const compare = (usage: ReadonlyMap<string, Usage>, before: ReadonlyMap<string, Usage>, what: string) => {
    for (const [queue, used] of usage) {
      if (queues.allows(queue, used) || !exceeds(used, before.get(queue) ?? NOTHING)) continue
      const limits = queues.list.find(({ name }) => name === queue)?.limits
      judge.fail('I1', `queue ${queue}: ${JSON.stringify(used)} ${what}, its limits are ${JSON.stringify(limits)}`)
    }
  }

  /** What a pod was lifted on is held until the pod has stopped. */
  const checkRelease = (workload: QueuedWorkload) => {
    if (isOpenToJobs(workload)) return
    const running = server
      .all(PODS)
      .map(asPod)
      .find(pod => liftedOn.get(pod.metadata.uid ?? '') === workload.metadata.uid && mayRun(pod))
    if (running === undefined) return
    judge.fail('I1', `the quota of ${workload.metadata.name} is given back while ${running.metadata.name} may run`)
  }

  /** A queue without limits has nothing to give back, and what is in it may go at once. */
  const isOpenToJobs = ({ metadata, spec }: QueuedWorkload) =>
    metadata.annotations?.['muster.dev/job'] !== undefined && !queues.list.some(({ name }) => name === spec.queueName)

  const charge = (pod: Stored, workload: QueuedWorkload | undefined) => {
    if (workload !== undefined) {
      charged.set(pod.metadata.uid ?? '', workload.spec.queueName)
      liftedOn.set(pod.metadata.uid ?? '', workload.metadata.uid)
    }
    checkPods()
  }

  const noteJob = ({ type, before, after }: Change) => {
    const starts = type === 'updated' && before && asJob(before).spec.suspend && !asJob(after).spec.suspend
    const workload = starts ? workloadOfJob(server, after) : undefined
    if (starts) started.add(after.metadata.uid ?? '')
    if (workload !== undefined) startedOn.set(after.metadata.uid ?? '', workload)
  }

  const notePodOfJob = ({ type, before, after, who }: Change, jobUid: string) => {
    if (type === 'created' && after.metadata.labels?.[JOB_SET_UID] && !started.has(jobUid)) {
      judge.fail('I2', `${after.metadata.name} begins and its JobSet was never started`)
    }
    if (type === 'created' && startedOn.has(jobUid)) {
      const workload = startedOn.get(jobUid)
      const now = server.all(server.workloads).find(({ metadata }) => metadata.uid === workload?.metadata.uid)
      const held = now !== undefined && holdsQuota(asWorkload(now))
      if (!held && workload !== undefined && !isOpenToJobs(workload))
        judge.fail('I1', `${after.metadata.name} begins after the quota of its Job was given back`)
      charge(after, workload)
    }
    const goes = before !== undefined && !isDeleting(before) && isDeleting(after)
    if (goes && who !== JOB_CONTROLLER) replaced.add(after.metadata.uid ?? '')
  }

  server.subscribe((change: Change) => {
    const { resource, type, before, after } = change
    if (resource === JOBS || resource === JOB_SETS) noteJob(change)
    const job = resource === PODS ? jobOf(after) : undefined
    if (job !== undefined) notePodOfJob(change, after.metadata.labels?.[JOB_SET_UID] ?? job.uid)
    if (resource === server.workloads && type === 'updated') checkReservations()
    if (resource === server.workloads && before && holdsQuota(asWorkload(before))) {
      if (type === 'deleted' || !holdsQuota(asWorkload(after))) checkRelease(asWorkload(before))
    }
    if (resource !== PODS || type !== 'updated' || before === undefined) return
    const pod = asPod(after)
    if (!isGated(asPod(before)) || isGated(pod)) return
    charge(after, workloadOfPod(server, pod))
  })
}
