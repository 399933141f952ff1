import type { Logger } from 'pino'
import type { KubeApi } from '../kube/vocabulary/api.ts'
import type { Clock } from '../kube/vocabulary/clock.ts'
import { type Action, subjectOf } from '../workload/actions.ts'
import type { JobStanding, Standing } from './decision.ts'
import { allToTheirEnd, type Lanes, laneOf } from './lanes.ts'
import { perform, type Result, type WriteBack } from './perform.ts'
import { Stillness } from './stillness.ts'

export interface PerformerDeps {
  readonly api: KubeApi
  readonly clock: Clock
  readonly log: Logger
  readonly lanes: Lanes
  readonly metrics: PerformerMetrics
  readonly writeBack: WriteBack
  /** Whether what was decided in this time as leader may still be done. */
  readonly leads: (turn: number) => boolean
  readonly tell: (standings: readonly (Standing | JobStanding)[]) => void
}

export interface PerformerMetrics {
  acted(action: string, result: Result['kind'] | 'error'): void
  lifted(seconds: number): void
}

/** Where those stand who wait for an action that was refused. */
export type Refused = (action: Action, message: string) => readonly (Standing | JobStanding)[]

/** `again`: a write met an object that had changed. `later`: pods are left, or may come, of which no watch of ours brings news. */
export type Outcome = 'settled' | 'again' | 'later'

/** Sends what was decided, and counts and tells what became of it. */
export class Performer {
  readonly #deps: PerformerDeps
  readonly #stillness = new Stillness()

  constructor(deps: PerformerDeps) {
    this.#deps = deps
  }

  /**
   * All at once: the lanes set the pace, and a group's gates fall together. `again` when a write met an object that had
   * changed: mostly the watch brings the news, but a conflict can also come without any (the API server gives up a
   * contended patch, a quota is contended), so the unit is looked at again in any case.
   */
  async performAll(actions: readonly Action[], turn: number, refused: Refused = () => []): Promise<Outcome> {
    const outcomes = await allToTheirEnd(actions.map(action => this.#perform(action, turn, refused)))
    return outcomes.find(outcome => outcome === 'again') ?? outcomes.find(outcome => outcome === 'later') ?? 'settled'
  }

  async #perform(action: Action, turn: number, refused: Refused): Promise<Outcome> {
    const { metrics, log, lanes } = this.#deps
    try {
      const result = await lanes.run(laneOf(action), () => this.#performIfLeading(action, turn))
      if (result === undefined) return 'settled'
      metrics.acted(action.kind, result.kind)
      const { namespace, name } = subjectOf(action)
      log.debug({ action: action.kind, namespace, name, result: result.kind }, 'acted')
      if ('admittedAt' in action && result.kind === 'done') this.#lifted(action.admittedAt)
      if (result.kind === 'blocked') {
        // Those who wait for it are told what was said, and it is tried again later, at the queue's pace.
        this.#deps.tell(refused(action, result.message))
        throw new Error(`${action.kind} was refused: ${result.message}`)
      }
      if (
        result.kind === 'done' ||
        result.kind === 'ending' ||
        (action.kind === 'RemoveFinalizer' && result.kind === 'gone')
      )
        return 'settled'
      return action.kind === 'UnlessPodsLeft' ? 'later' : 'again'
    } catch (error) {
      metrics.acted(action.kind, 'error')
      throw error
    }
  }

  /**
   * Asked when its turn has come, not when it was queued: leadership may have ended in between. It may even have come
   * back: what was decided in an earlier time as leader is not done in a later one, since another has led meanwhile.
   */
  async #performIfLeading(action: Action, turn: number): Promise<Result | undefined> {
    const { api, writeBack, leads } = this.#deps
    if (!leads(turn)) return undefined
    return action.kind === 'UnlessPodsLeft' ? await this.#whenStill(action) : await perform(action, api, writeBack)
  }

  /** The first look only begins the wait; the one at its end is a fresh one, and then the rest is done. */
  async #whenStill(action: Extract<Action, { readonly kind: 'UnlessPodsLeft' }>): Promise<Result> {
    const { api, writeBack, clock } = this.#deps
    const still = this.#stillness.of(action, clock.monotonic())
    if (still === 'short') return { kind: 'stale' }
    const result = await perform(still === 'new' ? { ...action, actions: [] } : action, api, writeBack)
    if (still === 'new' && result.kind === 'done') {
      this.#stillness.begins(action, clock.monotonic())
      return { kind: 'stale' }
    }
    this.#stillness.ends(action)
    return result
  }

  #lifted(admittedAt: string | undefined): void {
    if (admittedAt === undefined) return
    // Another machine's clock wrote the admission: a negative difference is skew, not time travel.
    this.#deps.metrics.lifted(Math.max(0, (this.#deps.clock.now() - Date.parse(admittedAt)) / 1000))
  }
}
