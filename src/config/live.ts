import { isDeepStrictEqual } from 'node:util'
import type { Configuration } from './configuration.ts'

/**
 * The configuration in force. Whoever reads it gets the one of this moment, and keeps it for as long as one decision
 * takes; whoever has made something of it is told when there is another.
 */
export class LiveConfiguration {
  readonly #listeners = new Set<(next: Configuration, previous: Configuration) => void>()
  #current: Configuration

  constructor(first: Configuration) {
    this.#current = first
  }

  get current(): Configuration {
    return this.#current
  }

  /** Returns how to be told no more. */
  onChange(listener: (next: Configuration, previous: Configuration) => void): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  replace(next: Configuration): void {
    const previous = this.#current
    this.#current = next
    for (const listener of this.#listeners) listener(next, previous)
  }
}

/** What is made of a key once, when the process starts: who admits, what is watched, which names objects have. */
const AT_START: readonly (readonly [string, (config: Configuration) => unknown])[] = [
  ['engine', config => config.engine],
  ['integrations.frameworks', config => config.integrations.frameworks],
  ['coScheduling.backend', config => config.coScheduling.backend],
  ['coScheduling.kai.naming', config => config.coScheduling.kai.naming],
]

/** The keys that take a restart, whatever stands in them. */
export const KEYS_AT_START: readonly string[] = AT_START.map(([key]) => key)

/** All of `next` that can be taken over now, and the keys of which the old value stays in force until a restart. */
export function takenOver(
  next: Configuration,
  running: Configuration,
): { readonly config: Configuration; readonly kept: readonly string[] } {
  const kept = AT_START.filter(([, read]) => !isDeepStrictEqual(read(next), read(running))).map(([key]) => key)
  const { backend, kai } = running.coScheduling
  const config: Configuration = {
    ...next,
    engine: running.engine,
    integrations: { ...next.integrations, frameworks: running.integrations.frameworks },
    coScheduling: { ...next.coScheduling, backend, kai: { ...next.coScheduling.kai, naming: kai.naming } },
  }
  return { config, kept }
}
