import { MANAGED } from '../../../src/kube/vocabulary/names.ts'

import { JOB_SETS, JOBS, PODS } from '../../../src/kube/vocabulary/resources.ts'

import {
  asWorkload,
  conditionOf,
  declaredSize,
  groupOf,
  isDeleting,
  isGated,
  isManaged,
  isTerminal,
  mayRun,
  phaseOf,
  roleOf,
  takesPlace,
  unitOf,
} from '../facts.ts'
import { asJob, jobOf, jobSays } from '../model/job-rules.ts'
import type { Change, ModelServer, Stored } from '../model/server.ts'
import type { Judge } from './judge.ts'
import { creatorOf, mayDismiss, membersOf, trueSelf, workloadOfPod } from './units.ts'

/** As late as a decision can be: the longest lag of a watch and the longest way of a request. */
const LATE_MS = 60_000

/**
 * I5, second part: whose pods Muster deletes, whose end it declares counted, and what it says of an end. Decisions
 * may be late, so what was right a moment ago is still right.
 */
export function watchDeletions(server: ModelServer, muster: string, judge: Judge, now: () => number): void {
  /** Units whose right to run was taken back: their Workload was deleted, evicted, deactivated, or has ended. */
  const revoked = new Set<string>()
  /** When a role last had more pods than places. */
  const overfullAt = new Map<string, number>()

  /** Who has made the pods that own a Workload, or have. */
  const creatorsOf = new Map<string, Set<string | undefined>>()

  const noteWorkload = ({ type, after }: Change) => {
    const workload = asWorkload(after)
    const creators = creatorsOf.get(after.metadata.uid ?? '') ?? new Set()
    creatorsOf.set(after.metadata.uid ?? '', creators)
    for (const { name, uid } of after.metadata.ownerReferences ?? []) {
      const owner = server.find(PODS, after.metadata.namespace, name)
      if (owner?.metadata.uid === uid && owner) creators.add(creatorOf(trueSelf(server, owner)))
    }
    const ended = ['Evicted', 'Finished'].some(condition => conditionOf(workload, condition) === 'True')
    if (type !== 'deleted' && !isDeleting(after) && workload.spec.active !== false && !ended) return
    for (const object of server.all(PODS)) {
      const pod = trueSelf(server, object)
      const owned = after.metadata.ownerReferences?.some(owner => owner.uid === pod.metadata.uid)
      if (owned || workloadOfPod(server, pod)?.metadata.uid === after.metadata.uid) revoked.add(unitOf(pod))
    }
  }

  const roleKey = (object: Stored): string => `${unitOf(trueSelf(server, object))} ${roleOf(trueSelf(server, object))}`

  /** Before there is a Workload, the size that the members declare says how many places there will be. */
  const isOverfull = (object: Stored, alsoCount: number): boolean => {
    const pod = trueSelf(server, object)
    const podSets = workloadOfPod(server, pod)?.spec.podSets
    const players = membersOf(server, pod).filter(takesPlace)
    const own = podSets === undefined ? players : players.filter(other => roleOf(other) === roleOf(pod))
    const places = podSets?.find(({ name }) => name === roleOf(pod))?.count ?? declaredSize(pod) ?? 0
    return own.length + alsoCount > places
  }

  const noteRole = (object: Stored) => {
    if (groupOf(trueSelf(server, object)) === undefined || !isOverfull(object, 0)) return
    for (const player of membersOf(server, trueSelf(server, object))) overfullAt.set(roleKey(player as Stored), now())
  }

  const checkDeletion = (object: Stored) => {
    const pod = trueSelf(server, object)
    const name = nameOf(object)
    if (!isManaged(pod)) judge.fail('I5', `Muster deletes ${name}, which it does not manage`)
    const entitled = mayRun(pod) && !revoked.has(unitOf(pod))
    if (entitled) judge.fail('I5', `Muster deletes ${name}, which runs with every right`)
    const workload = workloadOfPod(server, pod)
    const creators = workload === undefined ? undefined : creatorsOf.get(workload.metadata.uid ?? '')
    if (isGated(pod) && workload && creators && !mayDismiss(pod, workload, creators)) {
      judge.fail('I5', `Muster deletes ${name}, which is another's than its group, or was there before the Workload`)
    }
    if (groupOf(pod) !== undefined && isOverfull(object, 1)) return
    const overfull = overfullAt.get(roleKey(object)) ?? Number.NEGATIVE_INFINITY
    if (isGated(pod) && now() - overfull > LATE_MS)
      judge.fail('I5', `Muster deletes ${name}, though there is a place for it`)
  }

  /** Our finalizer says "not counted yet": it stays on a pod that waits or runs. */
  const checkRelease = (object: Stored) => {
    const pod = trueSelf(server, object)
    const workload = workloadOfPod(server, pod)
    const over = workload !== undefined && conditionOf(workload, 'Finished') === 'True'
    if (mayRun(pod) && !over) judge.fail('I5', `our finalizer is taken off ${nameOf(object)} while it runs`)
    const waits = isGated(pod) && !isDeleting(pod) && !isTerminal(pod)
    if (waits) judge.fail('I5', `our finalizer is taken off ${nameOf(object)} while it waits`)
  }

  /** Kueue calls a group that failed a success; an end that nobody may doubt is told as it is. */
  const checkEnd = (before: Stored, after: Stored) => {
    const finished = asWorkload(after).status?.conditions?.find(({ type }) => type === 'Finished')
    if (finished?.status !== 'True' || conditionOf(asWorkload(before), 'Finished') === 'True') return
    if (jobOf(after) !== undefined || setOf(after) !== undefined) {
      checkEndOfJob(after, finished.reason)
      return
    }
    const pods = server.all(PODS).map(object => trueSelf(server, object))
    const members = pods.filter(pod => workloadOfPod(server, pod)?.metadata.uid === after.metadata.uid)
    const total = asWorkload(after).spec.podSets.reduce((sum, { count }) => sum + count, 0)
    const succeeded = members.filter(pod => phaseOf(pod) === 'Succeeded').length
    if (finished.reason === 'Succeeded' && succeeded < total) {
      judge.fail('I5', `${nameOf(after)} is called a success with ${succeeded} of ${total} pods succeeded`)
    }
    if (finished.reason !== 'Succeeded' && members.length > 0 && succeeded >= total) {
      judge.fail('I5', `${nameOf(after)} is called ${finished.reason} though all its pods succeeded`)
    }
    const running = members.find(pod => mayRun(pod) && !isDeleting(pod) && pod.spec.nodeName)
    if (running) judge.fail('I5', `${nameOf(after)} is called finished while ${running.metadata.name} runs`)
  }

  const checkEndOfJob = (workload: Stored, reason: string | undefined) => {
    const { name = '', uid, kind } = jobOf(workload) ?? setOf(workload) ?? {}
    const found = server.find(kind === JOB_SETS.kind ? JOB_SETS : JOBS, workload.metadata.namespace, name)
    if (found === undefined || found.metadata.uid !== uid) return
    const succeeded = jobSays(asJob(found), kind === JOB_SETS.kind ? 'Completed' : 'Complete')
    const said = succeeded ? 'Succeeded' : jobSays(asJob(found), 'Failed') ? 'Failed' : undefined
    if (said !== undefined && reason !== said && !isDeleting(found))
      judge.fail('I5', `${nameOf(workload)} is called ${reason}: its Job ${said}`)
    if (said === undefined && ['Succeeded', 'Failed'].includes(reason ?? '')) {
      judge.fail('I5', `${nameOf(workload)} is called ${reason}, and its Job has not ended`)
    }
  }

  server.subscribe(change => {
    const { resource, type, before, after, who } = change
    if (resource === server.workloads) noteWorkload(change)
    if (resource === PODS && type === 'created') noteRole(after)
    if (resource === server.workloads && type === 'created') for (const pod of server.all(PODS)) noteRole(pod)
    if (who !== muster || before === undefined) return
    if (resource === server.workloads && type === 'updated') checkEnd(before, after)
    if (resource !== PODS) return
    if (!isDeleting(before) && (type === 'deleted' || isDeleting(after))) checkDeletion(before)
    const had = before.metadata.finalizers?.includes(MANAGED)
    const released = type === 'deleted' || !after.metadata.finalizers?.includes(MANAGED)
    if (had && released && isDeleting(before) === isDeleting(after)) checkRelease(before)
  })
}

const setOf = ({ metadata }: Stored) =>
  metadata.ownerReferences?.find(({ controller, kind }) => controller && kind === JOB_SETS.kind)

const nameOf = ({ metadata: { namespace, name } }: Stored): string => `${namespace}/${name}`
