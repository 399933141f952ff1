import { decide } from '../../reconciler/decide.ts'
import type { Standing } from '../../reconciler/decision.ts'
import { decideJob } from '../../reconciler/jobs/decide-job.ts'
import type { Unit } from '../../reconciler/unit.ts'
import { isDeleting, isGated, isTerminal, isWaiting, mayRun, uidOf } from '../../workload/pod-facts.ts'
import { condition, type QueuedWorkload } from '../../workload/queued-workload.ts'
import type { Reason } from '../../workload/reasons.ts'
import { waitsSince } from '../asks.ts'
import type { Member } from './explanation.ts'
import { type Facts, type WholePod, workloadIn } from './facts.ts'

/** Where the subject stands: the reconciler's own decision, and what is known where it decides nothing. */
export interface Stand {
  readonly reason: Reason | null
  readonly message: string
  readonly since?: string
  readonly others?: readonly Member[]
  /** Muster has something to do, and has not done it yet. */
  readonly pending?: boolean
}

/** Which of several reasons speaks for a group: what somebody has to act upon first, what takes its course last. */
const WEIGHT: readonly Reason[] = [
  'LiftBlocked',
  'InvalidGroup',
  'Evicted',
  'WaitingForReplacement',
  'WaitingForPods',
  'OverQueueLimits',
  'WaitingForAdmission',
  'WaitingForScheduler',
  'ForeignGates',
  'Lifting',
  'Finished',
  'ExcessPod',
]

export function standOf(facts: Facts, now: string): Stand {
  const { found, engine } = facts
  if (found.kind === 'none') return { reason: found.reason ?? null, message: found.message }
  if (found.kind === 'workload') return ofWorkload(facts, found.workload)
  if (found.kind === 'job') {
    const { standings, actions } = decideJob(found.unit, engine, now)
    const [first] = standings
    if (first !== undefined) return corrected(facts, since(facts, first))
    const { job, workload } = found.unit
    if (job?.progress.end !== undefined) return { reason: 'Finished', message: job.progress.end.message }
    if (workload !== undefined) return ofWorkload(facts, workload)
    return job === undefined ? { reason: null, message: '' } : unmade(actions.length > 0)
  }
  return ofPods(facts, found.unit, found.pod, now)
}

function ofPods(facts: Facts, unit: Unit, whole: WholePod | undefined, now: string): Stand {
  const { standings, actions } = decide(unit, facts.engine, now, facts.placement)
  const own = whole && standings.find(({ pod }) => uidOf(pod) === uidOf(whole.pod))
  const first = own ?? (whole === undefined ? heaviest(standings) : undefined)
  if (first !== undefined) {
    const others = whole === undefined ? standings.filter(({ reason }) => reason !== first.reason).map(memberOf) : []
    return { ...corrected(facts, since(facts, first)), ...(others.length > 0 && { others }) }
  }
  const pods = whole === undefined ? unit.pods : [whole.pod]
  if (pods.length > 0 && pods.every(isTerminal)) return { reason: 'Finished', message: endOf(facts) }
  if (pods.some(mayRun) && !pods.some(isGated)) return running(facts, whole)
  if (unit.workload !== undefined) return ofWorkload(facts, unit.workload)
  return pods.some(isWaiting) ? unmade(actions.length > 0) : { reason: null, message: 'it is being deleted' }
}

const heaviest = (standings: readonly Standing[]): Standing | undefined =>
  standings.toSorted((a, b) => WEIGHT.indexOf(a.reason) - WEIGHT.indexOf(b.reason))[0]

const memberOf = ({ pod, reason, note }: Standing): Member => ({ pod: pod.metadata.name ?? '', reason, message: note })

/** A Workload that should be there and is not: Muster has not come to it, or is not there. */
function unmade(hasActions: boolean): Stand {
  const message = hasActions ? 'it is complete, and Muster has not made its Workload yet' : 'it has no Workload yet'
  return { reason: 'WaitingForAdmission', message, pending: true }
}

function running({ engine, found }: Facts, whole: WholePod | undefined): Stand {
  const workload = workloadIn(found)
  const state = workload && engine.read(workload)
  const admitted = state?.kind === 'admitted' ? ` It was admitted by queue ${state.queue}.` : ''
  const at = state?.kind === 'admitted' && state.since !== undefined ? { since: state.since } : {}
  const node = whole?.pod.spec.nodeName
  if (whole !== undefined && node === undefined) {
    const says = whole.scheduler ?? 'the scheduler has not said anything of it yet'
    return { reason: null, message: `Muster's gate is lifted, and no node is found yet: ${says}.${admitted}`, ...at }
  }
  const leaving = whole !== undefined && isDeleting(whole.pod) ? ', and is being deleted' : ''
  return {
    reason: null,
    message: `it runs${node === undefined ? '' : ` on node ${node}`}${leaving}.${admitted}`,
    ...at,
  }
}

function ofWorkload({ engine, told }: Facts, workload: QueuedWorkload): Stand {
  const state = engine.read(workload)
  switch (state.kind) {
    case 'finished':
      return { reason: 'Finished', message: state.message, ...sinceOf(workload, 'Finished') }
    case 'evicted':
      return { reason: 'Evicted', message: state.why, ...sinceOf(workload, 'Evicted') }
    case 'admitted': {
      const at = state.since === undefined ? {} : { since: state.since }
      if (told?.reason === 'LiftBlocked') return told
      return { reason: null, message: `it was admitted by queue ${state.queue}`, ...at }
    }
    case 'waiting': {
      if (state.told === undefined) {
        return { reason: 'WaitingForAdmission', message: 'its queue has not looked at it yet', pending: true }
      }
      const from = waitsSince(workload)
      return { reason: state.told.reason, message: state.told.message, ...(from !== undefined && { since: from }) }
    }
  }
}

function sinceOf(workload: QueuedWorkload, type: 'Finished' | 'Evicted'): { readonly since?: string } {
  const at = condition(workload, type)?.lastTransitionTime
  return at === undefined ? {} : { since: at }
}

function endOf({ found, engine }: Facts): string {
  const workload = workloadIn(found)
  const state = workload && engine.read(workload)
  return state?.kind === 'finished' ? state.message : 'it has ended'
}

type Spoken = Pick<Standing, 'reason' | 'note' | 'since'>

/** The first that knows: the Workload, the Event that said the same, the creation of who waits. */
function since({ found, told, engine }: Facts, { reason, note, since: noted }: Spoken): Stand & { reason: Reason } {
  const workload = workloadIn(found)
  const state = workload && engine.read(workload)
  const queued = state?.kind === 'waiting' && workload !== undefined ? waitsSince(workload) : undefined
  const changed = reason === 'Evicted' && workload !== undefined ? sinceOf(workload, 'Evicted').since : undefined
  const admitted = state?.kind === 'admitted' ? state.since : undefined
  const said = told?.reason === reason ? told.since : undefined
  const at = queued ?? noted ?? changed ?? said ?? admitted ?? createdAt(found)
  return { reason, message: note, ...(at !== undefined && { since: at }) }
}

function createdAt(found: Facts['found']): string | undefined {
  if (found.kind === 'pods') return (found.pod?.pod ?? found.unit.pods[0])?.metadata.creationTimestamp ?? undefined
  return found.kind === 'job' ? (found.unit.job?.metadata.creationTimestamp ?? undefined) : undefined
}

/**
 * That a write was refused stands in no object but the Event: from the objects alone it looks as if Muster were just
 * about to do it.
 */
function corrected({ told }: Facts, stand: Stand): Stand {
  if (told?.reason !== 'LiftBlocked' || (stand.reason !== 'Lifting' && stand.reason !== null)) return stand
  return { ...stand, ...told }
}
