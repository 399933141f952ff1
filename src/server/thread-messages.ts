import type { Needs } from '../admission/verdict.ts'
import type { Configuration } from '../config/configuration.ts'
import type { OwnerReference } from '../kube/vocabulary/objects.ts'
import type { World } from '../webhooks/world.ts'
import type { Decision } from './answer-review.ts'
import type { Subject } from './decision-log.ts'

/** What a review asks its world. The world lives with the caches, the review in another thread. */
export type Question =
  | { readonly kind: 'namespaceLabels'; readonly namespace: string }
  | { readonly kind: 'owner'; readonly namespace: string; readonly reference: OwnerReference }
  | { readonly kind: 'hasDefaultQueue'; readonly namespace: string }

export interface Fact {
  readonly question: Question
  readonly answer: unknown
}

export type ToThread =
  | {
      readonly kind: 'review'
      readonly webhook: string
      readonly body: Uint8Array<ArrayBuffer>
      readonly config: Configuration
      readonly self: string
    }
  | { readonly kind: 'facts'; readonly facts: readonly Fact[] }

/** The last words of the thread about a review. */
export type ThreadOutcome =
  | Decision
  | { readonly kind: 'unreadable'; readonly status: number; readonly reason: string }
  | { readonly kind: 'failed'; readonly uid: string; readonly about: Subject; readonly error: unknown }

/** For each message to the thread there is one back. */
export type FromThread = ThreadOutcome | Needs | { readonly kind: 'asks'; readonly questions: readonly Question[] }

export function answerFrom(world: World, question: Question): Fact {
  return { question, answer: answerTo(world, question) }
}

function answerTo(world: World, question: Question): unknown {
  switch (question.kind) {
    case 'namespaceLabels':
      return world.namespaceLabels(question.namespace)
    case 'owner':
      return world.owner(question.namespace, question.reference)
    case 'hasDefaultQueue':
      return world.hasDefaultQueue(question.namespace)
  }
}
