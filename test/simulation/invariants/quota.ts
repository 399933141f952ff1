import type { QueueConfiguration } from '../../../src/config/configuration.ts'

import { JOBS, PODS } from '../../../src/kube/vocabulary/resources.ts'

import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { JOB_CONTROLLER } from '../actors/job-controller.ts'
import {
  asPod,
  asWorkload,
  exceeds,
  holdsQuota,
  isDeleting,
  isGated,
  limitsOf,
  mayRun,
  plus,
  podUsage,
  type Usage,
  workloadUsage,
} from '../facts.ts'
import { asJob, jobOf, jobSays } from '../model/job-rules.ts'
import type { Change, ModelServer, Stored } from '../model/server.ts'
import { workloadOfJob } from './jobs.ts'
import type { Judge } from './judge.ts'
import { workloadOfPod } from './units.ts'

const NOTHING: Usage = { pods: 0, milliCpu: 0 }

/**
 * I1: what is admitted never exceeds the limits of a queue, counted twice: by the Workloads that hold a reservation,
 * and by the pods that may run, whatever the Workloads say.
 */
export function watchQuota(server: ModelServer, queues: readonly QueueConfiguration[], judge: Judge): void {
  const limits = new Map(queues.map(({ name, limits }) => [name, limitsOf(limits)]))
  /** The queue that a lifted pod was charged to. */
  const charged = new Map<string, string>()
  const liftedOn = new Map<string, string | undefined>()
  /** By the uid of a Job: the Workload on which it was started last. */
  const startedOn = new Map<string, QueuedWorkload>()
  /** Pods of Jobs that others than the Job controller delete. It replaces them at once, and nobody can be charged for both. */
  const replaced = new Set<string>()

  const checkReservations = () => {
    const usage = new Map<string, Usage>()
    for (const object of server.all(server.workloads)) {
      const workload = asWorkload(object)
      const { queueName } = workload.spec
      if (holdsQuota(workload)) usage.set(queueName, plus(usage.get(queueName) ?? NOTHING, workloadUsage(workload)))
    }
    compare(usage, 'is reserved')
  }

  const checkPods = () => {
    const usage = new Map<string, Usage>()
    for (const object of server.all(PODS)) {
      const pod = asPod(object)
      const queue = charged.get(pod.metadata.uid ?? '')
      if (replaced.has(pod.metadata.uid ?? '')) continue
      if (queue !== undefined && mayRun(pod)) usage.set(queue, plus(usage.get(queue) ?? NOTHING, podUsage(pod.spec)))
    }
    compare(usage, 'may run')
  }

  const compare = (usage: ReadonlyMap<string, Usage>, what: string) => {
    for (const [queue, used] of usage) {
      const limit = limits.get(queue)
      if (limit === undefined || !exceeds(used, limit)) continue
      judge.fail('I1', `queue ${queue}: ${JSON.stringify(used)} ${what}, its limits are ${JSON.stringify(limit)}`)
    }
  }

  /** What a pod was lifted on is held until the pod has stopped. */
  const checkRelease = (workload: QueuedWorkload) => {
    const running = server
      .all(PODS)
      .map(asPod)
      .find(pod => liftedOn.get(pod.metadata.uid ?? '') === workload.metadata.uid && mayRun(pod))
    if (running === undefined) return
    judge.fail('I1', `the quota of ${workload.metadata.name} is given back while ${running.metadata.name} may run`)
  }

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
    if (workload !== undefined) startedOn.set(after.metadata.uid ?? '', workload)
  }

  const isUntold = (uid: string): boolean => {
    const found = server.all(JOBS).find(({ metadata }) => metadata.uid === uid)
    if (found === undefined) return true
    const job = asJob(found)
    const over = isDeleting(job) || (job.spec.suspend && jobSays(job, 'Suspended'))
    return over && job.status?.startTime === undefined
  }

  const notePodOfJob = ({ type, before, after, who }: Change, jobUid: string) => {
    if (type === 'created' && startedOn.has(jobUid)) {
      const workload = startedOn.get(jobUid)
      const now = server.all(server.workloads).find(({ metadata }) => metadata.uid === workload?.metadata.uid)
      const held = now !== undefined && holdsQuota(asWorkload(now))
      // Nobody can tell from the outside: its controller saw it run, has not said so, and now it is not to run any more.
      if (!held && isUntold(jobUid)) return
      if (!held) judge.fail('I1', `${after.metadata.name} begins after the quota of its Job was given back`)
      charge(after, workload)
    }
    const goes = before !== undefined && !isDeleting(before) && isDeleting(after)
    if (goes && who !== JOB_CONTROLLER) replaced.add(after.metadata.uid ?? '')
  }

  server.subscribe((change: Change) => {
    const { resource, type, before, after } = change
    if (resource === JOBS) noteJob(change)
    const job = resource === PODS ? jobOf(after) : undefined
    if (job !== undefined) notePodOfJob(change, job.uid)
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
