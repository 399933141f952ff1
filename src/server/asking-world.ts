import type { Configuration } from '../config/configuration.ts'
import type { OwnerReference } from '../kube/vocabulary/objects.ts'
import type { ServedScheduling } from '../kube/vocabulary/served-scheduling.ts'
import { PLAIN_ROLES, type Roles } from '../webhooks/roles.ts'
import type { Found, NamespaceFacts, OwnerFacts, World } from '../webhooks/world.ts'

/** A cache can't always tell "it does not exist" from "I have not seen it". */
export type Known<T> = T | 'unknown'

/** What the server can answer at once. A world that knows everything is one of these, too. */
export interface CachedWorld {
  readonly config: Configuration
  readonly self: string
  readonly holds: readonly string[]
  /** As it is now: it changes when an API is installed, or taken away. */
  scheduling(): ServedScheduling
  namespace(name: string): Known<Found<NamespaceFacts>>
  owner(namespace: string, reference: OwnerReference): Known<Found<OwnerFacts>>
  hasDefaultQueue(namespace: string): boolean
}

/** What a review asked and nobody could answer. Data, since the one who asks may be in another thread. */
export type Question = Lookup | { readonly kind: 'hasDefaultQueue'; readonly namespace: string }

/** What a cache may not have seen yet. Of queues it has seen all before it answers. */
export type Lookup =
  | { readonly kind: 'namespace'; readonly namespace: string }
  | { readonly kind: 'owner'; readonly namespace: string; readonly reference: OwnerReference }

export interface Fact {
  readonly question: Question
  readonly answer: Found<NamespaceFacts> | Found<OwnerFacts> | boolean
}

/** What is settled before the first question; the review thread, where no caches are, begins with nothing else. */
export type Settled = Pick<CachedWorld, 'config' | 'self' | 'holds'> & { readonly served: ServedScheduling }

/**
 * A world that notes what it was asked and could not answer. The rules get an answer all the same, as if there were no
 * such thing, and know nothing of it: a verdict that was reached while questions were open is worth nothing. `open`
 * tells them, `learn` takes the answers, and the review is run again.
 */
export class AskingWorld implements World {
  readonly config: Configuration
  readonly self: string
  readonly holds: readonly string[]
  readonly roles: Roles
  readonly #known: Settled | CachedWorld
  #facts: Map<string, Fact['answer']> | undefined
  #open: Map<string, Question> | undefined

  constructor(known: Settled | CachedWorld, roles: Roles = PLAIN_ROLES) {
    this.config = known.config
    this.self = known.self
    this.holds = known.holds
    this.roles = roles
    this.#known = known
  }

  get #cached(): CachedWorld | undefined {
    return 'served' in this.#known ? undefined : this.#known
  }

  get open(): readonly Question[] {
    return this.#open === undefined ? NOTHING : [...this.#open.values()]
  }

  learn(facts: readonly Fact[]): void {
    this.#facts ??= new Map()
    for (const { question, answer } of facts) this.#facts.set(keyOf(question), answer)
    this.#open = undefined
  }

  namespace(name: string): Found<NamespaceFacts> {
    const namespace = this.#cached?.namespace(name) ?? 'unknown'
    return namespace === 'unknown' ? this.#ask({ kind: 'namespace', namespace: name }, 'absent') : namespace
  }

  owner(namespace: string, reference: OwnerReference): Found<OwnerFacts> {
    const owner = this.#cached?.owner(namespace, reference) ?? 'unknown'
    if (owner !== 'unknown') return owner
    const { apiVersion, kind, name, uid } = reference
    return this.#ask({ kind: 'owner', namespace, reference: { apiVersion, kind, name, uid } }, 'absent')
  }

  hasDefaultQueue(namespace: string): boolean {
    const has = this.#cached?.hasDefaultQueue(namespace)
    return has ?? this.#ask({ kind: 'hasDefaultQueue', namespace }, false)
  }

  scheduling(): ServedScheduling {
    return 'served' in this.#known ? this.#known.served : this.#known.scheduling()
  }

  #ask<T extends Fact['answer']>(question: Question, meanwhile: T): T {
    const key = keyOf(question)
    // The key holds the kind of the question, and with it the type of the answer.
    const answer = this.#facts?.get(key) as T | undefined
    if (answer !== undefined) return answer
    this.#open ??= new Map()
    this.#open.set(key, question)
    return meanwhile
  }
}

const NOTHING: readonly Question[] = []

const keyOf = (question: Question): string => JSON.stringify(question)
