import type { Configuration } from '../config/configuration.ts'
import type { Found, OwnerFacts, World } from '../webhooks/world.ts'
import type { Fact, Question } from './thread-messages.ts'

/**
 * A world that knows only what it has been told, and notes what else it was asked. A verdict that was reached while
 * questions were open is worth nothing: `open` tells them, `learn` takes the answers, and the review is run again.
 */
export class AskingWorld implements World {
  readonly config: Configuration
  readonly self: string
  readonly #facts = new Map<string, unknown>()
  readonly #open = new Map<string, Question>()

  constructor(config: Configuration, self: string) {
    this.config = config
    this.self = self
  }

  get open(): readonly Question[] {
    return [...this.#open.values()]
  }

  learn(facts: readonly Fact[]): void {
    for (const { question, answer } of facts) this.#facts.set(keyOf(question), answer)
    this.#open.clear()
  }

  namespaceLabels(namespace: string): Found<Readonly<Record<string, string>>> {
    return this.#ask({ kind: 'namespaceLabels', namespace }, 'unknown')
  }

  owner(namespace: string, { apiVersion, kind, name, uid }: Parameters<World['owner']>[1]): Found<OwnerFacts> {
    return this.#ask({ kind: 'owner', namespace, reference: { apiVersion, kind, name, uid } }, 'unknown')
  }

  hasDefaultQueue(namespace: string): boolean {
    return this.#ask({ kind: 'hasDefaultQueue', namespace }, false)
  }

  #ask<T>(question: Question, meanwhile: T): T {
    const key = keyOf(question)
    if (this.#facts.has(key)) return this.#facts.get(key) as T
    this.#open.set(key, question)
    return meanwhile
  }
}

const keyOf = (question: Question): string => JSON.stringify(question)
