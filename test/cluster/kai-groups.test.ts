import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KaiPodGroup } from '../../src/coscheduling/kai/objects.ts'
import type { Pod } from '../../src/kube/vocabulary/objects.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { gang, kaiJob, kaiKinds, kaiPod, kaiPriorities, queuedKaiPod } from './support/kai-crds.ts'
import { untilServed } from './support/kinds.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

const NAMESPACE = 'ml'
const GATE = 'muster.dev/pod-group'
const LINK = 'pod-group-name'
/** KAI's own, with the rights that its chart gives it, and nothing that Muster knows it by. */
const POD_GROUPER = { as: 'system:serviceaccount:kai-scheduler:pod-grouper', asGroups: ['kai'] }
const TENANT = { as: 'tenant', asGroups: ['system:authenticated'] }
const THIEF = { as: 'system:serviceaccount:muster-system:muster', asGroups: ['system:serviceaccounts'] }

/** What Muster does for KAI, on a real API server and without KAI: nobody here places the pods. */
describe('pods of KAI that name a PodGroup of Kubernetes', () => {
  let plane: ControlPlane
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'kai-groups', featureGates: 'all' })
    await plane.createNamespace(NAMESPACE)
    await apply(...kaiKinds(), ...kaiPriorities(), ...rights())
    await untilServed(plane.kubectl, 'podgroups.scheduling.run.ai')
    muster = await Muster.install(plane)
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  const apply = (...items: readonly object[]) =>
    plane.kubectl(['create', '-f', '-'], { stdin: { apiVersion: 'v1', kind: 'List', items } })
  const pod = (name: string) => plane.kubectl.json<Pod>(['get', 'pod', name, '-n', NAMESPACE])
  const managed = (name: string) =>
    plane.kubectl.json<Pod>(['get', 'pod', name, '-n', NAMESPACE, '--show-managed-fields'])
  const kaiGroups = async () => {
    const { items } = await plane.kubectl.json<{ items: KaiPodGroup[] }>(['get', 'podgroups.scheduling.run.ai', '-A'])
    return new Map(items.map(group => [group.metadata.name ?? '', group]))
  }
  const gatesOf = ({ spec }: Pod) => (spec.schedulingGates ?? []).map(({ name }) => name)
  const linkOf = ({ metadata }: Pod) => metadata.annotations?.[LINK]
  const patch = (name: string, change: object, user: object, kind = 'pod', ...more: readonly string[]) =>
    plane.kubectl(['patch', kind, name, '-n', NAMESPACE, '--type=merge', '-p', JSON.stringify(change), ...more], user)
  const refusal = async (name: string, change: object, user: object, kind = 'pod', ...more: readonly string[]) =>
    (await patch(name, change, { ...user, expectFailure: true }, kind, ...more)).stderr
  const warnings = async (name: string) => {
    const events = await plane.kubectl.json<{ items: { reason: string; type: string; message: string }[] }>([
      ...['get', 'events', '-n', NAMESPACE, '--field-selector', `involvedObject.name=${name}`],
    ])
    return events.items.filter(({ type }) => type === 'Warning')
  }
  const linked = (name: string, to: string) =>
    eventually(`${name} is linked to ${to}`, async () => {
      const current = await pod(name)
      expect([linkOf(current), gatesOf(current)]).toEqual([to, []])
      return current
    })

  it('wait for a PodGroup that is not there, are told so once, and go on when it comes', async () => {
    await apply(kaiPod({ namespace: NAMESPACE, name: 'early', group: 'late' }))
    expect(gatesOf(await pod('early'))).toEqual([GATE])
    const told = await eventually('the pod is told', async () => (await warnings('early'))[0])
    expect(told).toMatchObject({ reason: 'PodGrouperWarning', message: 'PodGroup "late" does not exist' })
    expect(linkOf(await pod('early'))).toBeUndefined()
    expect((await kaiGroups()).has('late')).toBe(false)

    await apply(gang({ namespace: NAMESPACE, name: 'late', minCount: 2 }))
    await linked('early', 'late')
    expect((await kaiGroups()).get('late')?.spec).toMatchObject({
      minMember: 2,
      queue: 'default-queue',
      priorityClassName: 'train',
    })
    expect(await warnings('early')).toHaveLength(1)
  })

  it('of a Job get a PodGroup that the Job owns, which follows minCount and keeps its queue', async () => {
    await apply(
      gang({ namespace: NAMESPACE, name: 'training', minCount: 3 }),
      kaiJob({
        ...{ namespace: NAMESPACE, name: 'training', group: 'training', parallelism: 3 },
        labels: { 'kai.scheduler/queue': 'team-a', team: 'a' },
      }),
    )
    const group = await eventually('the group is there', async () => (await kaiGroups()).get('training'))
    expect(group.metadata.ownerReferences).toMatchObject([{ apiVersion: 'batch/v1', kind: 'Job', name: 'training' }])
    expect(group.metadata.labels).toMatchObject({ team: 'a', 'kai.scheduler/queue': 'team-a' })
    expect(group.spec).toMatchObject({ minMember: 3, queue: 'team-a' })
    await eventually('all three are linked', async () => {
      const pods = await plane.kubectl.json<{ items: Pod[] }>([
        'get',
        'pods',
        '-n',
        NAMESPACE,
        '-l',
        'job-name=training',
      ])
      expect(pods.items.map(each => [linkOf(each), gatesOf(each)])).toEqual(Array(3).fill(['training', []]))
      return true
    })

    const change = { spec: { schedulingPolicy: { gang: { minCount: 2 } } } }
    await patch('training', change, {}, 'podgroups.scheduling.k8s.io')
    const grown = await eventually('minMember follows', async () => {
      const now = (await kaiGroups()).get('training')
      return now?.spec?.minMember === 2 ? now : undefined
    })
    expect(grown.spec?.queue).toBe('team-a')
  })

  it('keep their link against the pod-grouper of KAI, which is told that all is well', async () => {
    await apply(
      gang({ namespace: NAMESPACE, name: 'kept', minCount: 1 }),
      kaiPod({ namespace: NAMESPACE, name: 'kept', group: 'kept' }),
      kaiPod({ namespace: NAMESPACE, name: 'waits', group: 'nowhere' }),
    )
    const before = await linked('kept', 'kept')
    const bend = { metadata: { annotations: { [LINK]: 'pg-kept-1' }, labels: { 'kai.scheduler/subgroup-name': 'w' } } }
    const { stderr } = await patch('kept', bend, POD_GROUPER)
    expect(stderr).toContain('it stays as it was')
    await patch('kept', bend, POD_GROUPER)
    const after = await managed('kept')
    expect({ labels: after.metadata.labels, annotations: after.metadata.annotations }).toEqual({
      labels: before.metadata.labels,
      annotations: before.metadata.annotations,
    })
    // Soon not even a new version, when it is settled who manages which field: whoever watches the pod sees nothing, and
    // nothing goes to and fro. The managers are ordered by the second of their last change, so within one second nothing
    // is settled.
    const settled = await eventually('a patch changes nothing', async () => {
      const was = await managed('kept')
      await sleep(1100)
      await patch('kept', bend, POD_GROUPER)
      expect(await managed('kept')).toEqual(was)
      return was
    })
    for (let times = 0; times < 3; times++) await patch('kept', bend, POD_GROUPER)
    expect(await managed('kept')).toEqual(settled)
    await patch('waits', bend, POD_GROUPER)
    expect(linkOf(await pod('waits'))).toBeUndefined()
    // What is its own it may write.
    await patch('kept', { metadata: { annotations: { theirs: '1' } } }, POD_GROUPER)
    expect((await pod('kept')).metadata.annotations).toMatchObject({ theirs: '1', [LINK]: 'kept' })
  })

  it('are left to KAI when their owner says so', async () => {
    await apply(
      kaiJob({
        ...{ namespace: NAMESPACE, name: 'out', group: 'absent', parallelism: 1 },
        annotations: { 'kai.scheduler/ignore-workload-api': 'true' },
      }),
    )
    await eventually('the pod is left alone', async () => {
      const pods = await plane.kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', NAMESPACE, '-l', 'job-name=out'])
      expect(pods.items.map(each => [gatesOf(each), each.metadata.labels?.[GATE], linkOf(each)])).toEqual([
        [[], undefined, undefined],
      ])
      return true
    })
    expect((await kaiGroups()).has('absent')).toBe(false)
  })

  it('never take over a PodGroup of KAI that somebody else made', async () => {
    const theirs = { apiVersion: 'scheduling.run.ai/v2alpha2', kind: 'PodGroup', spec: { minMember: 9 } }
    await apply(
      { ...theirs, metadata: { name: 'taken', namespace: 'default' } },
      gang({ namespace: NAMESPACE, name: 'taken', minCount: 1 }),
      kaiPod({ namespace: NAMESPACE, name: 'second', group: 'taken' }),
    )
    const told = await eventually('the pod is told', async () => (await warnings('second'))[0])
    expect(told?.message).toContain('the one of that name in namespace default was not made by Muster')
    expect(gatesOf(await pod('second'))).toEqual([GATE])
    await plane.kubectl(['delete', 'podgroups.scheduling.run.ai', 'taken', '-n', 'default'])
    await linked('second', 'taken')
  })

  it('get their PodGroup back when somebody deletes it', async () => {
    await apply(
      gang({ namespace: NAMESPACE, name: 'lost', minCount: 1 }),
      kaiPod({ namespace: NAMESPACE, name: 'lost', group: 'lost' }),
    )
    await linked('lost', 'lost')
    const first = (await kaiGroups()).get('lost')?.metadata.uid
    await plane.kubectl(['delete', 'podgroups.scheduling.run.ai', 'lost', '-n', NAMESPACE])
    await eventually('there is another', async () => {
      const uid = (await kaiGroups()).get('lost')?.metadata.uid
      return uid !== undefined && uid !== first
    })
  })

  it('are linked when they are a group in a queue, and lifted when its PodGroup is there', async () => {
    const names = ['q-0', 'q-1', 'q-2']
    const members = names.map(name => queuedKaiPod({ namespace: NAMESPACE, name, group: 'queued', count: 3 }))
    await apply(...members.slice(0, 2))
    const first = await pod('q-0')
    const link = linkOf(first) ?? ''
    expect(link).toMatch(/^muster-group-queued-[0-9a-f]+$/)
    expect(first.metadata.labels?.[GATE]).toBe('group')
    expect((await kaiGroups()).has(link)).toBe(false)
    await apply(...members.slice(2))
    for (const name of names) await linked(name, link)
    const group = (await kaiGroups()).get(link)
    expect(group?.spec).toMatchObject({ minMember: 3, queue: 'default-queue', priorityClassName: 'train' })
    expect(group?.metadata.ownerReferences).toMatchObject([{ kind: 'Workload', name: 'queued', controller: true }])
    const stranger = queuedKaiPod({ namespace: NAMESPACE, name: 'stranger', group: 'another', count: 2 })
    const metadata = { name: 'stranger', namespace: NAMESPACE, annotations: { [LINK]: link } }
    const { stderr } = await plane.kubectl(['create', '-f', '-'], {
      stdin: { ...stranger, metadata },
      expectFailure: true,
    })
    expect(stderr).toContain('this pod is no member of it')
  })

  describe('and a tenant', () => {
    beforeAll(async () => {
      await apply(kaiPod({ namespace: NAMESPACE, name: 'target', group: 'never' }))
    })

    it.each([
      ['lifts no gate', { spec: { schedulingGates: null } }, 'is lifted when the PodGroup of the pod is there'],
      ['takes no mark away', { metadata: { labels: { [GATE]: null } } }, 'is written by Muster'],
    ])('%s', async (_, change, text) => {
      expect(await refusal('target', change, TENANT)).toContain(text)
      expect(gatesOf(await pod('target'))).toEqual([GATE])
    })

    it('bends no link through the status', async () => {
      const change = { metadata: { annotations: { [LINK]: 'victim' } } }
      expect(await refusal('target', change, TENANT, 'pod', '--subresource=status')).toContain('is kept by Muster')
    })

    it('brings no link along, and forges no mark', async () => {
      const annotations = { [LINK]: 'victim' }
      await apply(kaiPod({ namespace: NAMESPACE, name: 'intruder', group: 'never', annotations }))
      expect(linkOf(await pod('intruder'))).toBeUndefined()
      const forged = kaiPod({ namespace: NAMESPACE, name: 'forged', group: 'never', labels: { [GATE]: 'reference' } })
      const spec = { ...(forged as { spec: object }).spec, schedulerName: 'default-scheduler' }
      const { stderr } = await plane.kubectl(['create', '-f', '-'], { stdin: { ...forged, spec }, expectFailure: true })
      expect(stderr).toContain('is set by Muster on pods of KAI that name a group')
    })

    it('may write what is his own, with Muster away too', async () => {
      await muster.stop()
      try {
        await patch('target', { metadata: { labels: { mine: '1' } } }, TENANT)
        expect(await refusal('target', { spec: { schedulingGates: null } }, TENANT)).toContain('failed calling webhook')
      } finally {
        await muster.start()
      }
    })
  })

  describe("and the thief of Muster's token", () => {
    beforeAll(async () => {
      await apply(
        kaiPod({ namespace: NAMESPACE, name: 'loot', group: 'never' }),
        {
          apiVersion: 'scheduling.run.ai/v2alpha2',
          kind: 'PodGroup',
          metadata: { name: 'theirs', namespace: NAMESPACE },
        },
        gang({ namespace: NAMESPACE, name: 'ours', minCount: 1 }),
        kaiPod({ namespace: NAMESPACE, name: 'ours', group: 'ours' }),
      )
      await linked('ours', 'ours')
    })

    const KAI = 'podgroups.scheduling.run.ai'
    it.each([
      ['puts no image into a pod', 'pod', 'loot', { spec: { containers: [{ name: 'main', image: 'evil' }] } }],
      ['writes no annotation of others', 'pod', 'loot', { metadata: { annotations: { other: '1' } } }],
      ['gives no SubGroup', 'pod', 'loot', { metadata: { labels: { 'kai.scheduler/subgroup-name': 'w' } } }],
      ["writes into nobody else's PodGroup", KAI, 'theirs', { spec: { minMember: 1 } }],
      [
        "makes nobody else's PodGroup his",
        KAI,
        'theirs',
        { metadata: { annotations: { 'muster.dev/pod-group-of': 'x' } } },
      ],
      ['moves no PodGroup to another queue', KAI, 'ours', { spec: { queue: 'theirs' } }],
      [
        'turns no PodGroup into that of another',
        KAI,
        'ours',
        { metadata: { annotations: { 'muster.dev/pod-group-of': 'x' } } },
      ],
    ])('%s', async (_, kind, name, change) => {
      expect(await refusal(name, change, THIEF, kind)).toMatch(/ValidatingAdmissionPolicy|is invalid/)
    })

    it('may do what Muster does', async () => {
      await patch('ours', { spec: { minMember: 1, priorityClassName: 'build' } }, THIEF, KAI)
      await eventually('and Muster puts it right', async () => {
        return (await kaiGroups()).get('ours')?.spec?.priorityClassName === 'train'
      })
    })
  })

  it('are not stranded when KAI is taken out of the configuration', async () => {
    await apply(kaiPod({ namespace: NAMESPACE, name: 'stranded', group: 'never' }))
    expect(gatesOf(await pod('stranded'))).toEqual([GATE])
    await muster.stop()
    const without = await Muster.install(plane, { coScheduling: { backend: 'none' } })
    try {
      await eventually('the pod is let go', async () => {
        const current = await pod('stranded')
        expect([gatesOf(current), current.metadata.labels?.[GATE]]).toEqual([[], undefined])
        return true
      })
    } finally {
      await without.stop()
    }
  })
})

function rights(): readonly object[] {
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' }
  const subjects = [POD_GROUPER.as, TENANT.as].map(name => ({
    apiGroup: 'rbac.authorization.k8s.io',
    kind: 'User',
    name,
  }))
  const rules = [{ apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['get', 'list', 'patch', 'update'] }]
  return [
    { ...rbac, kind: 'Role', metadata: { name: 'pods', namespace: NAMESPACE }, rules },
    {
      ...rbac,
      kind: 'RoleBinding',
      metadata: { name: 'pods', namespace: NAMESPACE },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'pods' },
      subjects,
    },
  ]
}
