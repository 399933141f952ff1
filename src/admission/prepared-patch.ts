import type { PatchOperation } from './patch.ts'

/** A patch that many verdicts share. Whether it fits its object is asked each time; its text is written only once. */
export class PreparedPatch {
  readonly operations: readonly PatchOperation[]
  #encoded: string | undefined

  constructor(operations: readonly PatchOperation[]) {
    this.operations = operations
  }

  get encoded(): string {
    this.#encoded ??= encodePatch(this.operations)
    return this.#encoded
  }
}

/** As the API server reads it. */
export const encodePatch = (operations: readonly PatchOperation[]): string =>
  Buffer.from(JSON.stringify(operations)).toString('base64')
