import {
  GROUP_COUNT,
  GROUP_FAST_ADMISSION,
  GROUP_NAME,
  GROUP_ROLE,
  GROUP_ROLE_COUNT,
  GROUP_ROLES,
  GROUP_SETS,
  GROUP_TOTAL_COUNT,
  QUEUE_NAME,
  RETRIABLE_IN_GROUP,
} from '../../../src/kube/vocabulary/names.ts'
import { OUTCOME, RUN_MS } from '../actors/nodes.ts'
import { REPLACED, SAME_NAME } from '../actors/replacers.ts'
import type { Stored } from '../model/server.ts'
import type { Dice } from '../time/dice.ts'
import type { Item } from './schedule.ts'

export interface Place {
  readonly namespace: string
  readonly queue: string
  readonly name: string
  readonly at: number
  /** Pods that go are mostly put back by a controller. */
  readonly returning: boolean
}

type Marks = Readonly<Record<string, string>>

/** The pods of one unit, each created in its own moment. */
export function unitItems(dice: Dice, place: Place): readonly Item[] {
  const build = dice.weighted<(dice: Dice, place: Place) => readonly Item[]>([
    [40, single],
    [26, countGroup],
    [8, rolesGroup],
    [7, driverGroup],
    [6, fastGroup],
    [13, wrongGroup],
  ])
  return build(dice, place)
}

function single(dice: Dice, place: Place): readonly Item[] {
  return [
    create(
      place.at,
      podOf(
        dice,
        place,
        place.name,
        dice.pick(['500m', '1', '2']),
        {},
        dice.chance(place.returning ? 0.6 : 0.2) ? { [REPLACED]: '0', [SAME_NAME]: 'true' } : {},
      ),
    ),
  ]
}

/** Shipped dialect or KEP-976, of one shape or of two. */
function countGroup(dice: Dice, place: Place): readonly Item[] {
  const size = dice.int(2, 5)
  const marks = {
    [dice.chance(0.7) ? GROUP_TOTAL_COUNT : GROUP_COUNT]: String(size),
    ...recovery(dice, place.returning),
  }
  const shapes = dice.chance(0.3) ? ['1', '2'] : [dice.pick(['500m', '1'])]
  const extra = dice.chance(0.12) ? dice.int(1, 2) : 0
  return members(dice, place, size + extra, index => ({ cpu: shapes[index % shapes.length] ?? '1', marks }))
}

function rolesGroup(dice: Dice, place: Place): readonly Item[] {
  const workers = dice.int(1, 3)
  const marks = recovery(dice, place.returning)
  return members(dice, place, workers + 1, index =>
    index === 0
      ? { cpu: '1', marks: { ...marks, [GROUP_ROLES]: '2' }, role: 'driver' }
      : { cpu: '500m', marks: { ...marks, [GROUP_ROLES]: '2', [GROUP_ROLE_COUNT]: String(workers) }, role: 'worker' },
  )
}

/** KEP-976, story 4: the driver announces its workers and creates them when it runs. */
function driverGroup(dice: Dice, place: Place): readonly Item[] {
  const workers = dice.int(1, 3)
  const spec = { containers: [containerOf('500m')] }
  const sets = JSON.stringify([
    { name: 'driver', count: 1 },
    { name: 'worker', count: workers, template: { spec } },
  ])
  const late = 2000 + dice.next() * 8000
  return members(
    dice,
    place,
    workers + 1,
    (index): Member =>
      index === 0
        ? { cpu: '1', marks: { [GROUP_SETS]: sets }, role: 'driver', runMs: 9000 }
        : { cpu: '500m', marks: { [GROUP_ROLE_COUNT]: String(workers) }, role: 'worker' },
    index => (index === 0 ? 0 : late),
  )
}

function fastGroup(dice: Dice, place: Place): readonly Item[] {
  const size = dice.int(2, 4)
  const marks = { [GROUP_TOTAL_COUNT]: String(size), [GROUP_FAST_ADMISSION]: 'true' }
  return members(
    dice,
    place,
    size,
    () => ({ cpu: '500m', marks }),
    () => dice.next() * 6000,
  )
}

/** Too few, or members that contradict each other: they wait, with a reason, and nothing else suffers. */
function wrongGroup(dice: Dice, place: Place): readonly Item[] {
  const size = dice.int(2, 4)
  const flaw = dice.pick(['few', 'counts', 'queues'])
  return members(dice, place, flaw === 'few' ? size - 1 : size, index => ({
    cpu: '1',
    marks: { [GROUP_TOTAL_COUNT]: String(flaw === 'counts' && index === 0 ? size + 1 : size) },
    ...(flaw === 'queues' && index === 0 && { queue: 'unlimited' }),
  }))
}

function recovery(dice: Dice, returning: boolean): Marks {
  if (dice.chance(returning ? 0.75 : 0.45)) return { [REPLACED]: '0', ...(dice.chance(0.4) && { [SAME_NAME]: 'true' }) }
  return dice.chance(0.3) ? { [RETRIABLE_IN_GROUP]: 'false' } : {}
}

export interface Member {
  readonly cpu: string
  readonly marks: Marks
  readonly role?: string
  readonly queue?: string
  readonly runMs?: number
  /** Another group than the one that is named as the place is. */
  readonly group?: string
}

export function members(
  dice: Dice,
  place: Place,
  count: number,
  member: (index: number) => Member,
  delay: (index: number) => number = () => 0,
): readonly Item[] {
  const spread = dice.pick([50, 50, 2000, 15_000])
  return Array.from({ length: count }, (_, index) => {
    const { cpu, marks, role, queue, runMs, group = place.name } = member(index)
    const labels = { [GROUP_NAME]: group, ...(role !== undefined && { [GROUP_ROLE]: role }) }
    const at = place.at + delay(index) + dice.next() * spread
    const where = queue === undefined ? place : { ...place, queue }
    return create(at, podOf(dice, where, `${place.name}-${index}`, cpu, labels, marks, runMs))
  })
}

function podOf(
  dice: Dice,
  place: Place,
  name: string,
  cpu: string,
  labels: Marks,
  annotations: Marks,
  runMs?: number,
): Stored {
  const foreignGate = dice.chance(0.06)
  return {
    metadata: {
      name,
      namespace: place.namespace,
      labels: { [QUEUE_NAME]: place.queue, ...labels },
      annotations: {
        ...annotations,
        [RUN_MS]: String(runMs ?? dice.pick([300, 1500, 4000, 12_000])),
        [OUTCOME]: dice.chance(0.18) ? 'fail' : 'succeed',
      },
      ...(dice.chance(0.1) && { finalizers: ['example.com/keep'] }),
    },
    spec: {
      containers: [containerOf(cpu)],
      ...(dice.chance(0.05) && { nodeSelector: { pool: dice.pick(['a', 'b']) } }),
      ...(dice.chance(0.1) && { tolerations: [{ key: 'own', operator: 'Exists' }] }),
      ...(foreignGate && { schedulingGates: [{ name: 'example.com/hold' }] }),
    },
  }
}

export function containerOf(cpu: string) {
  return { name: 'main', image: 'busybox', resources: { requests: { cpu } } }
}

function create(at: number, pod: Stored): Item {
  return { at, kind: 'create-pod', pod }
}
