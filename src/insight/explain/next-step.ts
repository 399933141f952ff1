import { QUEUE_NAME } from '../../kube/vocabulary/names.ts'
import type { JobUnit } from '../../reconciler/jobs/job-unit.ts'
import { isHeld } from '../../workload/job-facts.ts'
import { hasOurFinalizer, isDeleting } from '../../workload/pod-facts.ts'
import type { Reason } from '../../workload/reasons.ts'
import type { NextStep, QueueStanding } from './explanation.ts'
import { type Facts, workloadIn } from './facts.ts'
import type { Stand } from './standing.ts'

const AUTHOR = 'whoever creates its pods'
const MUSTER = 'Muster, by itself'
const DOCTOR = 'If it lasts longer than a minute, ask: muster doctor'

/** What has to happen next, and who can see to it. */
export function nextStep(facts: Facts, stand: Stand, queue: QueueStanding | undefined): NextStep {
  const { found } = facts
  if (found.kind === 'none') return { what: found.next, who: found.who }
  if (stand.pending) return { what: `Nothing: it takes a moment. ${DOCTOR}.`, who: MUSTER }
  return stand.reason === null ? notWaiting(facts) : STEPS[stand.reason](facts, stand, queue)
}

function notWaiting(facts: Facts): NextStep {
  if (isLeaving(facts)) return LEAVES
  const { found } = facts
  const unplaced = found.kind === 'pods' && found.pod !== undefined && found.pod.pod.spec.nodeName === undefined
  if (unplaced) {
    return { what: 'The scheduler has to find a node for it: kubectl describe pod says more.', who: 'the scheduler' }
  }
  return { what: 'Nothing: Muster holds nothing back.', who: 'nobody' }
}

/** It was deleted, and our finalizer keeps it until its end is counted. */
const isLeaving = ({ found }: Facts): boolean =>
  found.kind === 'pods' && found.pod !== undefined && isDeleting(found.pod.pod) && hasOurFinalizer(found.pod.pod)

const LEAVES: NextStep = {
  what: `Nothing: when it has stopped, Muster takes its finalizer off, and it goes. ${DOCTOR}.`,
  who: MUSTER,
}

type Step = (facts: Facts, stand: Stand, queue: QueueStanding | undefined) => NextStep

const STEPS: Readonly<Record<Reason, Step>> = {
  WaitingForPods: () => ({
    what: 'Create the pods that are missing, or correct the size of the group on all of them.',
    who: AUTHOR,
  }),
  InvalidGroup: () => ({ what: 'Delete what the message names, and create it right.', who: AUTHOR }),
  WaitingForAdmission: ({ engine, found }, _, queue) => {
    const where = workloadIn(found)?.spec.queueName
    if (where === '') return { what: `Give it a queue: set the label ${QUEUE_NAME}.`, who: AUTHOR }
    if (engine.decider === undefined) return { what: 'Kueue has to admit it: see its ClusterQueue.', who: 'Kueue' }
    if (queue?.before === undefined) return { what: 'Those before it in its queue have to start first.', who: HOLDERS }
    if (queue.before === 0) return { what: `Nothing: it is the first. ${DOCTOR}.`, who: MUSTER }
    const [first] = queue.first
    const count = queue.before === 1 ? '1 workload' : `${queue.before} workloads`
    return { what: `${count} before it must start first; the next is ${first?.workload}.`, who: HOLDERS }
  },
  OverQueueLimits: (_, __, queue) => {
    if (queue !== undefined && queue.before === undefined) {
      return { what: 'It has to ask for less, or the limits of its queue have to rise.', who: `${AUTHOR}; ${LIMITS}` }
    }
    return { what: 'Some of those who hold the queue have to finish, or its limits have to rise.', who: HOLDERS_LIMITS }
  },
  Lifting: () => ({ what: `Nothing: it takes a moment. ${DOCTOR}.`, who: MUSTER }),
  LiftBlocked: () => ({
    what: 'Put right what the message names. Muster tries again by itself; what has ended is created anew.',
    who: `${AUTHOR}, or whoever runs what refuses it`,
  }),
  ForeignGates: () => ({
    what: 'The gate that the message names has to go. Muster never touches gates of others.',
    who: 'whoever set that gate',
  }),
  ExcessPod: () => ({ what: 'Delete it: its group has all the pods that its size says.', who: AUTHOR }),
  WaitingForReplacement: () => ({
    what: 'Create as many pods of the same shape as have failed, or delete the group.',
    who: AUTHOR,
  }),
  Evicted: facts => {
    const workload = workloadIn(facts.found)
    const { found } = facts
    if (found.kind === 'job' && found.unit.job !== undefined && isHeld(found.unit.job)) return resume(found.unit)
    if (workload?.spec.active !== false) {
      return { what: 'Nothing: when its pods have stopped, it waits for its turn again.', who: MUSTER }
    }
    const { plural, group } = facts.engine.workloads
    const { namespace, name } = workload.metadata
    const command = `kubectl patch ${plural}.${group} ${name} -n ${namespace} --type=merge -p '{"spec":{"active":true}}'`
    return { what: `Switch it on again: ${command}`, who: 'whoever may change Workloads in its namespace' }
  },
  WaitingForScheduler: () => ({
    what: 'There has to be room on the nodes for all of its pods at once.',
    who: 'the scheduler, or whoever adds nodes',
  }),
  Finished: facts =>
    isLeaving(facts) ? LEAVES : { what: 'Nothing: it is over. To run it again, create it anew.', who: AUTHOR },
}

/** Its user has suspended it, and nobody else may resume it. */
function resume({ kind, job }: JobUnit): NextStep {
  const { namespace, name } = job?.metadata ?? {}
  const command = `kubectl patch ${kind.word} ${name} -n ${namespace} --type=merge -p '{"spec":{"suspend":false}}'`
  return { what: `Resume it, and it waits in its queue again: ${command}`, who: `whoever may update the ${kind.word}` }
}

const HOLDERS = 'whoever runs what is before it'
const LIMITS = "whoever sets queues[].limits in Muster's configuration"
const HOLDERS_LIMITS = `whoever runs what holds the queue; ${LIMITS}`
