import { createEnvelopeCheck } from './envelope.ts'
import { MAX_DEPTH } from './limits.ts'
import type { AdmissionReview } from './review.ts'

/** A body that is no AdmissionReview: the HTTP status and one sentence for the person who reads the logs. */
export interface Refusal {
  readonly status: 400 | 413 | 415
  readonly reason: string
}

export type Decoded = { readonly ok: AdmissionReview } | { readonly error: Refusal }

/** Creates the decoder that turns the bytes of a request into a review. Compiles the envelope schema once. */
export function createReviewDecoder(maxDepth: number = MAX_DEPTH): (body: Buffer) => Decoded {
  const check = createEnvelopeCheck()
  return body => {
    if (body.length === 0) return unreadable('the body is empty; send an AdmissionReview as JSON')
    if (deeperThan(body, maxDepth)) return unreadable(`the JSON nests deeper than ${maxDepth} levels`)
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
 * Six megabytes of brackets take JSON.parse about a second and break every recursive walker after it,
 * so nesting is counted on the bytes before anything is parsed.
 */
export function deeperThan(body: Uint8Array, maxDepth: number): boolean {
  const end = body.length
  let depth = 0
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
      if (depth > maxDepth) return true
    }
  }
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** What a byte outside of strings does to the depth; a quote stands for itself. */
const STEPS = Int8Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x7b || byte === 0x5b) return 1
  if (byte === 0x7d || byte === 0x5d) return -1
  return byte === QUOTE ? QUOTE : 0
})
