import { GROUP_NAME, QUEUE_NAME } from '../../../src/kube/vocabulary/names.ts'
import { podGroupNameFor } from '../../../src/workload/placement.ts'
import { KAI } from '../actors/nodes.ts'
import type { Stored } from '../model/server.ts'
import type { Dice } from '../time/dice.ts'
import type { Item } from './schedule.ts'

/**
 * The same pods, placed by KAI: as a group in a queue, which Muster makes the PodGroup for, or as pods that name a group
 * of Kubernetes, in a queue or in none.
 */
export function asKai(dice: Dice, created: readonly Item[]): readonly Item[] {
  const names = dice.chance(0.55)
  const queued = !names || dice.chance(0.4)
  // Few names, so that two units share a group now and then, or two namespaces want one name.
  const group = `g${dice.int(0, 3)}`
  const placed = (pod: Stored): Stored => {
    const { [QUEUE_NAME]: queue = '', ...labels } = pod.metadata.labels ?? {}
    return {
      ...pod,
      metadata: { ...pod.metadata, labels: queued ? { ...labels, [QUEUE_NAME]: queue } : labels },
      spec: {
        ...(pod.spec as object),
        schedulerName: KAI,
        ...(names && { schedulingGroup: { podGroupName: group } }),
      },
    }
  }
  return created.map(item => (item.kind === 'create-pod' ? { ...item, pod: placed(item.pod) } : item))
}

/** What those who run the cluster, and others, do to the groups of these pods. */
export function kaiItems(dice: Dice, created: readonly Item[], namespaces: readonly string[]): readonly Item[] {
  const [first] = created.flatMap(item => (item.kind === 'create-pod' ? [item] : []))
  if (first === undefined) return []
  const { namespace = '', labels } = first.pod.metadata
  const { schedulerName, schedulingGroup } = first.pod.spec as {
    readonly schedulerName?: string
    readonly schedulingGroup?: { readonly podGroupName: string }
  }
  if (schedulerName !== KAI) return []
  const soon = (ms: number) => first.at + dice.next() * ms
  const named = schedulingGroup?.podGroupName
  const name = named ?? podGroupNameFor(namespace, labels?.[GROUP_NAME] ?? '')
  const items = named === undefined ? [] : nativeItems(dice, { namespace, name }, first.at, soon)
  if (dice.chance(0.25)) items.push({ at: soon(10_000), kind: 'delete-kai-group', namespace, name })
  if (dice.chance(0.2)) {
    const at = Math.max(0, first.at - dice.next() * 2000)
    items.push({
      ...{ at, kind: 'take-kai-group', namespace: dice.pick(namespaces), name },
      minMember: dice.int(1, 4),
      backMs: 1000 + dice.next() * 8000,
    })
  }
  const pod = first.pod.metadata.name ?? ''
  if (named && dice.chance(0.12)) items.push({ at: soon(6000), kind: 'opt-out', namespace, name: pod })
  return items
}

interface Group {
  readonly namespace: string
  readonly name: string
}

/** The group of Kubernetes comes mostly before its pods, sometimes long after them, sometimes never, and may go again. */
function nativeItems(dice: Dice, of: Group, begin: number, soon: (ms: number) => number): Item[] {
  const write = (at: number): Item => ({ at, kind: 'write-native-group', ...of, minCount: dice.int(1, 4) })
  const items: Item[] = []
  if (dice.chance(0.9)) items.push(write(dice.chance(0.5) ? Math.max(0, begin - 500) : soon(12_000)))
  if (dice.chance(0.3)) items.push(write(soon(15_000)))
  if (dice.chance(0.2)) {
    const at = soon(15_000)
    items.push({ at, kind: 'delete-native-group', ...of }, write(at + 200 + dice.next() * 6000))
  }
  return items
}
