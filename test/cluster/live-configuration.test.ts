import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { queuedPod } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

interface Event extends KubeObject {
  readonly regarding: { readonly kind: string; readonly name: string }
  readonly reason: string
  readonly note: string
}

interface Pod extends KubeObject {
  readonly spec: { readonly schedulingGates?: readonly unknown[] }
}

const PATIENT = { timeoutMs: 90_000 }

describe('a configuration that changes while two replicas run', () => {
  let plane: ControlPlane
  let replicas: readonly Muster[]

  const limited = (pods: number) => ({ queues: [{ name: 'team-a', limits: { pods } }] })
  const create = (name: string) => plane.kubectl(['create', '-f', '-'], { stdin: queuedPod({ namespace: 'ml', name }) })
  const lifted = async (): Promise<readonly string[]> => {
    const { items } = await plane.kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', 'ml'])
    return items
      .filter(({ spec }) => (spec.schedulingGates ?? []).length === 0)
      .map(({ metadata }) => metadata.name ?? '')
      .sort()
  }
  const inForce = async (times: number): Promise<void> => {
    for (const replica of replicas) {
      await eventually('it is in force', async () => (await changes(replica, 'taken')) === times, PATIENT)
    }
  }
  const changes = async (replica: Muster, result: string): Promise<number> => {
    const { body } = await replica.health('/metrics')
    return Number(new RegExp(`muster_configuration_changes_total{result="${result}"} (\\d+)`).exec(body)?.[1] ?? 0)
  }
  const eventsOf = async (reason: string): Promise<readonly Event[]> => {
    const { items } = await plane.kubectl.json<{ items: Event[] }>([
      'get',
      'events.events.k8s.io',
      '-n',
      'muster-system',
    ])
    return items.filter(event => event.reason === reason)
  }

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'live', featureGates: 'none' })
    await plane.createNamespace('ml')
    const first = await Muster.install(plane, limited(1))
    replicas = [first, await first.another(plane.folder)]
  })

  afterAll(async () => {
    await Promise.all((replicas ?? []).map(replica => replica.stop()))
    await plane?.stop()
  })

  it('admits at once who waits when the limits rise, and takes nothing back when they fall', async () => {
    for (const name of ['a', 'b', 'c']) await create(name)
    await eventually('the first is lifted', async () => (await lifted()).join() === 'a', PATIENT)
    await replicas[0]?.reconfigure(limited(2))
    await eventually('the second is lifted', async () => (await lifted()).join() === 'a,b', PATIENT)
    // Each looks in its own time, and could miss a change that is undone at once.
    await inForce(1)
    await replicas[0]?.reconfigure(limited(1))
    await inForce(2)
    await create('d')
    await plane.kubectl(['delete', 'pod', 'a', '-n', 'ml', '--grace-period=0', '--force'])
    await eventually('a is gone', async () => !(await lifted()).includes('a'), PATIENT)
    expect(await lifted()).toEqual(['b'])
    await plane.kubectl(['delete', 'pod', 'b', '-n', 'ml', '--grace-period=0', '--force'])
    await eventually('the next is lifted', async () => (await lifted()).join() === 'c', PATIENT)
  })

  it('is refused by both when it is wrong, with an Event, a metric and the place in the log', async () => {
    await replicas[0]?.reconfigure({ queues: [{ name: 'team-a', limits: { pods: 'many' } }] })
    for (const replica of replicas) {
      await eventually('it is refused', async () => (await changes(replica, 'refused')) === 1, PATIENT)
      await eventually('its log says where', () => /muster\.yaml:\d+:\d+/.test(replica.log()), PATIENT)
    }
    const [event, ...more] = await eventually(
      'an Event',
      async () => {
        const found = await eventsOf('ConfigurationRefused')
        return found.length > 0 && found
      },
      PATIENT,
    )
    // Its name follows from what it says, so the second replica has nothing to add.
    expect(more).toEqual([])
    expect(event).toMatchObject({ regarding: { kind: 'ConfigMap', name: 'muster' } })
    expect(event?.note).toMatch(/muster\.yaml:\d+:\d+/)
    expect(await lifted()).toEqual(['c'])
  })

  it('holds new reviews to the new rules, and says what takes a restart', async () => {
    await replicas[0]?.reconfigure({ ...limited(1), unlistedQueues: 'refuse', engine: 'kueue' })
    await eventually(
      'a queue that nobody lists is refused',
      async () => {
        const stdin = queuedPod({ namespace: 'ml', name: 'x', queue: 'team-x' })
        const dryRun = ['create', '-f', '-', '--dry-run=server']
        const { stderr } = await plane.kubectl(dryRun, { stdin, expectFailure: true })
        return stderr.includes('team-x')
      },
      PATIENT,
    )
    const [event] = await eventually('an Event', async () => {
      const found = await eventsOf('RestartNeeded')
      return found.length > 0 && found
    })
    expect(event?.note).toContain('engine')
  })
})
