import { systemClock } from '../../src/kube/vocabulary/clock.ts'

/** Waits until something that the test has set in motion has happened, and says what did not. */
export async function eventually(what: string, condition: () => boolean, timeoutMs = 60_000): Promise<void> {
  const deadline = systemClock.monotonic() + timeoutMs
  while (!condition()) {
    if (systemClock.monotonic() > deadline) throw new Error(`did not happen within ${timeoutMs} ms: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}
