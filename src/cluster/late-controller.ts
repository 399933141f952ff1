import type { Log } from '../kube/vocabulary/log.ts'
import type { Engine } from '../reconciler/engine.ts'
import type { Controller } from './controller.ts'
import type { EngineSource } from './engine.ts'

/**
 * A controller that works as soon as there is an engine, and makes way for another when the engine is another one. Until
 * then the webhooks serve all the same: what is created waits behind its gate.
 */
export class LateController implements Controller {
  readonly #source: EngineSource
  readonly #assemble: (engine: Engine) => Controller
  readonly #log: Log
  #controller: Controller | undefined
  /** Changes come one after the other, each when the one before is done. */
  #turn: Promise<void> = Promise.resolve()
  #stopping = false

  constructor(source: EngineSource, assemble: (engine: Engine) => Controller, log: Log) {
    this.#source = source
    this.#assemble = assemble
    this.#log = log
    source.onChange(() => this.#follow())
  }

  get synced(): boolean {
    return this.#controller?.synced ?? false
  }

  get leads(): boolean {
    return this.#controller?.leads ?? false
  }

  start(): void {
    this.#follow()
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await this.#turn
    await this.#controller?.stop()
  }

  #follow(): void {
    this.#turn = this.#turn
      .then(() => this.#change())
      .catch(error => this.#log.error({ err: error }, 'the reconciler could not follow its engine'))
  }

  async #change(): Promise<void> {
    if (this.#stopping) return
    await this.#controller?.stop()
    this.#controller = undefined
    const { engine } = this.#source
    if (engine === undefined || this.#stopping) return
    this.#controller = this.#assemble(engine)
    this.#controller.start()
  }
}
