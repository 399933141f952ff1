import { QUEUE_NAME, SCHEDULING } from '../../../src/kube/vocabulary/names.ts'
import { FAIL_PERCENT } from '../actors/job-controller.ts'
import { RUN_MS } from '../actors/nodes.ts'
import type { Stored } from '../model/server.ts'
import type { Dice } from '../time/dice.ts'
import type { Cascade, Item, JobChange } from './schedule.ts'
import { containerOf, type Place } from './units.ts'

/** A Job in a queue, and what people do to it while it waits, runs, stops or ends. */
export function jobItems(dice: Dice, place: Place): readonly Item[] {
  const job = jobOf(dice, place)
  const { namespace, name, at } = place
  const soon = () => at + dice.next() * dice.pick([300, 3000, 15_000])
  const change = (when: number, change: JobChange): Item => ({ at: when, kind: 'change-job', namespace, name, change })
  const items: Item[] = [{ at, kind: 'create-job', job }]
  if (dice.chance(0.2)) items.push(change(soon(), { parallelism: dice.int(1, 5) }))
  if (dice.chance(0.2)) {
    const when = soon()
    items.push(change(when, { suspend: true }))
    if (dice.chance(0.7)) items.push(change(when + dice.next() * 12_000, { suspend: false }))
  }
  if (dice.chance(0.1)) items.push(change(soon(), { suspend: false }))
  if (dice.chance(0.08)) items.push(change(soon(), { queue: dice.pick(['unlimited', 'cpu']) }))
  if (dice.chance(0.15)) items.push({ at: soon(), kind: 'delete-job-pod', namespace, name })
  if (dice.chance(place.returning ? 0.5 : 0.15)) items.push(deletion(dice, place, soon(), job))
  return [...items, ...revocation(dice, place, soon)]
}

/** The same, but that some of the Jobs ask to be placed as a whole. */
export function asGangs(dice: Dice, items: readonly Item[]): readonly Item[] {
  if (dice.chance(0.4)) return items
  const block = JSON.stringify({ schedulingPolicy: { gang: {} } })
  const asking = (job: Stored): Stored => ({
    ...job,
    metadata: { ...job.metadata, annotations: { ...job.metadata.annotations, [SCHEDULING]: block } },
  })
  return items.map(item => {
    if (item.kind === 'create-job') return { ...item, job: asking(item.job) }
    return item.kind === 'delete-job' && item.again ? { ...item, again: asking(item.again) } : item
  })
}

/** The admission is taken back by whoever may, and perhaps given again. */
export function revocation(dice: Dice, { namespace, name }: Place, soon: () => number): readonly Item[] {
  const unit = { namespace, job: name }
  if (dice.chance(0.15)) return [{ at: soon() + 1000, kind: 'delete-workload', unit }]
  if (dice.chance(0.75)) return []
  const when = soon() + 1000
  const back: Item = { at: when + dice.next() * 12_000, kind: 'set-active', unit, active: true }
  return [{ at: when, kind: 'set-active', unit, active: false }, ...(dice.chance(0.7) ? [back] : [])]
}

function deletion(dice: Dice, { namespace, name }: Place, when: number, job: Stored): Item {
  const cascade = dice.weighted<Cascade>([
    [4, 'background'],
    [2, 'foreground'],
    [2, 'orphan'],
  ])
  const again = dice.chance(0.4) ? { again: job } : {}
  return { at: when, kind: 'delete-job', namespace, name, cascade, ...again }
}

function jobOf(dice: Dice, { namespace, name, queue }: Place): Stored {
  const parallelism = dice.int(1, 4)
  const annotations = {
    [RUN_MS]: String(dice.pick([300, 1500, 4000, 9000])),
    [FAIL_PERCENT]: String(dice.pick([0, 0, 10, 50])),
  }
  const pod = {
    containers: [containerOf(dice.pick(['500m', '1']))],
    ...(dice.chance(0.05) && { nodeSelector: { pool: dice.pick(['a', 'b']) } }),
    ...(dice.chance(0.1) && { tolerations: [{ key: 'own', operator: 'Exists' }] }),
  }
  return {
    metadata: { name, namespace, labels: { [QUEUE_NAME]: queue } },
    spec: {
      parallelism,
      completions: parallelism + dice.pick([0, 0, 1, 3]),
      backoffLimit: dice.pick([0, 2, 6]),
      ...(dice.chance(0.15) && { suspend: true }),
      ...(dice.chance(0.2) && { ttlSecondsAfterFinished: dice.pick([0, 5, 20]) }),
      template: { metadata: { annotations }, spec: pod },
    },
  }
}
