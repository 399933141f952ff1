import type { EventRecorder } from '../kube/coordination/events.ts'
import type { Pod } from '../kube/vocabulary/objects.ts'
import { uidOf } from '../workload/pod-facts.ts'
import { eventType, REASONS, type Reason } from '../workload/reasons.ts'
import type { Standing } from './decision.ts'

/** Reasons for which a pod still waits; the others end its wait. */
const WAITING: ReadonlySet<Reason> = new Set([
  'WaitingForPods',
  'InvalidGroup',
  'WaitingForAdmission',
  'OverQueueLimits',
  'LiftBlocked',
  'ForeignGates',
  'ExcessPod',
  'Evicted',
])

/** Tells each pod once why it stands where it stands: one Event per change, none while nothing changes. */
export class Standings {
  readonly #events: EventRecorder
  readonly #gauge: { waiting(reason: string, pods: number): void }
  readonly #told = new Map<string, { readonly reason: Reason; readonly note: string }>()
  readonly #counts = new Map<Reason, number>()
  #leadingSince = 0

  constructor(events: EventRecorder, gauge: { waiting(reason: string, pods: number): void }) {
    this.#events = events
    this.#gauge = gauge
    for (const reason of REASONS) if (WAITING.has(reason)) gauge.waiting(reason, 0)
  }

  /** Timestamps in the cluster have no fractions of a second. */
  lead(now: number): void {
    this.#leadingSince = Math.floor(now / 1000) * 1000
  }

  /** Another leads, and counts: what we knew of the pods ages from here on. */
  rest(): void {
    this.#told.clear()
    for (const reason of this.#counts.keys()) this.#gauge.waiting(reason, 0)
    this.#counts.clear()
  }

  tell(standings: readonly Standing[]): void {
    for (const { pod, reason, note, since } of standings) {
      const told = this.#told.get(uidOf(pod))
      if (told?.reason === reason && told.note === note) continue
      this.#count(told?.reason, -1)
      this.#count(reason, 1)
      this.#told.set(uidOf(pod), { reason, note })
      if (told === undefined && this.#isOldNews(pod, since)) continue
      const { namespace, name = '', uid = '' } = pod.metadata
      const regarding = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid }
      this.#events.record({ regarding, type: eventType(reason), reason, action: 'Queue', note })
    }
  }

  /** Whoever led then wrote it down, and told the pods that were there. */
  #isOldNews({ metadata: { creationTimestamp } }: Pod, since: string | undefined): boolean {
    if (since === undefined || (creationTimestamp ?? '') > since) return false
    return Date.parse(since) < this.#leadingSince
  }

  forget(pod: Pod): void {
    this.#count(this.#told.get(uidOf(pod))?.reason, -1)
    this.#told.delete(uidOf(pod))
    this.#events.forget(uidOf(pod))
  }

  #count(reason: Reason | undefined, change: number): void {
    if (reason === undefined || !WAITING.has(reason)) return
    const count = (this.#counts.get(reason) ?? 0) + change
    this.#counts.set(reason, count)
    this.#gauge.waiting(reason, count)
  }
}
