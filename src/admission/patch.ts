/** One operation of a JSON Patch (RFC 6902). Muster only ever adds and replaces. */
export interface PatchOperation {
  readonly op: 'add' | 'replace'
  readonly path: string
  readonly value: unknown
}
