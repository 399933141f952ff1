import { ADMISSION_GATE, MANAGED, POD_GROUP, QUEUE_NAME } from '../../kube/vocabulary/names.ts'
import type { Pod } from '../../kube/vocabulary/objects.ts'
import type { JobKind } from '../../workload/jobs/job-kind.ts'
import { awaitsPodGroup, hasOurFinalizer, isDeleting, isGated } from '../../workload/pod-facts.ts'
import type { Found } from './facts.ts'

type None = Extract<Found, { kind: 'none' }>

export const noQueue = (what: string): None => ({
  kind: 'none',
  message: `the ${what} names no queue: it has no label ${QUEUE_NAME}`,
  next: `Nothing, if it shall not wait. Else create it anew with that label.`,
  who: `whoever creates the ${what}`,
})

/** Muster saw it and left it alone, or was not asked. */
export const notTaken = (what: string): None => ({
  kind: 'none',
  message: `the ${what} names a queue, and Muster does not hold it back: when it was created, its namespace was not selected or Muster was not there`,
  next: `Create the ${what} anew. If it starts at once again, ask: muster doctor`,
  who: `whoever creates the ${what}`,
})

export const foreign = ({ resource, controller }: JobKind): None => ({
  kind: 'none',
  message: `another controller than ${controller} looks after the ${resource.kind} (spec.managedBy), and Muster leaves it alone`,
  next: `Ask that controller why it waits.`,
  who: 'whoever runs that controller',
})

/**
 * A pod without our label that one of our gates, or our finalizer, holds all the same: it waits, and for nobody who
 * will come. `muster doctor` counts them (GateForgotten, FinalizerStray).
 */
export function leftBehind(pod: Pod): None | undefined {
  if (isDeleting(pod)) return hasOurFinalizer(pod) ? stuck : undefined
  if (isGated(pod)) return forgotten
  return awaitsPodGroup(pod) ? ungrouped : undefined
}

const stuck: None = {
  kind: 'none',
  message: `it is being deleted, and the finalizer ${MANAGED} keeps it: without the label of that name nobody watches it`,
  next: `Take the finalizer ${MANAGED} off it.`,
  who: 'whoever may update the pod',
}

const forgotten: None = {
  kind: 'none',
  reason: 'LiftBlocked',
  message: `it has the gate ${ADMISSION_GATE} without the label ${MANAGED}, so Muster does not look after it, and will not lift that gate`,
  next: `Delete the pod, and create it anew with its queue in the label ${QUEUE_NAME}, and without the gate.`,
  who: 'whoever creates the pod, or whoever put the gate there',
}

const ungrouped: None = {
  kind: 'none',
  reason: 'LiftBlocked',
  message: `it waits behind the gate ${POD_GROUP} until the group that it names is there and has a PodGroup of KAI`,
  next: 'What the pod names has to be created: kubectl describe pod says what is missing.',
  who: 'whoever creates the pod',
}
