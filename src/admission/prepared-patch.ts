import { checkPatch, type Parents, type PatchOperation, parentsOf } from './patch.ts'

/** A patch that many verdicts share. Whether it fits its object is asked each time; all else is worked out only once. */
export class PreparedPatch {
  readonly operations: readonly PatchOperation[]
  readonly #parents: Parents | undefined
  #encoded: string | undefined

  constructor(operations: readonly PatchOperation[]) {
    this.operations = operations
    this.#parents = parentsOf(operations)
  }

  check(document: unknown): void {
    checkPatch(document, this.operations, this.#parents)
  }

  get encoded(): string {
    this.#encoded ??= encodePatch(this.operations)
    return this.#encoded
  }
}

/** As the API server reads it. */
export const encodePatch = (operations: readonly PatchOperation[]): string =>
  Buffer.from(JSON.stringify(operations)).toString('base64')
