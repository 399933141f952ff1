import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'

export interface WaitOptions {
  readonly timeoutMs?: number
  readonly intervalMs?: number
}

const NOT_YET: readonly unknown[] = [false, null, undefined]

/**
 * Asks again until the answer is there, and returns it. `false`, `null`, `undefined` and an exception mean "not yet":
 * so a check can also be a block of assertions that returns something. When time is up the error tells what was
 * seen last, because "timed out" alone helps nobody.
 */
export async function eventually<T>(
  description: string,
  check: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const timeoutMs = options.timeoutMs ?? 90_000
  const intervalMs = options.intervalMs ?? 100
  const deadline = performance.now() + timeoutMs
  let seen: { readonly what: string; readonly cause?: unknown }
  do {
    try {
      const value = await check()
      if (!NOT_YET.includes(value)) return value as Exclude<T, false | null | undefined>
      seen = { what: `the last answer was ${inspect(value)}` }
    } catch (error) {
      seen = { what: `the last error was: ${error instanceof Error ? error.message : inspect(error)}`, cause: error }
    }
    await sleep(intervalMs)
  } while (performance.now() < deadline)
  throw new Error(`not within ${timeoutMs} ms: ${description}; ${seen.what}`, { cause: seen.cause })
}
