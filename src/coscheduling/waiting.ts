import type { Pod } from '../kube/vocabulary/objects.ts'
import { cutToBytes } from '../kube/vocabulary/texts.ts'
import type { Standing } from '../reconciler/decision.ts'
import { foreignGates, isDeleting, isTerminal } from '../workload/pod-facts.ts'

/** As much of a scheduler's words as fits into an Event. */
const MAX_WORDS = 700

/** What is kept of a condition's message. */
export const inFewWords = (message: string): string => cutToBytes(message.trim(), MAX_WORDS)

/** Lifted or never behind our gate, and on no node yet. */
export const isUnplaced = (pod: Pod): boolean => !isTerminal(pod) && !pod.spec.nodeName

/** Where those stand whose gates have all fallen and whose PodGroup the scheduler holds, in its own words. */
export function heldByScheduler(unplaced: readonly Pod[], podGroup: string, why: string | undefined): Standing[] {
  if (why === undefined) return []
  return unplaced
    .filter(pod => foreignGates(pod).length === 0 && !isDeleting(pod))
    .map(pod => ({ pod, reason: 'WaitingForScheduler', note: `PodGroup ${podGroup}: ${why}`, steady: podGroup }))
}
