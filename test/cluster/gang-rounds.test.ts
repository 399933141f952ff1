import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject, Pod } from '../../src/kube/vocabulary/objects.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { list, queuedPod } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

const ROUNDS = 20
const SIZE = 4
/** Of the 64 CPUs of the only node with room: one gang of four fits, and three pods of another. */
const CPU = '9'
const NAMESPACE = 'rounds'

describe('two gangs that fit only one at a time', { timeout: 580_000 }, () => {
  let plane: ControlPlane
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'rounds', featureGates: 'all' })
    await plane.kubectl(['label', 'node', 'node-1', 'room=yes'])
    await plane.createNamespace(NAMESPACE)
    muster = await Muster.install(plane, {}, { logLevel: 'info' })
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  const gang = (group: string) =>
    Array.from({ length: SIZE }, (_, index) => ({
      ...queuedPod({
        ...{ namespace: NAMESPACE, name: `${group}-${index}`, group, count: SIZE, cpu: CPU, outcome: 'succeed' },
        nodeSelector: { room: 'yes' },
      }),
    }))
  const pods = async (): Promise<readonly Pod[]> =>
    (await plane.kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', NAMESPACE])).items
  const groupOf = ({ metadata }: Pod) => metadata.name?.slice(0, -2) ?? ''

  it(`never hold each other up, in ${ROUNDS} rounds`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const [a = [], b = []] = [gang(`a${round}`), gang(`b${round}`)]
      // Pod by pod in turn: placed one by one, each would hold half of the room.
      const mixed = a.flatMap((pod, index) => [pod, b[index] ?? {}])
      await plane.kubectl(['create', '-f', '-'], { stdin: list(mixed) })
      await eventually(
        `round ${round} is over`,
        async () => {
          const all = await pods()
          const placed = Map.groupBy(
            all.filter(({ spec }) => spec.nodeName !== undefined),
            groupOf,
          )
          expect([...placed.values()].map(({ length }) => length)).toEqual([...placed.keys()].map(() => SIZE))
          expect(all.map(({ status }) => status?.phase)).toEqual(all.map(() => 'Succeeded'))
          expect(all).toHaveLength(2 * SIZE)
          return true
        },
        { timeoutMs: 60_000 },
      )
      await plane.kubectl(['delete', 'pods', '--all', '-n', NAMESPACE, '--wait=true'])
    }
    await eventually('nothing is left', async () => {
      const { items } = await plane.kubectl.json<{ items: KubeObject[] }>([
        ...['get', 'podgroups.scheduling.k8s.io,workloads.scheduling.k8s.io', '-n', NAMESPACE],
      ])
      return items.length === 0
    })
  })
})
