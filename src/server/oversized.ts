/** What the beginning of a review says about it. */
export interface ReviewPeek {
  readonly uid: string
  readonly operation: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
}

/** Enough for everything that the API server writes before `object`. */
export const PREFIX = 16 * 1024

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * The identity of a review of which only the beginning was kept. The API server writes `kind`, `apiVersion` and the
 * short fields of `request`, `uid` first, before the objects, so it is there even when the objects are too large.
 * Strings are read at their proper place only: a `uid` inside an object or inside a string is not taken for it.
 */
export function peekReview(prefix: Buffer): ReviewPeek | undefined {
  const found = new Map<string, string>()
  /** The keys under which the open objects and lists stand. */
  const open: string[] = []
  let key: string | undefined
  for (let index = 0; index < prefix.length; index++) {
    const byte = prefix[index]
    if (byte === QUOTE) {
      const end = stringEnd(prefix, index + 1)
      if (end === undefined) break
      const text = stringAt(prefix, index, end)
      if (text === undefined) return undefined
      index = end
      if (key === undefined) key = text
      else if (open.length === 1) found.set(key, text)
      else if (open.length === 2 && open[1] === 'request') found.set(`request.${key}`, text)
    } else if (byte === 0x7b || byte === 0x5b) {
      open.push(key ?? '')
      key = undefined
    } else if (byte === 0x7d || byte === 0x5d) {
      open.pop()
      key = undefined
    } else if (byte === 0x2c) {
      key = undefined
    }
  }
  const uid = found.get('request.uid')
  const isReview = found.get('kind') === 'AdmissionReview' && found.get('apiVersion') === 'admission.k8s.io/v1'
  if (!isReview || uid === undefined || uid === '' || uid.length > 256) return undefined
  return {
    uid,
    operation: found.get('request.operation'),
    namespace: found.get('request.namespace'),
    name: found.get('request.name'),
  }
}

function stringEnd(bytes: Buffer, from: number): number | undefined {
  for (let index = from; index < bytes.length; index++) {
    if (bytes[index] === BACKSLASH) index++
    else if (bytes[index] === QUOTE) return index
  }
  return undefined
}

function stringAt(bytes: Buffer, start: number, end: number): string | undefined {
  try {
    return JSON.parse(bytes.toString('utf8', start, end + 1))
  } catch {
    return undefined
  }
}
