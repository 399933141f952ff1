import { expect } from 'vitest'
import { isGated, queuedPod } from './manifests.ts'
import { KUEUE_WORKLOADS, type Scene } from './scene.ts'

/** What a hundred pods are doing: who changes the one that queues them may lose, double or strand none of them. */
const RUNNING = 30
const WAITING = 20
const ENDED = 10
const GANGS = { running: ['run-a', 'run-b', 'run-c'], waiting: ['wait-a', 'wait-b'], halfway: ['half-a', 'half-b'] }
const SIZE = 5
const INCOMPLETE = { group: 'parts', count: SIZE + 1 }

/** Of pods that nobody may stop or start. */
export type Census = ReadonlyMap<string, string>

/** In a namespace with the queues `team-a`, which has room, and `full`, which has none. */
export async function populate(scene: Scene): Promise<Census> {
  const { namespace } = scene
  const singles = (prefix: string, count: number, queue: string, outcome?: 'succeed') =>
    Array.from({ length: count }, (_, index) =>
      queuedPod({ namespace, queue, name: `${prefix}-${index}`, cpu: '10m', ...(outcome && { outcome }) }),
    )
  const gangs = (groups: readonly string[], queue: string) => groups.flatMap(group => members(scene, group, queue))
  await scene.create([
    ...singles('single', RUNNING, 'team-a'),
    ...singles('waits', WAITING, 'full'),
    ...singles('ended', ENDED, 'team-a', 'succeed'),
    ...gangs([...GANGS.running, ...GANGS.halfway], 'team-a'),
    ...gangs(GANGS.waiting, 'full'),
    ...members(scene, INCOMPLETE.group, 'team-a', INCOMPLETE.count).slice(1),
  ])
  const running = RUNNING + SIZE * (GANGS.running.length + GANGS.halfway.length)
  await scene.until('everybody is where he belongs', async () => {
    expect(await scene.inPhase('Running')).toHaveLength(running)
    expect(await scene.inPhase('Succeeded')).toHaveLength(ENDED)
    expect(await scene.gated()).toHaveLength(WAITING + SIZE * GANGS.waiting.length + SIZE)
    const ended = (await scene.pods()).filter(({ status }) => status?.phase === 'Succeeded')
    expect(ended.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([])
  })
  for (const group of GANGS.halfway) {
    await scene.end(`${group}-0`)
    await scene.end(`${group}-1`, 'fail')
  }
  await scene.until('two groups have lost a member', async () => {
    expect(await scene.inPhase('Failed')).toHaveLength(GANGS.halfway.length)
    expect(await scene.inPhase('Succeeded')).toHaveLength(ENDED + GANGS.halfway.length)
  })
  return await census(scene)
}

/** Who is there, and whether he runs or waits. */
export async function census(scene: Scene): Promise<Census> {
  return new Map(
    (await scene.pods()).map(pod => {
      const state = isGated(pod) ? 'waits' : (pod.status?.phase ?? '')
      const going = pod.metadata.deletionTimestamp === undefined ? '' : ', is going'
      return [`${pod.metadata.name} ${pod.metadata.uid}`, `${state}${going}`]
    }),
  )
}

/** What waits starts when there is room, what was incomplete when it is complete, and all of it comes to its end. */
export async function runToTheEnd(
  scene: Scene,
  makeRoom: () => Promise<unknown>,
  kind = KUEUE_WORKLOADS,
): Promise<void> {
  await makeRoom()
  const { namespace } = scene
  await scene.create([
    ...members(scene, INCOMPLETE.group, 'team-a', INCOMPLETE.count).slice(0, 1),
    ...GANGS.halfway.map(group =>
      queuedPod({ namespace, group, count: SIZE, name: `${group}-spare`, cpu: '10m', queue: 'team-a' }),
    ),
  ])
  const all = RUNNING + WAITING + SIZE * (GANGS.running.length + GANGS.waiting.length) + INCOMPLETE.count
  const running = all + (SIZE - 1) * GANGS.halfway.length
  await scene.until('all of them run', async () => expect(await scene.inPhase('Running')).toHaveLength(running))
  expect(await scene.gated()).toEqual([])
  await scene.endAll()
  await scene.until('all have ended, and nobody holds them', async () => {
    const pods = await scene.pods()
    expect(pods.filter(({ status }) => status?.phase === 'Running')).toEqual([])
    expect(pods.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([])
  })
  await scene.until('every Workload has finished', async () => {
    const open = (await scene.workloads(kind)).filter(
      ({ status }) => !status?.conditions?.some(({ type, status }) => type === 'Finished' && status === 'True'),
    )
    expect(open.map(({ metadata }) => metadata.name)).toEqual([])
  })
}

function members(scene: Scene, group: string, queue: string, count = SIZE): readonly object[] {
  const { namespace } = scene
  return Array.from({ length: count }, (_, index) =>
    queuedPod({ namespace, queue, group, count, name: `${group}-${index}`, cpu: '10m' }),
  )
}
