import type { Action } from '../workload/actions.ts'

type Wait = Extract<Action, { readonly kind: 'UnlessPodsLeft' }>

/**
 * How long no pod may have been there. A controller that saw an object run is about to make its pods, whatever has
 * become of the object since; that takes it a moment, and nothing in the object's status says that it is at it.
 */
const STILL_MS = 2500
/** More than are ever stopped at once; then all are counted anew. */
const MOST = 10_000

/**
 * Since when no pod is left of what was stopped or deleted. It may be forgotten at any time, and is when a process
 * ends: whoever comes next counts from the beginning, so nothing is ever given back too early for it.
 */
export class Stillness {
  readonly #since = new Map<string, { readonly asOf: string; readonly at: number }>()

  /** `new`: nobody has looked yet, or something has happened to the object since. */
  of({ labelSelector, asOf }: Wait, now: number): 'new' | 'short' | 'long' {
    const known = this.#since.get(labelSelector)
    if (known?.asOf !== asOf) return 'new'
    return now - known.at < STILL_MS ? 'short' : 'long'
  }

  begins({ labelSelector, asOf }: Wait, now: number): void {
    if (this.#since.size >= MOST) this.#since.clear()
    this.#since.set(labelSelector, { asOf, at: now })
  }

  ends({ labelSelector }: Wait): void {
    this.#since.delete(labelSelector)
  }
}
