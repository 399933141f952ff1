import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMISSION_GATE } from '../../src/kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../src/kube/vocabulary/objects.ts'
import { podGroupNameFor } from '../../src/workload/placement.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { list, type QueuedPodOptions, queuedPod } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

interface PodGroup extends KubeObject {
  readonly spec: { readonly schedulingPolicy: { readonly gang?: { readonly minCount: number } } }
  readonly status?: { readonly conditions?: { type: string; status: string; reason: string; message: string }[] }
}

const CONFIG = {
  guard: { exemptUsers: ['kubernetes-admin'] },
  queues: [{ name: 'closed', limits: { pods: 0 } }],
}
const IN_NEED = ['system:masters', 'muster:break-glass', 'system:authenticated']

/** A node has 64 CPUs: seven of these fit. */
const NINE_CPUS = '9'

describe('a group that kube-scheduler places as a whole', { timeout: 240_000 }, () => {
  let plane: ControlPlane
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'gang', featureGates: 'all' })
    await plane.kubectl(['label', 'node', 'node-1', 'room=yes'])
    muster = await Muster.install(plane, CONFIG)
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  const create = (objects: readonly object[]) => plane.kubectl(['create', '-f', '-'], { stdin: list(objects) })
  const pods = async (namespace: string) =>
    (await plane.kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', namespace])).items
  const podGroups = async (namespace: string) =>
    (await plane.kubectl.json<{ items: PodGroup[] }>(['get', 'podgroups.scheduling.k8s.io', '-n', namespace])).items
  const workloads = async (namespace: string) =>
    (await plane.kubectl.json<{ items: KubeObject[] }>(['get', 'workloads.scheduling.k8s.io', '-n', namespace])).items
  const members = (count: number, options: Omit<QueuedPodOptions, 'name'>) =>
    Array.from({ length: count }, (_, index) => queuedPod({ ...options, name: `${options.group}-${index}`, count }))
  const isGated = ({ spec }: Pod) => (spec.schedulingGates ?? []).some(({ name }) => name === ADMISSION_GATE)
  const bound = (all: readonly Pod[]) => all.filter(({ spec }) => spec.nodeName !== undefined).length
  const reasonsIn = async (namespace: string, name: string) => {
    const { items } = await plane.kubectl.json<{ items: { reason: string; message?: string }[] }>([
      ...['get', 'events', '-n', namespace, '--field-selector', `involvedObject.name=${name}`],
    ])
    return items
  }

  it('is found out at the start, and told', async () => {
    expect((await muster.health('/readyz')).body).toMatch(/\[\+\]co-scheduling .*v1beta1 with PodGroups/)
    expect((await muster.health('/metrics')).body).toContain('muster_co_scheduling_served{backend="kubernetes"} 1')
  })

  it('starts none of 8 pods with room for 7, tells why, and starts all when room comes', async () => {
    await plane.createNamespace('room')
    await create(members(8, { namespace: 'room', group: 'train', cpu: NINE_CPUS, nodeSelector: { room: 'yes' } }))
    await eventually('all gates are lifted', async () => (await pods('room')).every(pod => !isGated(pod)))
    const [podGroup, ...others] = await eventually('the scheduler has looked at it', async () => {
      const found = await podGroups('room')
      expect(found[0]?.status?.conditions?.[0]).toMatchObject({ status: 'False', reason: 'Unschedulable' })
      return found
    })
    expect(others).toEqual([])
    expect(podGroup?.metadata.name).toBe(podGroupNameFor('room', 'train'))
    expect(podGroup?.spec.schedulingPolicy).toEqual({ gang: { minCount: 8 } })
    expect(podGroup?.metadata.ownerReferences).toMatchObject([{ kind: 'Workload', name: 'train', controller: true }])
    expect((await workloads('room')).map(({ metadata }) => metadata.name)).toEqual([podGroup?.metadata.name])
    await eventually('its pods are told', async () => {
      const told = await reasonsIn('room', 'train-3')
      return told.find(({ reason }) => reason === 'WaitingForScheduler')?.message?.includes('minCount (8)')
    })
    expect(bound(await pods('room'))).toBe(0)

    await plane.kubectl(['label', 'node', 'node-0', 'room=yes'])
    await eventually('all run', async () => {
      const all = await pods('room')
      expect(all.map(({ status }) => status?.phase)).toEqual(Array.from({ length: 8 }, () => 'Running'))
      return true
    })
    await plane.kubectl(['delete', 'namespace', 'room', '--timeout=90s'], { timeoutMs: 100_000 })
  })

  /** Deletes the namespace, and with it the test that no finalizer of ours, or of Kubernetes, is left behind. */
  const removed = (namespace: string) =>
    plane.kubectl(['delete', 'namespace', namespace, '--timeout=90s'], { timeoutMs: 100_000 })
  const allRun = (namespace: string, count: number) =>
    eventually(`all ${count} run`, async () => {
      const all = await pods(namespace)
      expect(all.map(({ status }) => status?.phase)).toEqual(Array.from({ length: count }, () => 'Running'))
      return true
    })
  const ends = (namespace: string, names: readonly string[], outcome: 'succeed' | 'fail') =>
    plane.kubectl(['annotate', 'pod', ...names, '-n', namespace, `muster.dev/test-outcome=${outcome}`])
  const minCount = async (namespace: string) => (await podGroups(namespace))[0]?.spec.schedulingPolicy.gang?.minCount

  it('starts a replacement after others have succeeded: fewer are wanted then', async () => {
    await plane.createNamespace('replaced')
    await create(members(4, { namespace: 'replaced', group: 'train' }))
    await allRun('replaced', 4)
    await ends('replaced', ['train-0', 'train-1'], 'succeed')
    await ends('replaced', ['train-2'], 'fail')
    await eventually('two have succeeded and one has failed', async () => {
      const phases = (await pods('replaced')).map(({ status }) => status?.phase)
      expect(phases).toEqual(['Succeeded', 'Succeeded', 'Failed', 'Running'])
      return true
    })
    expect(await minCount('replaced')).toBe(4)
    await create([queuedPod({ namespace: 'replaced', name: 'spare', group: 'train', count: 4 })])
    await eventually('the spare runs', async () => {
      const spare = (await pods('replaced')).find(({ metadata }) => metadata.name === 'spare')
      return spare?.status?.phase === 'Running'
    })
    expect(await minCount('replaced')).toBe(2)
    await removed('replaced')
  })

  it('is placed whole again, by the same objects, when it is evicted and admitted again', async () => {
    await plane.createNamespace('evicted')
    const group = { namespace: 'evicted', group: 'train', cpu: NINE_CPUS, nodeSelector: { evicted: 'yes' } }
    await plane.kubectl(['label', 'node', 'node-1', 'evicted=yes'])
    await create(members(4, group))
    await allRun('evicted', 4)
    // Who has done his work stays, and the Workload in the queue with him: the others are stopped.
    await ends('evicted', ['train-0'], 'succeed')
    const phases = async () =>
      (await pods('evicted')).map(({ metadata, status }) => `${metadata.name} ${status?.phase}`)
    await eventually('one has succeeded', async () => (await phases()).includes('train-0 Succeeded'))
    const uids = async () =>
      [...(await workloads('evicted')), ...(await podGroups('evicted'))].map(({ metadata }) => metadata.uid)
    const before = await uids()
    const setActive = (active: boolean) =>
      plane.kubectl([
        ...['patch', 'workloads.muster.dev', 'train', '-n', 'evicted', '--type=merge'],
        ...['-p', JSON.stringify({ spec: { active } })],
      ])
    await setActive(false)
    await eventually('the others are stopped', async () => {
      expect(await phases()).toEqual(['train-0 Succeeded'])
      return true
    })
    expect(await uids()).toEqual(before)

    // Of the 64 CPUs it leaves room for two of the three.
    const { namespace, nodeSelector } = group
    await create([queuedPod({ namespace, nodeSelector, name: 'filler', cpu: '40' })])
    await eventually('the filler runs', async () => (await phases()).includes('filler Running'))
    await create([1, 2, 3].map(index => queuedPod({ ...group, name: `again-${index}`, count: 4 })))
    const again = async () => (await pods('evicted')).filter(({ metadata }) => metadata.name?.startsWith('again-'))
    expect((await again()).every(isGated)).toBe(true)
    await setActive(true)
    await eventually('the scheduler has refused each of them', async () => {
      const all = await again()
      const refused = all.filter(pod => pod.status?.conditions?.some(({ reason }) => reason === 'Unschedulable'))
      expect([refused.length, bound(all)]).toEqual([3, 0])
      return true
    })
    await plane.kubectl(['delete', 'pod', 'filler', '-n', 'evicted'])
    await eventually('all three run', async () => {
      expect((await again()).map(({ status }) => status?.phase)).toEqual(['Running', 'Running', 'Running'])
      return true
    })
    expect(await uids()).toEqual(before)
    await removed('evicted')
  })

  it('takes the objects with the group, and serves the next group of the same name at once', async () => {
    await plane.createNamespace('again')
    await create(members(3, { namespace: 'again', group: 'train' }))
    await allRun('again', 3)
    await plane.kubectl(['delete', 'pods', '--all', '-n', 'again', '--wait=true'])
    await create(members(3, { namespace: 'again', group: 'train' }))
    await allRun('again', 3)
    await plane.kubectl(['delete', 'pods', '--all', '-n', 'again', '--wait=true'])
    await eventually('nothing is left', async () => {
      expect(await podGroups('again')).toEqual([])
      expect(await workloads('again')).toEqual([])
      return true
    })
    await removed('again')
  })

  it('goes on where it was killed between the Workload and the PodGroup', async () => {
    await plane.createNamespace('killed')
    // Nobody can make a PodGroup, so that the moment lasts.
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'no-pod-groups' },
      spec: {
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['scheduling.k8s.io'],
              apiVersions: ['*'],
              resources: ['podgroups'],
              operations: ['CREATE'],
            },
          ],
        },
        validations: [{ expression: 'false', message: 'not now' }],
      },
    }
    const binding = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'no-pod-groups' },
      spec: { policyName: 'no-pod-groups', validationActions: ['Deny'] },
    }
    await create([policy, binding])
    await eventually('the policy holds', async () => {
      const probe = {
        apiVersion: 'scheduling.k8s.io/v1beta1',
        kind: 'PodGroup',
        metadata: { name: 'probe', namespace: 'killed' },
        spec: { schedulingPolicy: { basic: {} } },
      }
      const { stderr } = await plane.kubectl(['create', '--dry-run=server', '-f', '-'], {
        stdin: probe,
        expectFailure: true,
      })
      return stderr.includes('not now')
    })
    await create(members(3, { namespace: 'killed', group: 'train' }))
    await eventually('there is a Workload and no PodGroup', async () => (await workloads('killed')).length === 1)
    await eventually('the pods are told', async () => {
      const told = (await reasonsIn('killed', 'train-0')).find(({ reason }) => reason === 'LiftBlocked')
      return told?.message?.includes('its PodGroup could not be written')
    })
    expect((await pods('killed')).every(isGated)).toBe(true)
    await muster.kill()
    await plane.kubectl(['delete', 'validatingadmissionpolicybinding,validatingadmissionpolicy', 'no-pod-groups'])
    await muster.start()
    await allRun('killed', 3)
    expect((await workloads('killed')).length).toBe(1)
    await removed('killed')
  })

  it('makes a PodGroup anew that somebody deletes while pods wait for the scheduler', async () => {
    await plane.createNamespace('deleted')
    await create(members(8, { namespace: 'deleted', group: 'wide', cpu: '63' }))
    await eventually('the scheduler holds it', async () => {
      const [found] = await podGroups('deleted')
      return found?.status?.conditions?.some(({ status }) => status === 'False')
    })
    const [before] = await podGroups('deleted')
    const name = podGroupNameFor('deleted', 'wide')
    const noProtection = JSON.stringify({ metadata: { finalizers: null } })
    await plane.kubectl(['delete', 'podgroups.scheduling.k8s.io', name, '-n', 'deleted', '--wait=false'])
    await plane.kubectl([
      'patch',
      'podgroups.scheduling.k8s.io',
      name,
      '-n',
      'deleted',
      '--type=merge',
      '-p',
      noProtection,
    ])
    await eventually('there is another one', async () => {
      const [found] = await podGroups('deleted')
      expect(found?.metadata.uid).not.toBe(before?.metadata.uid)
      expect(found?.spec.schedulingPolicy).toEqual({ gang: { minCount: 8 } })
      return true
    })
    expect(bound(await pods('deleted'))).toBe(0)
    await removed('deleted')
  })

  it('never adopts what has its name and is somebody else’s: it says whose', async () => {
    await plane.createNamespace('taken')
    const owner = await plane.kubectl.json<KubeObject>(['create', '-f', '-'], {
      stdin: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'theirs', namespace: 'taken' } },
    })
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'theirs', uid: owner.metadata.uid, controller: true }
    const theirs = {
      apiVersion: 'scheduling.k8s.io/v1beta1',
      kind: 'PodGroup',
      metadata: { name: podGroupNameFor('taken', 'train'), namespace: 'taken', ownerReferences: [reference] },
      spec: { schedulingPolicy: { gang: { minCount: 1 } } },
    }
    await plane.kubectl(['create', '-f', '-'], { stdin: theirs, as: 'kubernetes-admin', asGroups: IN_NEED })
    await create(members(2, { namespace: 'taken', group: 'train' }))
    await eventually('the pods are told whose it is', async () => {
      const told = (await reasonsIn('taken', 'train-0')).find(({ reason }) => reason === 'LiftBlocked')
      return told?.message?.includes('belongs to ConfigMap theirs')
    })
    expect((await pods('taken')).every(isGated)).toBe(true)
    expect(await minCount('taken')).toBe(1)
    await plane.kubectl(['delete', 'podgroups.scheduling.k8s.io', theirs.metadata.name, '-n', 'taken', '--wait=false'])
    const noProtection = JSON.stringify({ metadata: { finalizers: null } })
    await plane.kubectl([
      ...[
        'patch',
        'podgroups.scheduling.k8s.io',
        theirs.metadata.name,
        '-n',
        'taken',
        '--type=merge',
        '-p',
        noProtection,
      ],
    ])
    await allRun('taken', 2)
    await removed('taken')
  })

  it('places by the PodGroup that its author has made, and makes none', async () => {
    await plane.createNamespace('own')
    const own = {
      apiVersion: 'scheduling.k8s.io/v1beta1',
      kind: 'PodGroup',
      metadata: { name: 'mine', namespace: 'own' },
      spec: { schedulingPolicy: { gang: { minCount: 2 } } },
    }
    const withOwn = members(2, { namespace: 'own', group: 'train' }).map(pod => ({
      ...pod,
      spec: { ...(pod as Pod).spec, schedulingGroup: { podGroupName: 'mine' } },
    }))
    await create([own, ...withOwn])
    await allRun('own', 2)
    expect((await podGroups('own')).map(({ metadata }) => metadata.name)).toEqual(['mine'])
    expect(await workloads('own')).toEqual([])
    await removed('own')
  })

  it('strands nobody when the backend is switched off', async () => {
    await plane.createNamespace('off')
    await create(members(2, { namespace: 'off', group: 'train', queue: 'closed' }))
    expect((await pods('off')).map(({ spec }) => spec.schedulingGroup?.podGroupName)).toEqual([
      podGroupNameFor('off', 'train'),
      podGroupNameFor('off', 'train'),
    ])
    await muster.stop()
    const off = await Muster.install(plane, { coScheduling: { backend: 'none' } })
    try {
      await allRun('off', 2)
      await create(members(2, { namespace: 'off', group: 'later' }))
      await allRun('off', 4)
      const later = (await pods('off')).filter(({ metadata }) => metadata.name?.startsWith('later'))
      expect(later.map(({ spec }) => spec.schedulingGroup)).toEqual([undefined, undefined])
    } finally {
      await off.stop()
      muster = await Muster.install(plane, CONFIG)
    }
    await removed('off')
  })
})
