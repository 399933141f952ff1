/**
 * Numbers and booleans inside labels and annotations are text. They are read as Go's strconv reads them, since
 * that is what decides in Kueue: a sign may lead, and nothing else may stand around the digits.
 */
export type Parsed = { readonly value: number } | { readonly problem: 'invalid syntax' | 'value out of range' }

export const MAX_INT32 = 2_147_483_647

const INTEGER = /^[+-]?[0-9]+$/
const MAX_UINT64 = 18_446_744_073_709_551_615n

/** Every count in the Kubernetes API is an int32: a larger one would be cut off, or ignored, further on. */
export function parseInt32(text: string): Parsed {
  if (!INTEGER.test(text)) return { problem: 'invalid syntax' }
  const value = Number(text)
  if (value > MAX_INT32 || value < -MAX_INT32 - 1) return { problem: 'value out of range' }
  return { value }
}

/** The sentence Go prints; people search the web for it. */
export function atoiProblem(text: string, problem: string): string {
  return `strconv.Atoi: parsing ${JSON.stringify(text)}: ${problem}`
}

export function isUint64(text: string): boolean {
  return /^[0-9]+$/.test(text) && (text.length <= 19 || (text.length <= 64 && BigInt(text) <= MAX_UINT64))
}

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False'])

export const isGoTrue = (text: string): boolean => TRUE.has(text)
export const isGoBoolean = (text: string): boolean => TRUE.has(text) || FALSE.has(text)
/** Undefined: it is none. */
export const parseBool = (text: string): boolean | undefined => (isGoBoolean(text) ? TRUE.has(text) : undefined)

/** As `atoiProblem`. */
export const parseBoolProblem = (text: string): string =>
  `strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`
