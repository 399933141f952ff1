import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Clock } from '../kube/vocabulary/clock.ts'

export interface DrainOptions {
  /**
   * How long to keep answering. Longer than a Service takes to forget a pod: kube-proxy may lag by 10 s
   * (controller-runtime#2601), and until then new connections still come here.
   */
  readonly drainMs?: number
  /**
   * How long to leave connections that are open after that to whoever opened them. To close one that is idle is to lose the
   * review that is on its way on it, and a POST is not sent again; API servers close theirs after 90 s.
   */
  readonly lingerMs?: number
  /** Leave early when nobody has been connected for this long. */
  readonly quietMs?: number
  /** How long reviews that are in flight at the end may take before their connections are cut. */
  readonly finishMs?: number
}

/**
 * Leaving without failing a request. Closing the listener at once, as controller-runtime does, loses the calls of
 * the API servers that do not know it yet (gatekeeper#3776: 2 % of pods). So: readiness goes off first, and every
 * answer says `Connection: close`, which the client learns before it could use the connection again.
 */
export class Drain {
  readonly #clock: Clock
  readonly #log: Logger
  #connections = 0
  #draining = false
  #done: Promise<void> | undefined
  #onConnections = () => {}

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock
    this.#log = log
  }

  get draining(): boolean {
    return this.#draining
  }

  /** Counts the connections of the server that is going to be drained. */
  watch(app: FastifyInstance): void {
    app.server.on('connection', (socket: Socket) => {
      this.#connections++
      this.#onConnections()
      socket.once('close', () => {
        this.#connections--
        this.#onConnections()
      })
    })
  }

  /** Resolves when the last answer is out and the listener is closed. A second call waits for the first. */
  begin(app: FastifyInstance, options: DrainOptions = {}): Promise<void> {
    this.#done ??= this.#run(app, options)
    return this.#done
  }

  async #run(app: FastifyInstance, options: DrainOptions): Promise<void> {
    this.#draining = true
    this.#log.info({ connections: this.#connections }, 'draining: not ready any more, still answering')
    await this.#keepAnswering({ drainMs: 15_000, lingerMs: 0, quietMs: 5_000, ...options })
    this.#log.info({ connections: this.#connections }, 'draining: listener closes')
    const cancel = this.#clock.after(options.finishMs ?? 10_000, () => {
      this.#log.warn({ connections: this.#connections }, 'draining: connections that did not finish are cut')
      app.server.closeAllConnections()
    })
    await app.close()
    cancel()
    this.#log.info('drained')
  }

  #keepAnswering({ drainMs, lingerMs, quietMs }: Required<Omit<DrainOptions, 'finishMs'>>): Promise<void> {
    return new Promise(resolve => {
      let cancelQuiet: (() => void) | undefined
      const end = () => {
        cancelDrain()
        cancelQuiet?.()
        this.#onConnections = () => {}
        resolve()
      }
      const linger = () => {
        if (this.#connections === 0 || lingerMs === 0) {
          end()
          return
        }
        cancelDrain = this.#clock.after(lingerMs, end)
        this.#onConnections = () => this.#connections === 0 && end()
      }
      let cancelDrain = this.#clock.after(drainMs, linger)
      this.#onConnections = () => {
        cancelQuiet?.()
        cancelQuiet = this.#connections === 0 ? this.#clock.after(quietMs, end) : undefined
      }
      this.#onConnections()
    })
  }
}
