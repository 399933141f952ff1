import type { Reason } from '../../workload/reasons.ts'
import type { Counterfactual } from '../counterfactuals.ts'

export const SUBJECT_KINDS = ['pod', 'job', 'jobset', 'group', 'workload'] as const
export type SubjectKind = (typeof SUBJECT_KINDS)[number]

/** What somebody asks about. */
export interface Subject {
  readonly kind: SubjectKind
  readonly namespace: string
  readonly name: string
}

/** Why something is where it is, and what would move it. The same for people and for programs. */
export interface Explanation {
  readonly apiVersion: 'insight.muster.dev/v1alpha1'
  readonly kind: 'Explanation'
  readonly subject: Subject
  /** The Job or JobSet that waits in the stead of the pod that was asked about. */
  readonly through?: Subject
  /** Null: Muster holds nothing back. */
  readonly reason: Reason | null
  readonly since?: string
  readonly message: string
  readonly next: NextStep
  readonly workload?: string
  readonly queue?: QueueStanding
  readonly counterfactuals: readonly Counterfactual[]
  /** Pods of the group that stand elsewhere than the group itself. */
  readonly others: readonly Member[]
  /** What the caller may not read, and by which right he might. */
  readonly unseen: readonly string[]
}

/** What has to happen, and who can see to it. */
export interface NextStep {
  readonly what: string
  readonly who: string
}

export interface Member {
  readonly pod: string
  readonly reason: Reason
  readonly message: string
}

export type Quantities = Readonly<Record<string, string>>

/** Its place in the queue, as far as the whole queue could be seen. */
export interface QueueStanding {
  readonly name: string
  readonly limits: Quantities
  readonly usage: Quantities
  /** How many wait before it; absent when it is set aside. */
  readonly before?: number
  readonly waiting: number
  /** Who is before it, the next one first; a few of them. */
  readonly first: readonly Neighbour[]
  readonly holding: number
  /** Who has what it needs; a few of them. */
  readonly holders: readonly Neighbour[]
}

export interface Neighbour {
  readonly workload: string
  readonly asks: Quantities
  readonly since?: string
}
