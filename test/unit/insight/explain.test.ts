import { describe, expect, it } from 'vitest'
import { WORKLOADS } from '../../../src/engines/builtin/workloads.ts'
import { explain } from '../../../src/insight/explain/explain.ts'
import type { Explanation, Subject } from '../../../src/insight/explain/explanation.ts'
import { gather } from '../../../src/insight/explain/gather.ts'
import { renderExplanation } from '../../../src/insight/explain/render.ts'
import { readInstallation } from '../../../src/insight/installation.ts'
import { Sight } from '../../../src/insight/sight.ts'
import { inColour, plain, widthFor } from '../../../src/insight/text.ts'
import { systemClock } from '../../../src/kube/vocabulary/clock.ts'
import { ADMISSION_GATE, MANAGED, POD_GROUP, QUEUE_NAME } from '../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import { EVENTS, JOBS, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { job } from '../../support/jobs.ts'
import { managedPod } from '../../support/pods.ts'
import { ReadingApi } from '../../support/reading-api.ts'
import { ADMITTED, holds, workloadOf } from '../../support/workloads.ts'
import { CONFIGURATION, cluster, holder, NOW } from './fixtures.ts'

const POD: Pick<Subject, 'kind' | 'namespace'> = { kind: 'pod', namespace: 'ml' }

async function explained(api: ReadingApi, subject: Subject): Promise<Explanation> {
  const sight = new Sight(api, systemClock)
  const installation = await readInstallation(sight, undefined)
  return explain(await gather(sight, installation, subject, NOW), NOW)
}

const outcomes = ({ counterfactuals }: Explanation) =>
  counterfactuals.map(({ text, outcome, before }) => `${text}: ${outcome}${before === undefined ? '' : ` ${before}`}`)

describe('explain', () => {
  it('says of the first in a queue what is missing, who holds it, and what would start it, by the engine itself', async () => {
    const explanation = await explained(new ReadingApi(cluster()), { ...POD, name: 'train' })
    expect(explanation).toMatchObject({
      reason: 'OverQueueLimits',
      since: '2026-11-16T10:01:00Z',
      queue: { name: 'team-a', limits: { cpu: '16' }, usage: { cpu: '13' }, before: 0, waiting: 2, holding: 2 },
      unseen: [],
    })
    expect(explanation.message).toContain('asks for 8 cpu, 3 of 16 free')
    expect(explanation.queue?.holders.map(({ asks }) => asks.cpu)).toEqual(['5', '8'])
    expect(outcomes(explanation)).toEqual([
      'it asks for at most 3 cpu (now 8): starts',
      'it comes to queue team-b: starts',
      'it comes to queue small: never',
      'queue team-a holds 21 cpu (now 16): starts',
    ])
  })

  it('says of those behind the first that to ask for less does not help', async () => {
    const explanation = await explained(new ReadingApi(cluster()), { ...POD, name: 'eval' })
    expect(explanation).toMatchObject({ reason: 'WaitingForAdmission', queue: { before: 1 } })
    expect(explanation.queue?.first.map(({ workload }) => workload)).toEqual([expect.stringContaining('train')])
    expect(explanation.next.what).toContain('1 workload before it must start first')
    expect(outcomes(explanation)).toContain('it asks for less: waits 1')
    expect(outcomes(explanation)).toContain('it comes to queue small: starts')
    expect(outcomes(explanation)).toContain('queue team-a holds 22 cpu (now 16): starts')
  })

  it('says of what the queue can never hold that it is set aside, and what the limit would have to be', async () => {
    const explanation = await explained(new ReadingApi(cluster()), { ...POD, name: 'huge' })
    expect(explanation.reason).toBe('OverQueueLimits')
    expect(explanation.queue?.before).toBeUndefined()
    expect(explanation.next.what).toContain('ask for less')
    expect(outcomes(explanation)).toEqual([
      'it asks for less: waits 2',
      'it comes to queue team-b: never',
      'it comes to queue small: never',
      'queue team-a holds 86 cpu (now 16): starts',
    ])
  })

  it('reads no more than it needs: one namespace, one pod, its Workload, and the queue only where it waits in one', async () => {
    const api = new ReadingApi(cluster())
    await explained(api, { ...POD, name: 'running' })
    expect(api.calls.filter(call => call.startsWith('list'))).toEqual(['list events in ml'])
    api.calls.length = 0
    await explained(api, { ...POD, name: 'train' })
    expect(api.calls.filter(call => call.startsWith('list'))).toEqual(['list events in ml', 'list workloads'])
  })

  it('says what a tenant may not read, and what it knows all the same', async () => {
    const api = new ReadingApi(cluster())
    api.denies = call => call === 'list workloads' || call.includes('configmaps')
    const explanation = await explained(api, { ...POD, name: 'train' })
    expect(explanation).toMatchObject({ reason: 'OverQueueLimits', counterfactuals: [] })
    expect(explanation.queue).toBeUndefined()
    expect(explanation.message).toContain('3 of 16 free')
    expect(explanation.unseen).toEqual([
      'ConfigMap muster-system/muster (needs get on configmaps)',
      'Workloads of all namespaces (needs list on workloads.muster.dev)',
    ])
  })

  it('invents no limits, and nothing that would follow from them, where the configuration may not be read', async () => {
    const api = new ReadingApi(cluster())
    api.denies = call => call.includes('configmaps')
    const explanation = await explained(api, { ...POD, name: 'train' })
    expect(explanation).toMatchObject({ reason: 'OverQueueLimits', counterfactuals: [] })
    expect(explanation.queue).toBeUndefined()
  })

  it('explains a running pod as one that waits for nothing', async () => {
    const explanation = await explained(new ReadingApi(cluster()), { ...POD, name: 'running' })
    expect(explanation).toMatchObject({ reason: null, message: expect.stringContaining('it runs on node node-1') })
  })

  it('gives the words of the scheduler for a pod that is lifted and not placed', async () => {
    const lifted = managedPod({ gates: [] })
    const conditions = [{ type: 'PodScheduled', status: 'False', message: '0/2 nodes are available' }]
    const pod = { ...lifted, status: { ...lifted.status, conditions } }
    const api = new ReadingApi([...cluster(), [PODS, { ...pod, metadata: { ...pod.metadata, name: 'lifted' } }]])
    const explanation = await explained(api, { ...POD, name: 'lifted' })
    expect(explanation).toMatchObject({ reason: null, message: expect.stringContaining('0/2 nodes are available') })
  })

  it('knows from the Event that the gate could not be lifted: no other object says so', async () => {
    const pod = managedPod({ name: 'refused' })
    const event = {
      metadata: { name: 'refused.1', namespace: 'ml', creationTimestamp: NOW },
      regarding: { uid: 'uid-refused' },
      reason: 'LiftBlocked',
      note: 'the gate could not be lifted: denied by policy x',
      reportingController: 'muster.dev/reconciler',
      eventTime: '2026-11-16T10:02:00.000000Z',
    }
    const objects = [...cluster(), [PODS, pod], [WORKLOADS, workloadOf([pod], ADMITTED)], [EVENTS, event]] as const
    const explanation = await explained(new ReadingApi(objects), { ...POD, name: 'refused' })
    expect(explanation).toMatchObject({ reason: 'LiftBlocked', since: '2026-11-16T10:02:00Z' })
    expect(explanation.message).toContain('denied by policy x')
  })

  it('counts the pods of a group, and names the pods that stand elsewhere', async () => {
    const members = [0, 1].map(index => managedPod({ name: `gang-${index}`, group: 'gang', count: 3 }))
    const objects = [...cluster(), ...members.map(pod => [PODS, pod] as const)]
    const subject: Subject = { kind: 'group', namespace: 'ml', name: 'gang' }
    const explanation = await explained(new ReadingApi(objects), subject)
    expect(explanation).toMatchObject({ reason: 'WaitingForPods', message: '2 of the 3 pods of group gang exist' })
  })

  it('speaks of a group by what somebody has to act upon, and names the others', async () => {
    const members = [0, 1].map(index => managedPod({ name: `gang-${index}`, group: 'gang', count: 2 }))
    const [first, second] = members
    const held = first && { ...first, spec: { ...first.spec, schedulingGates: [{ name: 'example.com/other' }] } }
    const late = managedPod({ name: 'gang-2', group: 'gang', count: 2, created: NOW, version: '400' })
    const present = [held, second, late].flatMap(pod => (pod === undefined ? [] : [[PODS, pod] as const]))
    const objects = [...cluster(), ...present, [WORKLOADS, workloadOf(members, ADMITTED)] as const]
    const explanation = await explained(new ReadingApi(objects), { kind: 'group', namespace: 'ml', name: 'gang' })
    expect(explanation.reason).toBe('ForeignGates')
    expect(explanation.others.map(({ pod, reason }) => [pod, reason])).toEqual(
      expect.arrayContaining([
        ['gang-1', 'Lifting'],
        ['gang-2', 'ExcessPod'],
      ]),
    )
  })

  it('says how a Workload that was switched off is switched on again', async () => {
    const pod = managedPod({ name: 'off' })
    const stopped = workloadOf([pod], [holds('Evicted', 'Deactivated', 'was deactivated')])
    const workload = { ...stopped, spec: { ...stopped.spec, active: false } }
    const objects = [...cluster(), [PODS, pod], [WORKLOADS, workload]] as const
    const subject: Subject = { kind: 'workload', namespace: 'ml', name: workload.metadata.name ?? '' }
    const explanation = await explained(new ReadingApi(objects), subject)
    expect(explanation.reason).toBe('Evicted')
    expect(explanation.next.what).toContain(`kubectl patch workloads.muster.dev ${workload.metadata.name} -n ml`)
  })

  it('says of a Job that its user has suspended that he resumes it, and how', async () => {
    const annotations = { 'muster.dev/queued': 'true', 'muster.dev/held': 'true' }
    const held = { ...job({ annotations }), spec: { ...job().spec, suspend: true } }
    const { reason, next } = await explained(new ReadingApi([...cluster(), [JOBS, held]]), {
      ...{ kind: 'job', namespace: 'ml', name: 'train' },
    })
    expect(reason).toBe('Evicted')
    expect(next.what).toContain('kubectl patch job train -n ml --type=merge')
    expect(next.who).toBe('whoever may update the job')
  })

  it('explains a pod of a Job by its Job', async () => {
    const job = {
      metadata: { name: 'night', namespace: 'ml', uid: 'uid-night', labels: { 'kueue.x-k8s.io/queue-name': 'team-a' } },
      spec: { suspend: true, parallelism: 1, template: { spec: { containers: [] } } },
    }
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'night', uid: 'uid-night', controller: true }
    const pod = { metadata: { name: 'night-x', namespace: 'ml', ownerReferences: [owner] }, spec: {} }
    const api = new ReadingApi([...cluster(), [PODS, pod], [JOBS, job]])
    const explanation = await explained(api, { ...POD, name: 'night-x' })
    expect(explanation).toMatchObject({ through: { kind: 'job', name: 'night' }, reason: 'WaitingForAdmission' })
  })

  it('follows no Job in circles, whoever it says it is a child of', async () => {
    const claims = (name: string, parent: string) =>
      [JOBS, job({ name, queue: '', annotations: { 'muster.dev/child-of': `batch/job:${parent}` } })] as const
    const api = new ReadingApi([...cluster(), claims('own', 'own'), claims('one', 'other'), claims('other', 'one')])
    const gets = () => api.calls.filter(call => call.startsWith('get jobs')).length
    for (const name of ['own', 'one']) {
      const before = gets()
      api.denies = () => gets() - before > 10
      const explanation = await explained(api, { kind: 'job', namespace: 'ml', name })
      expect(explanation).toMatchObject({ reason: null, message: expect.stringContaining('names no queue') })
      expect(gets() - before).toBeLessThanOrEqual(2)
    }
  })

  it('says of a pod without a queue that Muster does not hold it back', async () => {
    const pod: Pod = { metadata: { name: 'plain', namespace: 'ml' }, spec: {} }
    const api = new ReadingApi([...cluster(), [PODS, pod]])
    const explanation = await explained(api, { ...POD, name: 'plain' })
    expect(explanation).toMatchObject({ reason: null, message: expect.stringContaining('names no queue') })
  })

  it.each<readonly [string, object, object]>([
    [
      'our gate',
      { gates: [ADMISSION_GATE] },
      { reason: 'LiftBlocked', message: expect.stringContaining('will not lift') },
    ],
    [
      'the gate of KAI',
      { gates: [POD_GROUP] },
      { reason: 'LiftBlocked', message: expect.stringContaining('PodGroup') },
    ],
    ['our finalizer', { deleting: 0 }, { reason: null, next: { what: expect.stringContaining(`${MANAGED} off it`) } }],
  ])(
    'does not say of a pod that has lost our label and that %s holds that Muster holds nothing back',
    async (_, of, said) => {
      const pod = managedPod({ name: 'left', ...of })
      const labels = { [QUEUE_NAME]: 'team-a' }
      const api = new ReadingApi([...cluster(), [PODS, { ...pod, metadata: { ...pod.metadata, labels } }]])
      expect(await explained(api, { ...POD, name: 'left' })).toMatchObject(said)
    },
  )

  it('does not repeat what was said of a queue in which somebody has ended since, with nobody there to say it anew', async () => {
    const without = cluster().filter(([, { metadata }]) => !metadata.name?.includes('running'))
    const train = await explained(new ReadingApi(without), { ...POD, name: 'train' })
    expect(train).toMatchObject({ reason: 'WaitingForAdmission', message: expect.stringContaining('has room for it') })
    expect(train.next).toMatchObject({ what: expect.stringContaining('muster doctor'), who: 'Muster, by itself' })
    const evaluation = await explained(new ReadingApi(without), { ...POD, name: 'eval' })
    expect(evaluation.message).toContain('has room for it')
    const higher = new ReadingApi(cluster(CONFIGURATION.replace('cpu: 16', 'cpu: 65')))
    expect((await explained(higher, { ...POD, name: 'huge' })).message).toContain('has room for others')
  })

  it.each(['Running', 'Succeeded'])('tells whose pod was deleted who takes it away: %s', async phase => {
    const [pod, workload] = holder('over', '1', { deleting: 0, phase })
    const api = new ReadingApi([...cluster(), [PODS, pod], [WORKLOADS, workload]])
    expect((await explained(api, { ...POD, name: 'over' })).next.what).toContain('Muster takes its finalizer off')
  })

  it('tells a name that is not there from one that may not be read', async () => {
    const api = new ReadingApi(cluster())
    await expect(explained(api, { ...POD, name: 'nobody' })).rejects.toThrow('there is no pod nobody in namespace ml')
    api.denies = call => call.startsWith('get pods')
    await expect(explained(api, { ...POD, name: 'train' })).rejects.toThrow('you may not read pods of namespace ml')
  })
})

describe('the text of an explanation', () => {
  it('begins with the reason, and lets no name of others command a terminal', async () => {
    const explanation = await explained(new ReadingApi(cluster()), { ...POD, name: 'train' })
    const text = renderExplanation({ ...explanation, message: 'held by \u001b[2J evil' }, Date.parse(NOW), plain)
    expect(text.split('\n')[0]).toBe('Pod ml/train waits: OverQueueLimits, for 13m (since 2026-11-16T10:01:00Z)')
    expect(text).not.toContain('\u001b')
    const narrow = renderExplanation(explanation, Date.parse(NOW), plain, widthFor(60)).split('\n')
    expect(narrow[1]?.length).toBeLessThanOrEqual(60)
    expect(renderExplanation(explanation, Date.parse(NOW), inColour)).toContain('\u001b[33mOverQueueLimits')
  })
})
