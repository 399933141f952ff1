import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { isGated, queuedJob, queuedPod } from '../support/manifests.ts'
import { eventually } from '../support/wait.ts'
import { Battlefield, BLUE, CLOSED, CREATOR, OWNER, RED, ROOT, type User } from './support.ts'

/** For everybody. */
const QUEUE = 'two-pods'

let field: Battlefield

beforeAll(async () => {
  const queues = [
    { name: CLOSED, limits: { pods: 0 } },
    { name: QUEUE, limits: { pods: 2 } },
  ]
  field = await Battlefield.open('places', { queues })
})

afterAll(async () => {
  await field?.close()
})

const create = (object: object, user: User = CREATOR, namespace = RED) =>
  field.passes(user, ['create', '-f', '-'], object, namespace)
const member = (name: string, group: string, count: number): object =>
  queuedPod({ namespace: RED, name, queue: QUEUE, group, count })
const isLifted = (name: string, namespace: string) =>
  eventually(`${name} is lifted`, async () => !isGated(await field.get(name, 'pod', namespace)))
const isTold = (name: string, text: string) =>
  eventually(`${name} is told: ${text}`, async () => {
    const args = ['get', 'events', '-n', RED, '--field-selector', `involvedObject.name=${name}`]
    return (await field.plane.kubectl(args)).stdout.includes(text)
  })

async function gone(namespace: string, ...names: string[]): Promise<void> {
  await field.passes(ROOT, ['delete', 'pod', ...names, '--wait=false'], undefined, namespace)
  for (const name of names) await field.isGone(name, 'pod', namespace)
}

/** Somebody else's pods, which are in the queue when this returns. */
async function others(...names: string[]): Promise<void> {
  for (const name of names) {
    await create(queuedPod({ namespace: BLUE, name, queue: QUEUE }), ROOT, BLUE)
    await isQueued(name, BLUE)
  }
}

const isQueued = (owner: string, namespace: string) =>
  eventually(`${owner} has a Workload`, async () => {
    const args = ['get', 'workloads.muster.dev', '-n', namespace]
    const { items } = await field.plane.kubectl.json<{ items: QueuedWorkload[] }>(args)
    return items.some(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === owner))
  })

const HOLD = ['holds-0', 'holds-1']
const HONEST = ['honest-0', 'honest-1']

describe('nobody keeps a place for later', () => {
  it('by a pod too many, which he deletes when it suits him', async () => {
    await create(member('odd', 'kept', 3))
    for (const name of ['kept-0', 'kept-1']) await create(member(name, 'kept', 2))
    await isTold('kept-1', 'must say the same')
    await others(...HOLD, ...HONEST)
    await gone(RED, 'odd')
    await isQueued('kept-0', RED)
    await gone(BLUE, ...HOLD)
    for (const name of HONEST) await isLifted(name, BLUE)
    expect(isGated(await field.get('kept-0'))).toBe(true)
    await gone(BLUE, ...HONEST)
    for (const name of ['kept-0', 'kept-1']) await isLifted(name, RED)
    await gone(RED, 'kept-0', 'kept-1')
  })

  it('by a LimitRange that nobody can count, which he takes away when it suits him', async () => {
    const isSuspended = async () =>
      (await field.get<KubeObject & { spec: { suspend?: boolean } }>('kept', 'job')).spec.suspend
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`a.example/r${index}`, '0']))
    const spec = { limits: [{ type: 'Container', defaultRequest: many }] }
    await create({ apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'hides', namespace: RED }, spec }, OWNER)
    await create(queuedJob({ namespace: RED, name: 'kept', queue: QUEUE, parallelism: 2 }), OWNER)
    await isTold('kept', 'LimitRange')
    await others(...HOLD, ...HONEST)
    await field.passes(OWNER, ['delete', 'limitrange', 'hides'])
    await isQueued('kept', RED)
    await gone(BLUE, ...HOLD)
    for (const name of HONEST) await isLifted(name, BLUE)
    expect(await isSuspended()).toBe(true)
    await gone(BLUE, ...HONEST)
    await eventually('it starts', async () => (await isSuspended()) === false)
    await field.passes(OWNER, ['delete', 'job', 'kept', '--cascade=foreground'])
  })

  it('while who has his pods together stands where the last of them came', async () => {
    await others(...HOLD)
    await create(member('first-0', 'first', 2))
    await isTold('first-0', '1 of the 2 pods')
    await create(member('first-1', 'first', 2))
    await isQueued('first-0', RED)
    await others(...HONEST)
    await gone(BLUE, ...HOLD)
    for (const name of ['first-0', 'first-1']) await isLifted(name, RED)
    expect(isGated(await field.get('honest-0', 'pod', BLUE))).toBe(true)
  })
})
