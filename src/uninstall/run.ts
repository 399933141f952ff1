import { sleep } from '../kube/vocabulary/backoff.ts'
import { decideUninstall, type Plan } from './decide.ts'
import { describe, type Hands, performPhase, type Refusal } from './perform.ts'
import type { Choice, Remains } from './remains.ts'
import type { Phase, PhaseName, Step } from './steps.ts'

/** What was done, and what is left. */
export interface Deed {
  readonly phases: ReadonlyMap<PhaseName, readonly Step[]>
  /** Empty: nothing of Muster is left. */
  readonly left: readonly Refusal[]
  /** As it was seen last. */
  readonly plan: Plan
}

export interface Leave extends Hands {
  readonly survey: () => Promise<Remains>
  readonly choice: Choice | undefined
  readonly onProgress: (phase: Phase, done: number) => void
}

/**
 * How long nothing at all may succeed. API servers go on asking a webhook or a policy for a moment after it was deleted,
 * and what they refuse then they take a second later.
 */
const PATIENCE_MS = 30_000
const PAUSE_MS = 1_000

const undone = (step: Step): Refusal => ({
  what: describe(step),
  message: 'it was written, and is as it was before: somebody else puts it back',
})

/** Looks, decides, does a stage, and looks again, until there is nothing to do. */
export async function leave({ survey, choice, onProgress, ...hands }: Leave): Promise<Deed> {
  const phases = new Map<PhaseName, Step[]>()
  const known = new Set<string>()
  let lastSuccess = hands.clock.monotonic()
  for (;;) {
    const plan = decideUninstall(await survey(), choice)
    const stage = plan.stages.find(each => each.length > 0)
    if (stage === undefined) return { phases, left: [], plan }
    let left: readonly Refusal[] = []
    for (const phase of stage) {
      const { done, refused } = await performPhase(phase, hands, count => onProgress(phase, count))
      phases.set(phase.name, [...(phases.get(phase.name) ?? []), ...done])
      const ids = done.map(step => `${phase.name} ${describe(step)} ${step.object.metadata.uid}`)
      const isNew = ids.some(id => !known.has(id))
      for (const id of ids) known.add(id)
      if (isNew) lastSuccess = hands.clock.monotonic()
      left = refused.length > 0 || isNew ? refused : done.map(undone)
      // What comes later relies on this.
      if (left.length > 0) break
    }
    const givesUp = left.length > 0 && hands.clock.monotonic() - lastSuccess > PATIENCE_MS
    if (hands.signal.aborted || givesUp) return { phases, left, plan }
    if (left.length > 0) await sleep(hands.clock, PAUSE_MS, hands.signal)
  }
}
