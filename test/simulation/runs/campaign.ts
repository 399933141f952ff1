import type { Violation } from '../invariants/judge.ts'
import { describeItem } from '../schedule/apply.ts'
import { generate, type Subject } from '../schedule/generate.ts'
import type { Schedule } from '../schedule/schedule.ts'
import { sameKind, shrink } from './shrink.ts'
import { simulate } from './simulate.ts'
import { Timeline } from './timeline.ts'

export interface Failure {
  readonly seed: number
  readonly violation: Violation
}

export interface Campaign {
  readonly seeds: number
  readonly steps: number
  readonly virtualMs: number
  readonly failures: readonly Failure[]
}

export interface CampaignOptions {
  readonly from: number
  readonly seeds: number
  readonly subject?: Subject
  /** Ends early after as many failures. */
  readonly enough?: number
  readonly onSeed?: (done: number, failures: number) => void
}

/** Runs seed after seed. */
export async function runCampaign(options: CampaignOptions): Promise<Campaign> {
  const { from, seeds, subject, enough = 1, onSeed } = options
  const failures: Failure[] = []
  let steps = 0
  let virtualMs = 0
  let done = 0
  while (done < seeds && failures.length < enough) {
    const seed = from + done
    const result = await simulate(generate(seed, subject))
    if (result.violation) failures.push({ seed, violation: result.violation })
    steps += result.steps
    virtualMs += result.virtualMs
    done++
    onSeed?.(done, failures.length)
  }
  return { seeds: done, steps, virtualMs, failures }
}

/** Everything a person needs to find out why a seed fails: the promise, the least it takes, and what happened. */
export async function explain({ seed, violation }: Failure, subject: Subject = {}): Promise<string> {
  const fails = async (schedule: Schedule) => sameKind(violation, (await simulate(schedule)).violation)
  const least = await shrink(generate(seed, subject), fails)
  const { timeline, violation: shrunk } = await simulate(least, { trace: Timeline })
  return [
    `seed ${seed}: ${violation.invariant} at ${(violation.at / 1000).toFixed(3)} s: ${violation.message}`,
    `shrunk to ${least.items.length} items, ${least.setting.replicas.length} replicas, queues ${JSON.stringify(least.setting.queues)}:`,
    ...least.items.map(item => `  ${(item.at / 1000).toFixed(3).padStart(8)} ${describeItem(item)}`),
    'timeline:',
    timeline,
    `=> ${shrunk?.invariant} at ${((shrunk?.at ?? 0) / 1000).toFixed(3)} s: ${shrunk?.message}`,
    `run it again: npm run simulate -- --from ${seed} --seeds 1${flagOf(subject)}`,
  ].join('\n')
}

const flagOf = ({ jobs, sets, gangs, kai, limits, engine }: Subject): string =>
  [
    ...(sets ? [' --jobsets'] : jobs ? [' --jobs'] : []),
    ...(gangs ? [' --gangs'] : []),
    ...(kai ? [' --kai'] : []),
    ...(limits ? [' --limits'] : []),
    ...(engine === 'kueue' ? [' --kueue'] : []),
  ].join('')
