import type { Clock } from '../kube/vocabulary/clock.ts'
import type { CachedWorld, Fact, Lookup, Question } from './asking-world.ts'
import { BudgetExceeded, within } from './budget.ts'

/** The review asked what nobody has answered yet. */
export interface OpenQuestions {
  readonly kind: 'asks'
  readonly questions: readonly Question[]
}

/** Fetches what no cache holds: a namespace or an owner that was created a moment ago. */
export type LookUp = (lookups: readonly Lookup[], signal: AbortSignal) => Promise<readonly Fact[]>

export type Inquiry = (questions: readonly Question[]) => Promise<readonly Fact[]>

export interface InquiryDeps {
  readonly world: CachedWorld
  readonly lookup: LookUp | undefined
  readonly clock: Clock
  readonly until: number
  readonly budget: number
}

/** An owner chain has to be fetched link by link; ten links is where Kueue's own walk stops. */
const MAX_ROUNDS = 12

/** Answers the questions of one review: from the caches, and what they do not know from the cluster, while there is time. */
export function createInquiry({ world, lookup, clock, until, budget }: InquiryDeps): Inquiry {
  const late = new BudgetExceeded(budget)
  let rounds = 0
  return async questions => {
    const facts: Fact[] = []
    const lookups: Lookup[] = []
    for (const question of questions) {
      const answered = answerFrom(world, question)
      if ('answer' in answered) facts.push(answered)
      else lookups.push(answered)
    }
    if (lookups.length === 0) return facts
    if (lookup === undefined) throw new Error('the review needs objects from the cluster, and there is no cluster')
    if (rounds++ === MAX_ROUNDS) {
      throw new Error(`the review still needs objects after ${MAX_ROUNDS} rounds of looking them up`)
    }
    const found = await within(clock, until - clock.monotonic(), late, signal => lookup(lookups, signal))
    return [...facts, ...found]
  }
}

function answerFrom(world: CachedWorld, question: Question): Fact | Lookup {
  if (question.kind === 'hasDefaultQueue') return { question, answer: world.hasDefaultQueue(question.namespace) }
  const answer =
    question.kind === 'owner'
      ? world.owner(question.namespace, question.reference)
      : world.namespace(question.namespace)
  return answer === 'unknown' ? question : { question, answer }
}

/** Asks, tells the review what was found, and has it run again, until it has nothing left to ask. */
export async function untilAnswered<Reply extends { readonly kind: string }>(
  first: Reply | OpenQuestions,
  inquire: Inquiry,
  tell: (facts: readonly Fact[]) => Reply | OpenQuestions | Promise<Reply | OpenQuestions>,
): Promise<Reply> {
  let reply = first
  while (isOpen(reply)) reply = await tell(await inquire(reply.questions))
  return reply
}

const isOpen = (reply: { readonly kind: string }): reply is OpenQuestions => reply.kind === 'asks'
