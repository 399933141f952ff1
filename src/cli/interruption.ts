import { constants } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { EXIT } from './command.ts'

/** Somebody wants the command to end before it is done. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly signal: Signal

  constructor(signal: Signal) {
    super(`interrupted by ${signal}: not everything was reviewed`)
    this.signal = signal
  }

  /** As the shell has it. */
  get exitCode(): number {
    return 128 + constants.signals[this.signal]
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type Signal = (typeof SIGNALS)[number]

/** For how long nobody listens: long enough to cost nothing, short enough that nobody presses the keys again. */
const BREATH_MS = 50
/** Who has not paused by then waits for an input that may never come. */
const PATIENCE_MS = 1_000

/** Nobody presses the keys twice within this. */
const ECHO_MS = 500

/**
 * One Ctrl-C comes more than once: the terminal sends it to every process, and npm and our own launcher (bin/muster.js)
 * send theirs on. The echoes are not a second one, by which somebody shows that he has lost patience; that ends the
 * process as it would have without this.
 */
function onFirst(
  signals: readonly Signal[],
  hear: (signal: Signal) => void,
  again: (signal: Signal) => void = endBy,
): () => void {
  let firstAt: number | undefined
  const listeners = signals.map(signal => {
    const listener = (): void => {
      if (firstAt === undefined) {
        firstAt = performance.now()
        hear(signal)
      } else if (performance.now() - firstAt > ECHO_MS) {
        stop()
        again(signal)
      }
    }
    process.on(signal, listener)
    return [signal, listener] as const
  })
  const stop = (): void => {
    for (const [signal, listener] of listeners) process.off(signal, listener)
  }
  return stop
}

/** As it would without a listener. */
const endBy = (signal: Signal): void => {
  process.kill(process.pid, signal)
}

/**
 * Listens for Ctrl-C. Who works through a long input pauses now and then, since a signal is heard only in between, and
 * `pause` throws when there was one; if nobody does, `giveUp` ends what cannot be ended in order. A second signal ends
 * the process at once, as it would have without this.
 */
export function listenForSignals(giveUp: (interrupted: Interrupted) => void): {
  pause(): Promise<void> | undefined
  stop(): void
} {
  let interrupted: Interrupted | undefined
  let timer: NodeJS.Timeout | undefined
  let last = performance.now()
  const stopListening = onFirst(SIGNALS, signal => {
    const found = new Interrupted(signal)
    interrupted = found
    timer = setTimeout(() => giveUp(found), PATIENCE_MS)
  })
  const breathe = async (): Promise<void> => {
    await setImmediate()
    last = performance.now()
    if (interrupted !== undefined) throw interrupted
  }
  return {
    pause: () => (performance.now() - last < BREATH_MS ? undefined : breathe()),
    stop() {
      clearTimeout(timer)
      stopListening()
    },
  }
}

/**
 * For a server: the first signal ends it in order, also while it is still starting. A second one does not wait, since
 * whoever sends it has lost patience.
 */
export function waitForStop(): { readonly first: Promise<NodeJS.Signals>; readonly stopping: AbortSignal } {
  const controller = new AbortController()
  const first = new Promise<NodeJS.Signals>(resolve => {
    const hear = (signal: Signal): void => {
      controller.abort()
      resolve(signal)
    }
    onFirst(['SIGTERM', 'SIGINT'], hear, () => process.exit(EXIT.internal))
  })
  return { first, stopping: controller.signal }
}

/** What comes of `work`; undefined if the command is interrupted before: an answer may never come. */
export async function unlessInterrupted<T>(stopping: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  const stopped = new Promise<undefined>(resolve => {
    if (stopping.aborted) resolve(undefined)
    stopping.addEventListener('abort', () => resolve(undefined))
  })
  return await Promise.race([work, stopped])
}

/** Ctrl-C, or whoever reads what is printed has had enough: for commands that go on until then. */
export function interrupted(): AbortSignal {
  const controller = new AbortController()
  onFirst(['SIGINT', 'SIGTERM'], () => controller.abort())
  process.stdout.once('error', () => controller.abort())
  return controller.signal
}
