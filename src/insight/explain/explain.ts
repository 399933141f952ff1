import type { QueueView } from '../../engines/builtin/fifo.ts'
import type { Reason } from '../../workload/reasons.ts'
import { counterfactuals, type Outlook, outlookOf } from '../counterfactuals.ts'
import type { Explanation } from './explanation.ts'
import { type Facts, workloadIn } from './facts.ts'
import { nextStep } from './next-step.ts'
import { queueStanding } from './queue-standing.ts'
import { type Stand, standOf } from './standing.ts'

/** For these, who else is in the queue is the answer. */
const IN_QUEUE: ReadonlySet<Reason | null> = new Set<Reason | null>(['WaitingForAdmission', 'OverQueueLimits'])

/** Whether the Workloads of the whole cluster have to be read: they are many, and most questions do without. */
export function needsQueue(facts: Facts, now: string): boolean {
  const workload = workloadIn(facts.found)
  if (workload === undefined || facts.engine.decider === undefined || workload.spec.queueName === '') return false
  return IN_QUEUE.has(standOf(facts, now).reason)
}

/** One reason, since when, what has to happen and who can see to it, from nothing but what was read. */
export function explain(facts: Facts, now: string): Explanation {
  const { subject, through, unseen, config } = facts
  const told = standOf(facts, now)
  const workload = workloadIn(facts.found)
  const inQueue = IN_QUEUE.has(told.reason) && workload !== undefined && facts.workloads !== undefined
  // Without the configuration nobody knows the limits, and what follows from them would be invented.
  const outlook =
    inQueue && config !== undefined
      ? outlookOf(config.queues, ofQueue(facts, workload.spec.queueName), workload)
      : undefined
  const stand = asOfNow(told, outlook)
  const view = outlook?.view
  const queue = view && workload && queueStanding(workload, view)
  return {
    apiVersion: 'insight.muster.dev/v1alpha1',
    kind: 'Explanation',
    subject,
    ...(through && { through }),
    reason: stand.reason,
    ...(stand.since !== undefined && { since: stand.since }),
    message: messageOf(stand),
    next: nextStep(facts, stand, queue),
    ...(workload?.metadata.name !== undefined && { workload: workload.metadata.name }),
    ...(queue && { queue }),
    counterfactuals: view === undefined ? [] : whatIf(facts, view),
    others: stand.others ?? [],
    unseen,
  }
}

/** Somebody may have come or gone since it was told, with nobody there to tell it. */
function asOfNow(told: Stand, outlook: Outlook | undefined): Stand {
  if (outlook?.verdict === undefined || told.pending) return told
  if (typeof outlook.verdict === 'object') return { ...told, ...outlook.verdict }
  const whom =
    outlook.verdict === 'starts' ? 'it, and Muster has not admitted it' : 'others, and Muster has not admitted them'
  const message = `its queue has room for ${whom} yet`
  return { ...told, reason: 'WaitingForAdmission', message, pending: true }
}

const messageOf = ({ message }: Stand): string => message.replace(/\.$/, '')

const ofQueue = ({ workloads = [] }: Facts, queue: string) => workloads.filter(({ spec }) => spec.queueName === queue)

function whatIf(
  { config, found, workloads = [], namespaceLabels }: Facts,
  view: QueueView,
): Explanation['counterfactuals'] {
  const workload = workloadIn(found)
  if (workload === undefined || config === undefined) return []
  return counterfactuals({ workload, queues: config.queues, workloads, namespaceLabels }, view)
}
