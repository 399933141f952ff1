/** What the language has and the compiler's library does not know yet. */
interface WithRawJson {
  /** Something that JSON.stringify writes as it stands. */
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
}

const { rawJSON, isRawJSON } = JSON as typeof JSON & WithRawJson

/** A number of any size. */
export const exactNumber = (digits: string): object => rawJSON(digits)
export const isExactNumber = (value: unknown): boolean => isRawJSON(value)
