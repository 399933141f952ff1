import type { WrittenAnswer } from './answer-review.ts'
import type { Fact, Settled } from './asking-world.ts'
import type { Subject } from './decision-log.ts'
import type { OpenQuestions } from './inquiry.ts'

/** The world lives with the caches, a large review in another thread. */
export type ToThread =
  | {
      readonly kind: 'review'
      readonly webhook: string
      readonly body: Uint8Array<ArrayBuffer>
      readonly settled: Settled
    }
  | { readonly kind: 'facts'; readonly facts: readonly Fact[] }

/** The last words of the thread about a review. */
export type ThreadReply =
  | WrittenAnswer
  | { readonly kind: 'unreadable'; readonly status: number; readonly reason: string }
  | { readonly kind: 'failed'; readonly uid: string; readonly about: Subject; readonly error: unknown }

/** For each message to the thread there is one back. */
export type FromThread = ThreadReply | OpenQuestions
