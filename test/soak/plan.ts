import { Dice } from '../simulation/time/dice.ts'

/** What is done to Muster, to its certificates and to the control plane while clients go about their business. */
export type Disturbance =
  /** Every replica, one after the other, as a Deployment rolls out. */
  | { readonly kind: 'rolling restart' }
  | { readonly kind: 'kill -9'; readonly victim: 'leader' | 'follower'; readonly downMs: number }
  /** The leader's connections to the API server carry nothing any more; the API server still reaches its webhooks. */
  | { readonly kind: 'partition'; readonly ms: number }
  | { readonly kind: 'API server restart' }
  | { readonly kind: 'API server crash'; readonly downMs: number }
  | { readonly kind: 'etcd compaction' }
  | { readonly kind: 'other limits'; readonly pods: number }
  /** The file cannot be used for a while: the limits that were in force stay so. */
  | { readonly kind: 'wrong configuration'; readonly ms: number }
  /** A certificate comes of age: by the clock of the replicas, or because an old one is put in its place. */
  | { readonly kind: 'rotation'; readonly expiresMs: number }
  /** The clocks of the replicas are set, as by a time server. */
  | { readonly kind: 'clock set'; readonly ms: number }

export type Kind = Disturbance['kind']

export type Planned = Disturbance & { readonly atMs: number }

/** With the time that it takes until everybody has recovered from it, on a machine that is not busy. */
const MAKERS: readonly (readonly [number, (dice: Dice) => Disturbance])[] = [
  [25_000, () => ({ kind: 'rolling restart' })],
  [26_000, dice => ({ kind: 'kill -9', victim: 'leader', downMs: dice.int(500, 20_000) })],
  [10_000, dice => ({ kind: 'kill -9', victim: 'follower', downMs: dice.int(100, 3000) })],
  [34_000, dice => ({ kind: 'partition', ms: dice.int(22_000, 30_000) })],
  [14_000, () => ({ kind: 'API server restart' })],
  [16_000, dice => ({ kind: 'API server crash', downMs: dice.int(0, 8000) })],
  [3000, () => ({ kind: 'etcd compaction' })],
  [4000, dice => ({ kind: 'other limits', pods: dice.int(3, 9) })],
  [9000, () => ({ kind: 'wrong configuration', ms: 7000 })],
  [12_000, dice => ({ kind: 'rotation', expiresMs: dice.int(70_000, 110_000) })],
  [12_000, dice => ({ kind: 'rotation', expiresMs: dice.int(70_000, 110_000) })],
  [3000, dice => ({ kind: 'clock set', ms: dice.int(-300, 300) * 1000 })],
]

/** Every round has each of them, `kill -9` and rotations twice. */
export const KINDS: readonly Kind[] = [...new Set(MAKERS.map(([, make]) => make(new Dice(0)).kind))]

const QUIET_AT_THE_END_MS = 5000

/**
 * Round after round of all of them, each round in an order of its own. What takes its time, a rotation above all, is
 * still under way when the next thing happens. The same seed gives the same plan, and a longer one begins like a shorter.
 */
export function planSoak(seed: number, minutes: number): readonly Planned[] {
  const planned: Planned[] = []
  const endMs = minutes * 60_000 - QUIET_AT_THE_END_MS
  for (let round = 0, atMs = 2000; ; round++) {
    const dice = new Dice(seed).split(`round ${round}`)
    for (const [lastsMs, make] of shuffled(dice)) {
      if (atMs + lastsMs > endMs) return planned
      planned.push({ atMs, ...make(dice) })
      atMs += lastsMs + dice.int(1000, 6000)
    }
  }
}

function shuffled(dice: Dice): typeof MAKERS {
  const left = [...MAKERS]
  return MAKERS.flatMap(() => left.splice(dice.int(0, left.length - 1), 1))
}
