import type { Dice } from '../time/dice.ts'
import { type Fault, FOLLOWERS, type Item, LEADER } from './schedule.ts'

type Maker = (dice: Dice, replica: number) => Fault

const between = (dice: Dice, low: number, high: number): number => low + dice.next() * (high - low)
const eitherResource = (dice: Dice): 'pods' | 'workloads' => dice.pick(['pods', 'workloads'])

const MAKERS: readonly (readonly [number, Maker])[] = [
  [3, (dice, replica) => ({ kind: 'crash', replica, downMs: between(dice, 100, 6000) })],
  [
    6,
    (dice, replica) => ({
      kind: 'crash-on-write',
      replica,
      nth: dice.int(1, 30),
      moment: dice.pick(['before', 'after']),
      downMs: between(dice, 100, 6000),
    }),
  ],
  [2, (dice, replica) => ({ kind: 'restart', replica, downMs: between(dice, 100, 3000) })],
  [3, (dice, replica) => ({ kind: 'pause', replica, ms: dice.pick([800, 5000, 11_000, 17_000, 25_000]) })],
  [3, (dice, replica) => ({ kind: 'partition', replica, ms: between(dice, 2000, 25_000) })],
  [2, (dice, replica) => ({ kind: 'clock-jump', replica, ms: dice.pick([-3_600_000, 3_600_000, -7_200_000, 45_000]) })],
  [
    4,
    (dice, replica) => ({
      kind: 'errors',
      replica,
      ms: between(dice, 500, 8000),
      status: dice.pick([409, 429, 500, 503]),
      rate: dice.pick([0.2, 0.6, 1]),
    }),
  ],
  [
    4,
    (dice, replica) => ({
      kind: 'loss',
      replica,
      ms: between(dice, 1000, 10_000),
      before: 0.25 * dice.next(),
      after: 0.35 * dice.next(),
    }),
  ],
  [2, (dice, replica) => ({ kind: 'resend', replica, ms: between(dice, 1000, 15_000), rate: 0.5 })],
  [3, (dice, replica) => ({ kind: 'slow', replica, ms: between(dice, 1000, 15_000), delayMs: dice.pick([200, 2500]) })],
  [
    6,
    (dice, replica) => ({
      kind: 'lag',
      replica,
      ms: between(dice, 3000, 30_000),
      resource: eitherResource(dice),
      lagMs: dice.pick([300, 2000, 8000, 30_000]),
    }),
  ],
  [2, (dice, replica) => ({ kind: 'silent-watch', replica, resource: eitherResource(dice) })],
  [2, (dice, replica) => ({ kind: 'close-watches', replica, error: dice.chance(0.5) })],
  [3, (dice, replica) => ({ kind: 'compact', replica, as: dice.pick(['http', 'stream', 'silence']) })],
  [2, (dice, replica) => ({ kind: 'duplicates', replica, ms: between(dice, 2000, 20_000), rate: 0.4 })],
  [2, dice => ({ kind: 'outage', ms: between(dice, 500, 12_000), compact: dice.chance(0.5) })],
  [2, dice => ({ kind: 'refuse-lifts', ms: between(dice, 500, 12_000) })],
  [2, dice => ({ kind: 'lose-node', node: dice.pick(['node-1', 'node-2', 'node-3']) })],
]

/** One seed in six is calm: what fails there fails without any help. */
export function faultItems(dice: Dice, replicas: number): readonly Item[] {
  if (dice.chance(1 / 6)) return []
  return Array.from({ length: dice.int(1, 6) }, (_, index): Item => {
    const own = dice.split(`fault ${index}`)
    const replica = own.chance(0.4) ? LEADER : own.int(0, replicas - 1)
    const fault = own.weighted(MAKERS)(own, replica)
    return { at: own.next() * 40_000, ...fault }
  })
}

/** The leader falls while those who follow it are behind: the moment in which most controllers make their mistakes. */
export function takeover(dice: Dice, at: number): readonly Item[] {
  const lagMs = dice.pick([3000, 25_000, 40_000])
  const resource = dice.chance(0.7) ? 'workloads' : 'pods'
  const fall = dice.pick<Fault>([
    { kind: 'crash', replica: LEADER, downMs: 30_000 },
    { kind: 'partition', replica: LEADER, ms: 30_000 },
    { kind: 'pause', replica: LEADER, ms: 22_000 },
    { kind: 'restart', replica: LEADER, downMs: 5000 },
  ])
  return [
    { at, kind: 'lag', replica: FOLLOWERS, ms: 45_000, resource, lagMs },
    { at: at + dice.next() * 6000, ...fall },
  ]
}

/** Everything arrives, but late, and some of it twice. */
export function lateness(dice: Dice, at: number): readonly Item[] {
  const replica = LEADER
  const ms = 30_000
  const faults: readonly Fault[] = [
    { kind: 'slow', replica, ms, delayMs: dice.pick([50, 600, 2500]) },
    { kind: 'resend', replica, ms, rate: 0.5 },
    { kind: 'lag', replica, ms, resource: eitherResource(dice), lagMs: dice.pick([400, 2000, 8000]) },
    { kind: 'duplicates', replica, ms, rate: 0.4 },
  ]
  return faults.filter(() => dice.chance(0.6)).map(fault => ({ at: at + dice.next() * 5000, ...fault }))
}

/** Where there are Jobs, their watch is as likely to be late or silent as the others. */
export function withJobs(dice: Dice, items: readonly Item[]): readonly Item[] {
  return items.map(item => ('resource' in item && dice.chance(1 / 3) ? { ...item, resource: 'jobs' } : item))
}
