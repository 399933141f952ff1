import type { PatchOperation } from '../admission/patch.ts'
import type { DocumentSource } from '../documents/documents.ts'
import type { Place, Unreadable } from '../documents/place.ts'
import type { FieldErrorType } from '../validation/field-error.ts'

/** One reviewed object, with the keys and the order of keys that `-o json` promises. */
export interface Result {
  readonly source: ResultSource
  readonly operation: string
  readonly kind: string
  readonly namespace: string
  /** A name that the API server will complete ends with `*`, which no real name has. */
  readonly name: string
  readonly allowed: boolean
  /** One word of `REVIEW_REASONS`: why it was let through or refused. */
  readonly reason: string
  readonly code: number
  readonly message: string
  readonly errors: readonly ReportedError[]
  readonly findings: readonly Finding[]
  readonly warnings: readonly string[]
  readonly patch: readonly PatchOperation[]
  readonly result: unknown
}

export interface ResultSource extends DocumentSource {
  /** From the object to the pod template that was reviewed, as `spec.template`. */
  readonly path?: string
}

export interface ReportedError extends Place {
  readonly field: string
  readonly type: FieldErrorType
  readonly detail: string
  readonly value: unknown
}

export type Severity = 'error' | 'warning'

/** What a lint found, beyond what the webhooks say. */
export interface Finding extends Place {
  /** Stable: suppressions and baselines name it. */
  readonly code: string
  readonly severity: Severity
  readonly message: string
  readonly field: string
}

/** What becomes known while inputs are read, in their order. */
export type Entry =
  | {
      readonly kind: 'result'
      readonly result: Result
      /** The object before mutation. */
      readonly given: unknown
      /** How many findings are not among those of the result, because somebody does not want them. */
      readonly suppressed: number
      /** Those of them that the baseline forgives: the next baseline must not forget them. */
      readonly forgiven: readonly Finding[]
    }
  /** Something that could not be read: input, cluster state, configuration. */
  | { readonly kind: 'unreadable'; readonly unreadable: Unreadable }
  /** A failure of Muster itself, with its stack. */
  | { readonly kind: 'failure'; readonly stack: string }

export interface Counts {
  readonly objects: number
  readonly admitted: number
  readonly denied: number
  /** Of findings, and warnings of webhooks. */
  readonly errors: number
  readonly warnings: number
  readonly suppressed: number
  readonly unreadable: number
}

/** Counts entries as they pass by. */
export class Tally {
  #objects = 0
  #denied = 0
  #errors = 0
  #warnings = 0
  #unreadable = 0
  #failures = 0
  #suppressed = 0

  add(entry: Entry): void {
    if (entry.kind === 'unreadable') this.#unreadable++
    else if (entry.kind === 'failure') this.#failures++
    else {
      const { allowed, findings, warnings } = entry.result
      this.#objects++
      this.#suppressed += entry.suppressed
      if (!allowed) this.#denied++
      this.#warnings += warnings.length
      for (const { severity } of findings) {
        if (severity === 'error') this.#errors++
        else this.#warnings++
      }
    }
  }

  get failures(): number {
    return this.#failures
  }

  get counts(): Counts {
    return {
      objects: this.#objects,
      admitted: this.#objects - this.#denied,
      denied: this.#denied,
      errors: this.#errors,
      warnings: this.#warnings,
      suppressed: this.#suppressed,
      unreadable: this.#unreadable,
    }
  }
}
