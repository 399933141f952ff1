import {
  CLUSTER_QUEUE_LABEL,
  GROUP_FAST_ADMISSION,
  GROUP_NAME,
  GROUP_ROLE,
  GROUP_ROLE_COUNT,
  GROUP_ROLES,
  GROUP_SERVING,
  GROUP_SETS,
  GROUP_TOTAL_COUNT,
  PODSET_LABEL,
  QUEUE_NAME,
  RETRIABLE_IN_GROUP,
  ROLE_HASH,
} from '../../../src/kube/vocabulary/names.ts'
import type { Stored } from '../model/server.ts'
import type { Dice } from '../time/dice.ts'
import type { Item } from './schedule.ts'
import { containerOf, type Member, members, type Place } from './units.ts'

type Marks = Readonly<Record<string, string>>

/** Who is admin of the namespace and wants more than his share, or to spoil that of others. */
export const MALLORY = 'mallory'

/** A tenant who tries one way to cheat the queue: forged phases, marks and shapes, and pods that are in the way. */
export function hostileItems(dice: Dice, place: Place): readonly Item[] {
  const attack = dice.pick([
    unequalRole,
    unannounced,
    sidecars,
    forger,
    leaver,
    stranger,
    squatter,
    giant,
    orphan,
    queueJumper,
  ])
  return attack(dice, place)
}

/** One pod of a role asks for more than the one that stands for it. */
function unequalRole(dice: Dice, place: Place): readonly Item[] {
  const workers = dice.int(2, 3)
  const marks = { [GROUP_ROLES]: '1', [GROUP_ROLE_COUNT]: String(workers) }
  return members(dice, place, workers, index => ({ cpu: index === 0 ? '500m' : '2', marks, role: 'worker' }))
}

/** The workers that come are not those that were announced. */
function unannounced(dice: Dice, place: Place): readonly Item[] {
  const sets = JSON.stringify([
    { name: 'driver', count: 1 },
    { name: 'worker', count: 2, template: { spec: { containers: [containerOf('100m')] } } },
  ])
  return members(
    dice,
    place,
    3,
    (index): Member =>
      index === 0
        ? { cpu: '100m', marks: { [GROUP_SETS]: sets }, role: 'driver', runMs: 12_000 }
        : { cpu: dice.pick(['2', '100m']), marks: { [GROUP_ROLE_COUNT]: '2' }, role: 'worker' },
    index => (index === 0 ? 0 : dice.pick([0, 4000])),
  )
}

/** Containers that run before and containers that run beside the others have the same hash. */
function sidecars(dice: Dice, place: Place): readonly Item[] {
  const size = dice.int(2, 3)
  const items = members(dice, place, size, () => ({ cpu: '500m', marks: { [GROUP_TOTAL_COUNT]: String(size) } }))
  return items.map((item, index) => {
    if (item.kind !== 'create-pod') return item
    const first = { ...containerOf('1'), name: 'first', ...(index > 0 && { restartPolicy: 'Always' }) }
    return { ...item, pod: { ...item.pod, spec: { ...(item.pod.spec as object), initContainers: [first] } } }
  })
}

/** A group with pods in reserve, that take any place that becomes free. */
function withReserve(dice: Dice, place: Place): readonly Item[] {
  const size = dice.int(1, 3)
  const near = { ...place, returning: false }
  return members(dice, near, size + 2, () => ({
    cpu: '1',
    marks: { [GROUP_TOTAL_COUNT]: String(size) },
    runMs: 15_000,
  }))
}

/** Running pods that say that they are over. */
function forger(dice: Dice, place: Place): readonly Item[] {
  const items = withReserve(dice, place)
  return [
    ...items,
    ...podsOf(items).flatMap(pod =>
      dice.chance(0.7)
        ? [forge(pod, place.at + 2000 + dice.next() * 9000, dice.pick(['Succeeded', 'Failed']), dice)]
        : [],
    ),
  ]
}

/** Running pods that leave their group, role, queue or podSet by a mark. */
function leaver(dice: Dice, place: Place): readonly Item[] {
  const items = withReserve(dice, place)
  const other = `${place.name}-other`
  const changes = (): Readonly<Record<string, string | null>> =>
    dice.pick<Readonly<Record<string, string | null>>>([
      { [GROUP_NAME]: other },
      { [GROUP_NAME]: null },
      { [GROUP_ROLE]: 'other' },
      { [PODSET_LABEL]: 'other' },
      { [QUEUE_NAME]: 'unlimited', [CLUSTER_QUEUE_LABEL]: 'unlimited' },
    ])
  return [
    ...items,
    ...podsOf(items).flatMap((pod): readonly Item[] => {
      if (dice.chance(0.3)) return []
      const { namespace = '', name = '' } = pod.metadata
      const annotations: Marks = dice.chance(0.2) ? { [ROLE_HASH]: 'ffffffff' } : {}
      const at = place.at + 2000 + dice.next() * 9000
      return [{ at, kind: 'remark', namespace, name, labels: changes(), annotations }]
    }),
  ]
}

/** A pod of another shape joins somebody's group and says that it is over, or that the group is, or never will be. */
function stranger(dice: Dice, place: Place): readonly Item[] {
  const size = dice.int(2, 3)
  const total = { [GROUP_TOTAL_COUNT]: String(size) }
  const items = members(dice, place, size, () => ({ cpu: '500m', marks: total, runMs: 6000 }))
  const marks: Marks = {
    ...total,
    ...dice.pick<Marks>([{ [RETRIABLE_IN_GROUP]: 'false' }, { [GROUP_SERVING]: 'true' }, {}]),
  }
  const late = { ...place, name: `${place.name}-s`, at: place.at + 3000 + dice.next() * 4000 }
  const joined = members(dice, late, dice.int(1, size), () => ({
    cpu: dice.pick(['500m', '1500m']),
    marks,
    group: place.name,
  })).map(item => (item.kind === 'create-pod' ? { ...item, by: MALLORY } : item))
  const phase = dice.pick(['Succeeded', 'Failed'])
  return [
    ...items,
    ...joined,
    ...podsOf(joined).map(pod => forge(pod, late.at + 1000 + dice.next() * 2000, phase, dice)),
  ]
}

/** Who takes the name of a group first does not have the pods of others deleted. */
function squatter(dice: Dice, place: Place): readonly Item[] {
  const size = dice.int(1, 2)
  const marks = { [GROUP_TOTAL_COUNT]: String(size) }
  const member = () => ({ cpu: '500m', marks, runMs: 12_000, group: place.name })
  const first = members(dice, place, size, member).map(item =>
    item.kind === 'create-pod' ? { ...item, by: MALLORY } : item,
  )
  const late = { ...place, name: `${place.name}-r`, at: place.at + 4000 }
  return [...first, ...members(dice, late, size, member)]
}

/** What no queue can hold, in front of all others. */
function giant(dice: Dice, place: Place): readonly Item[] {
  if (dice.chance(0.5)) {
    const marks = { [GROUP_TOTAL_COUNT]: '60', [GROUP_FAST_ADMISSION]: 'true' }
    return members(dice, { ...place, queue: 'small', at: 0 }, 1, () => ({ cpu: '1m', marks }))
  }
  return members(dice, { ...place, queue: 'cpu', at: 0 }, 1, () => ({
    cpu: '64',
    marks: { [GROUP_TOTAL_COUNT]: '1' },
  }))
}

/** Pods that go and leave their Workload behind. */
function orphan(dice: Dice, place: Place): readonly Item[] {
  const size = dice.int(1, 3)
  const marks = { [GROUP_TOTAL_COUNT]: String(size) }
  const items = members(dice, place, size, () => ({ cpu: '1', marks, runMs: 12_000 }))
  const at = place.at + 2000 + dice.next() * 8000
  const deletions = podsOf(items).map(({ metadata: { namespace = '', name = '' } }): Item => {
    return { at: at + dice.next() * 1000, kind: 'delete-pod', namespace, name, orphan: true }
  })
  return [...items, ...deletions]
}

/** Whoever has waited where nobody else waits comes over with his whole age, into a queue in which others wait. */
function queueJumper(dice: Dice, place: Place): readonly Item[] {
  const alone = { [GROUP_TOTAL_COUNT]: '1' }
  const blocker = members(dice, { ...place, queue: 'cpu', at: 0 }, 1, () => ({ cpu: '1', marks: alone, runMs: 25_000 }))
  const early = { ...place, name: `${place.name}-j`, queue: 'cpu', at: 300 }
  const jumpers = members(dice, early, 3, () => ({ cpu: '2', marks: { [GROUP_TOTAL_COUNT]: '3' } }))
  const others = Array.from({ length: 12 }, (_, index) => {
    const name = `${place.name}-o${index}`
    const patient = { ...place, name, queue: 'small', at: 2000 + dice.next() * 6000 }
    return members(dice, patient, 1, () => ({ cpu: '100m', marks: alone, runMs: 12_000 }))
  }).flat()
  const moves = podsOf(jumpers).map(({ metadata: { namespace = '', name = '' } }): Item => {
    return { at: 11_000 + dice.next() * 1000, kind: 'set-queue', namespace, name, queue: 'small' }
  })
  return [...blocker, ...jumpers, ...others, ...moves]
}

function forge(pod: Stored, at: number, phase: string, dice: Dice): Item {
  const { namespace = '', name = '' } = pod.metadata
  return { at, kind: 'forge-phase', namespace, name, phase, backMs: 1000 + dice.next() * 4000 }
}

function podsOf(items: readonly Item[]): readonly Stored[] {
  return items.flatMap(item => (item.kind === 'create-pod' ? [item.pod] : []))
}
