import { issuePair as issue, SERVING_NAMES, type ServingPair } from '../../src/tls/authority.ts'

/** A CA and a leaf of its own for every test file; issuing takes a few milliseconds. */
export async function issuePair(names: readonly string[] = SERVING_NAMES, now = Date.now()): Promise<ServingPair> {
  return await issue(names, now)
}
