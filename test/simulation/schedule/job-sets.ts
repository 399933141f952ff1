import { QUEUE_NAME } from '../../../src/kube/vocabulary/names.ts'
import { FAIL_PERCENT } from '../actors/job-controller.ts'
import { RUN_MS } from '../actors/nodes.ts'
import type { Stored } from '../model/server.ts'
import type { Dice } from '../time/dice.ts'
import { revocation } from './jobs.ts'
import type { Item } from './schedule.ts'
import { containerOf, type Place } from './units.ts'

/** A JobSet in a queue, and what people do to it while it waits, runs, starts anew or ends. */
export function jobSetItems(dice: Dice, place: Place): readonly Item[] {
  const { namespace, name, at } = place
  const set = setOf(dice, place)
  const soon = () => at + dice.next() * dice.pick([300, 3000, 15_000])
  const turned = (when: number, suspend: boolean): Item => ({ at: when, kind: 'suspend-set', namespace, name, suspend })
  const items: Item[] = [{ at, kind: 'create-set', set }]
  if (dice.chance(0.3)) {
    const when = soon()
    items.push(turned(when, true))
    if (dice.chance(0.7)) items.push(turned(when + dice.next() * 12_000, false))
  }
  if (dice.chance(0.1)) items.push(turned(soon(), false))
  if (dice.chance(place.returning ? 0.5 : 0.2)) {
    const again = dice.chance(0.4) ? { again: set } : {}
    items.push({ at: soon(), kind: 'delete-set', namespace, name, ...again })
  }
  return [...items, ...revocation(dice, place, soon)]
}

function setOf(dice: Dice, { namespace, name, queue }: Place): Stored {
  const replicated = (job: string) => {
    const annotations = {
      [RUN_MS]: String(dice.pick([300, 1500, 4000])),
      [FAIL_PERCENT]: String(dice.pick([0, 0, 20])),
    }
    const parallelism = dice.int(1, 2)
    const pods = { metadata: { annotations }, spec: { containers: [containerOf('500m')] } }
    const spec = { parallelism, completions: parallelism, backoffLimit: dice.pick([0, 2]), template: pods }
    return { name: job, replicas: dice.int(1, 2), template: { spec } }
  }
  const replicatedJobs = ['driver', 'workers'].slice(0, dice.int(1, 2)).map(replicated)
  const maxRestarts = dice.pick([0, 0, 1, 2])
  return {
    metadata: { name, namespace, labels: { [QUEUE_NAME]: queue } },
    spec: { ...(maxRestarts > 0 && { failurePolicy: { maxRestarts } }), replicatedJobs },
  }
}
