import { isDeepStrictEqual } from 'node:util'
import type { PodSpec, StringMap } from '../../kube/vocabulary/objects.ts'
import type { Suspendable } from '../job-facts.ts'
import type { Ending, PodSet } from '../queued-workload.ts'
import { type PodDefaults, withDefaults } from './pod-defaults.ts'

/**
 * What the cache keeps of a Job or a JobSet, the same for both: what decisions read, and bounded whatever it holds.
 * Its marks are in its metadata, as on the object itself.
 */
export interface QueuedJob extends Suspendable {
  /** One for each template, in the order of the object. */
  readonly podSets: readonly JobPodSet[]
  readonly priority: number
  /** Why what it asks for was too much to be kept: nobody can count it, so it is never started. */
  readonly excess?: string
  /** Another controller than the usual one looks after it (`spec.managedBy`), and with it another queue. */
  readonly foreign: boolean
  readonly progress: Progress
}

export interface Progress {
  /** It has a start time, without which old API servers let nobody change its template. */
  readonly startTime: boolean
  /** Its controller has said that it is suspended. */
  readonly seenSuspended: boolean
  /** It runs, and its controller has said nothing of it since: it may be about to make pods of what it has seen before. */
  readonly unseen?: boolean
  /** Suspended, and its controller knows of no pod of it, the terminating ones included. */
  readonly stopped: boolean
  readonly end?: Ending
}

/** The pods of one template. */
export interface JobPodSet {
  readonly name: string
  readonly count: number
  readonly minCount?: number
  /** How many of them it takes from now on: fewer, when some have done their work or are not wanted any more. */
  readonly needed: number
  /** How many are there, those that terminate included, where its status counts pods. */
  readonly present?: number
  /** What the template asks for, as JSON. */
  readonly asks: string
  readonly runtimeClass?: string
  /** Whether the template has metadata at all: what is not there cannot be added to. */
  readonly hasMetadata: boolean
  /** What an admission has written in the template, where it has labels and annotations. */
  readonly labels?: StringMap
  readonly annotations?: StringMap
}

/** What a template becomes. Null takes away; what is not named stays. */
export interface TemplateChange {
  readonly podSet: JobPodSet
  readonly count?: number
  readonly labels?: Delta
  readonly annotations?: Delta
  readonly nodeSelector?: Delta
  /** All of them, or null for none. */
  readonly tolerations?: PodSpec['tolerations']
}

export type Delta = Readonly<Record<string, string | null>>

/** What becomes of a Job in one write. */
export interface JobChange {
  readonly suspend?: boolean
  readonly annotations?: Delta
  readonly templates?: readonly TemplateChange[]
}

export const specIn = ({ asks }: JobPodSet): PodSpec => JSON.parse(asks) as PodSpec

/** What its Workload is charged with: what its pods will ask for when the API server has filled in what they leave out. */
export function chargedPodSets({ podSets }: QueuedJob, defaults: PodDefaults): readonly PodSet[] {
  return podSets
    .filter(({ count }) => count > 0)
    .map(podSet => ({
      name: podSet.name,
      count: podSet.count,
      ...(podSet.minCount !== undefined && { minCount: podSet.minCount }),
      template: { spec: withDefaults(specIn(podSet), podSet.runtimeClass, defaults) },
    }))
}

export function areCharged(wanted: readonly PodSet[], charged: readonly PodSet[]): boolean {
  return isDeepStrictEqual(wanted.map(comparable), charged.map(comparable))
}

/** Fields that an engine adds to a podSet are its own. */
const comparable = ({ name, count, minCount, template }: PodSet) => ({ name, count, minCount, spec: template.spec })
