import { MAX_DEPTH, MAX_NESTS } from '../documents/limits.ts'
import { createEnvelopeCheck } from './envelope.ts'
import type { AdmissionReview } from './review.ts'

/** A body that is no AdmissionReview: the HTTP status and one sentence for the person who reads the logs. */
export interface Refusal {
  readonly status: 400 | 413 | 415
  readonly reason: string
}

export type ReviewDecoder = (body: Buffer) => Decoded

export type Decoded = { readonly ok: AdmissionReview } | { readonly error: Refusal }

/** Creates the decoder that turns the bytes of a request into a review. Compiles the envelope schema once. */
export function createReviewDecoder(maxDepth: number = MAX_DEPTH): ReviewDecoder {
  const check = createEnvelopeCheck()
  return body => {
    if (body.length === 0) return unreadable('the body is empty; send an AdmissionReview as JSON')
    if (hasMoreBrackets(body, maxDepth)) {
      const problem = nestProblem(body, maxDepth)
      if (problem !== undefined) return unreadable(problem)
    }
    let value: unknown
    try {
      value = JSON.parse(body.toString('utf8'))
    } catch (error) {
      return unreadable(`the body is not JSON: ${syntaxProblem(error)}`)
    }
    const checked = check(value)
    return 'ok' in checked ? checked : unreadable(`not a readable AdmissionReview: ${checked.problem}`)
  }
}

const unreadable = (reason: string): Decoded => ({ error: { status: 400, reason } })

/** V8 quotes the body in its messages; a body may hold a Secret, so only the position is passed on. */
function syntaxProblem(error: unknown): string {
  const position = error instanceof Error ? /at position \d+/.exec(error.message)?.[0] : undefined
  return position === undefined ? 'syntax error' : `syntax error ${position}`
}

/**
 * Six megabytes of brackets take JSON.parse about a second and break every recursive walker after it, and an empty
 * list takes twenty times as much memory as text. So nesting and number are counted on the bytes before anything is
 * parsed.
 */
export function nestProblem(body: Uint8Array, maxDepth: number, maxNests: number = MAX_NESTS): string | undefined {
  const end = body.length
  let depth = 0
  let nests = 0
  let index = 0
  while (index < end) {
    const step = STEPS[body[index++] as number]
    if (step === 0) continue
    if (step === QUOTE) {
      // Most bytes of a review are inside of strings; a backslash hides whatever follows it.
      for (let byte = body[index++]; byte !== QUOTE && index <= end; byte = body[index++])
        if (byte === BACKSLASH) index++
    } else {
      depth += step as number
      if (step === 1) nests++
      if (depth > maxDepth) return `the JSON nests deeper than ${maxDepth} levels`
    }
  }
  return nests > maxNests ? `the JSON has more than ${maxNests} objects and lists` : undefined
}

/**
 * What opens fewer brackets than a nest has levels is no such nest, wherever they stand. Counting them needs no look
 * into strings, so four bytes are taken at a time: setting one bit makes `[` and `{` the same byte, and subtracting 1
 * from a zero byte is what flips its top bit. It may count a neighbour of a bracket too, never miss one.
 */
export function hasMoreBrackets(body: Uint8Array, limit: number): boolean {
  if (body.length <= limit) return false
  // Too short to hold a whole word at every alignment.
  if (body.length < 8) return true
  const before = -body.byteOffset & 3
  const words = new Uint32Array(body.buffer, body.byteOffset + before, (body.length - before) >> 2)
  // The bytes before the first and after the last word, each as if it were a bracket.
  let brackets = body.length - 4 * words.length
  for (let index = 0; index < words.length; index++) {
    const other = ((words[index] as number) | 0x20202020) ^ 0x7b7b7b7b
    const zeros = (other - 0x01010101) & ~other & 0x80808080
    if (zeros === 0) continue
    brackets += Math.imul(zeros >>> 7, 0x01010101) >>> 24
    if (brackets > limit) return true
  }
  return brackets > limit
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** What a byte outside of strings does to the depth; a quote stands for itself. */
const STEPS = Int8Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x7b || byte === 0x5b) return 1
  if (byte === 0x7d || byte === 0x5d) return -1
  return byte === QUOTE ? QUOTE : 0
})
