import { describe, expect, it } from 'vitest'
import { type Tally, tallyOf } from '../support/tally.ts'
import { CertificateModel } from './certificates/model.ts'
import { Dice } from './time/dice.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 1_440 * MINUTE
const SEEDS = 1_000

type Kind =
  | 'crash between two writes'
  | 'start'
  | 'wipe'
  | 'deleted Secret'
  | 'spoilt Secret'
  | 'foreign pair'
  | 'foreign Secret'
  | 'announced'
  | 'renewal'

/** Everybody hears everything and looks often enough, for longer than any phase takes. */
function settle(model: CertificateModel): void {
  model.careForForeign()
  for (let round = 0; round < 15; round++) {
    model.hearAll()
    if (round % 3 === 2 && model.unsettled().length === 0) return
    for (const replica of [...model.replicas]) model.act(replica)
    model.pass(MINUTE)
  }
  model.hearAll()
}

function strike(model: CertificateModel, dice: Dice, tally: Tally<Kind>): void {
  const replica = () => dice.pick(model.replicas)
  const count = (kind: Kind) => tally.count(kind)
  dice.weighted<() => void>([
    [10, () => model.act(replica())],
    [6, () => model.hear(replica(), dice.pick(['record', 'bundles']))],
    [6, () => model.pass(dice.int(0, 40) * SECOND)],
    [2, () => model.hearAll()],
    [1, () => model.wipe(dice.int(0, 2))],
    [
      1,
      () => {
        if (model.replicas.length < 2) return
        count('crash between two writes')
        const victim = replica()
        model.act(victim, dice.int(0, 2))
        model.crash(victim)
      },
    ],
    [
      1,
      () => {
        if (model.replicas.length > 2) return
        count('start')
        model.start()
      },
    ],
  ])()
  // Whoever lives looks at everything every minute.
  if (model.replicas.some(({ heardAt }) => model.now - heardAt > 3 * MINUTE)) model.hearAll()
}

function interfere(model: CertificateModel, dice: Dice, tally: Tally<Kind>): void {
  const kinds: readonly (readonly [Kind, () => void])[] = [
    ['wipe', () => model.wipe(dice.int(0, 2))],
    ['deleted Secret', () => model.deleteSecret()],
    ['spoilt Secret', () => model.spoilSecret()],
    ['foreign pair', () => model.writeForeign(true)],
    ['foreign Secret', () => model.writeForeign(false)],
  ]
  const [kind, act] = dice.pick(kinds)
  tally.count(kind)
  act()
}

function run(
  seed: number,
  tally: Tally<Kind>,
): { readonly broken: readonly string[]; readonly unsettled: readonly string[] } {
  const dice = new Dice(seed)
  const model = new CertificateModel(dice.split('model'), 2)
  const unsettled: string[] = []
  for (let chapter = 0; chapter < 3; chapter++) {
    // The second finds the certificate due, so that everything happens in the midst of a rotation.
    for (let week = 0; week < (chapter % 2) * 3; week++) {
      settle(model)
      model.pass(7 * DAY)
    }
    const [before, writes] = [model.record.value?.current, model.writes]
    for (let event = 0; event < 40; event++) {
      strike(model, dice, tally)
      if (model.phase === 'announced') tally.count('announced')
      if (dice.chance(0.02)) interfere(model, dice, tally)
    }
    settle(model)
    if (before !== model.record.value?.current && model.writes > writes) tally.count('renewal')
    unsettled.push(...model.unsettled())
  }
  return { broken: model.broken, unsettled }
}

describe('certificates in any order of events', () => {
  it(`are trusted before they are served, and nothing stays half done, in ${SEEDS} runs`, () => {
    const tally = tallyOf<Kind>(
      ...(['crash between two writes', 'start', 'wipe', 'deleted Secret', 'spoilt Secret'] as const),
      ...(['foreign pair', 'foreign Secret', 'announced', 'renewal'] as const),
    )
    for (let seed = 1; seed <= SEEDS; seed++) {
      expect({ seed, ...run(seed, tally) }).toEqual({ seed, broken: [], unsettled: [] })
    }
    tally.expectAll()
  })
})
