import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMISSION_GATE, MANAGED, QUEUE_NAME, ROLE_HASH } from '../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../src/kube/vocabulary/objects.ts'
import type { QueuedWorkload } from '../../src/workload/queued-workload.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { queuedPod } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

const NAMESPACE = 'ml'
const ADA = { as: 'ada', asGroups: ['ml-engineers'] }
const GRACE = { as: 'grace', asGroups: ['platform-admins'] }
const SELF = 'system:serviceaccount:muster-system:muster'

describe('pod admission, as people see it', () => {
  let plane: ControlPlane
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'admission', featureGates: 'none' })
    await plane.createNamespace(NAMESPACE)
    muster = await Muster.install(plane, {
      queues: [{ name: 'closed', limits: { pods: 0 } }],
      guard: { exemptGroups: ['platform-admins'] },
    })
    // Both may do with pods whatever they like, as far as RBAC is concerned.
    for (const group of ['ml-engineers', 'platform-admins']) {
      await plane.kubectl(['create', 'clusterrolebinding', group, '--clusterrole=cluster-admin', `--group=${group}`])
    }
    await eventually('Ada may create pods', async () => {
      const { stdout } = await plane.kubectl(['auth', 'can-i', 'create', 'pods', '-n', NAMESPACE], ADA)
      return stdout.trim() === 'yes'
    })
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  const create = (object: object, options = {}) =>
    plane.kubectl.json<Pod>(['create', '-f', '-'], { stdin: object, ...ADA, ...options })
  const denied = async (args: readonly string[], options: object = {}) => {
    const { stderr } = await plane.kubectl([...args, '-n', NAMESPACE], { ...ADA, expectFailure: true, ...options })
    return stderr.trim()
  }
  const pod = (name: string) => plane.kubectl.json<Pod>(['get', 'pod', name, '-n', NAMESPACE])
  const isGone = (kind: string, name: string) =>
    eventually(`${kind} ${name} is gone`, async () => {
      const { stdout } = await plane.kubectl(['get', kind, name, '-n', NAMESPACE, '--ignore-not-found', '-o', 'name'])
      return stdout === ''
    })
  const waiting = (name: string, more: object = {}) => {
    const base = queuedPod({ namespace: NAMESPACE, name, queue: 'closed' }) as Pod
    return { ...base, metadata: { ...base.metadata, ...more } }
  }

  describe('what is wrong is said in the terminal, with the field and the remedy', () => {
    it('a group without a size', async () => {
      const object = waiting('no-size', { labels: { [QUEUE_NAME]: 'closed', 'kueue.x-k8s.io/pod-group-name': 'g' } })
      expect(await denied(['create', '-f', '-'], { stdin: object })).toBe(
        `The Pod "no-size" is invalid: metadata.annotations[kueue.x-k8s.io/pod-group-total-count]: Required value: both the 'kueue.x-k8s.io/pod-group-total-count' annotation and the 'kueue.x-k8s.io/pod-group-name' label should be set`,
      )
    })

    it('all errors at once', async () => {
      const labels = { [QUEUE_NAME]: 'Team_A', 'kueue.x-k8s.io/pod-group-name': 'g' }
      const annotations = { 'kueue.x-k8s.io/pod-group-total-count': 'ten' }
      const text = await denied(['create', '-f', '-'], { stdin: waiting('two', { labels, annotations }) })
      expect(text).toContain('metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: "Team_A"')
      expect(text).toContain('parsing "ten": invalid syntax; write the number of pods in the group, as "3"')
    })

    it('a node that was chosen beforehand', async () => {
      const object = waiting('pinned') as Pod
      const text = await denied(['create', '-f', '-'], {
        stdin: { ...object, spec: { ...object.spec, nodeName: 'node-1' } },
      })
      expect(text).toContain(
        'Error from server (Forbidden): error when creating "STDIN": admission webhook "pods.muster.dev" denied the request: spec.nodeName: Forbidden',
      )
      expect(text).toContain('choose the node with spec.nodeSelector {kubernetes.io/hostname: node-1}')
    })

    it('a forged role', async () => {
      const object = waiting('forged', { annotations: { [ROLE_HASH]: 'abcdef01' } })
      expect(await denied(['create', '-f', '-'], { stdin: object })).toContain(
        'remove the annotation: Muster computes it',
      )
    })
  })

  describe('the guard', () => {
    beforeAll(async () => {
      await create(waiting('guarded'))
    })

    const strategic = (patch: object) => ['patch', 'pod', 'guarded', '-p', JSON.stringify(patch)]
    const WHO = `only Muster itself (${SELF}) and members of platform-admins may change this`

    it.each([
      ['the gate', { spec: { schedulingGates: [{ $patch: 'delete', name: ADMISSION_GATE }] } }, 'spec.schedulingGates'],
      ['the managed label', { metadata: { labels: { [MANAGED]: null } } }, `metadata.labels[${MANAGED}]`],
      ['the finalizer', { metadata: { '$deleteFromPrimitiveList/finalizers': [MANAGED] } }, 'metadata.finalizers'],
    ])('does not let a user take %s away, and says who may', async (_what, patch, field) => {
      const text = await denied(strategic(patch))
      expect(text).toContain(`${field}: Forbidden`)
      expect(text).toContain(WHO)
    })

    it('does not let the administrator of the cluster do it either, unless the configuration says so', async () => {
      const patch = { spec: { schedulingGates: [{ $patch: 'delete', name: ADMISSION_GATE }] } }
      expect(await denied(strategic(patch), { as: undefined, asGroups: undefined })).toContain(WHO)
    })

    it('does not let a status update do what an update may not', async () => {
      const text = await denied([
        'patch',
        'pod',
        'guarded',
        '--subresource=status',
        '--type=merge',
        '-p',
        JSON.stringify({ metadata: { labels: { [MANAGED]: null } } }),
      ])
      expect(text).toContain(WHO)
    })

    it('stops kubectl edit from lifting the gate', async () => {
      const editor = join(plane.folder, 'editor.sh')
      writeFileSync(editor, `#!/bin/sh\nsed -i '/schedulingGates/d;/name: kueue.x-k8s.io.admission/d' "$1"\n`, {
        mode: 0o755,
      })
      const text = await denied(['edit', 'pod', 'guarded'], { env: { KUBE_EDITOR: editor } })
      expect(text).toContain('is lifted when the pod is admitted')
      expect((await pod('guarded')).spec.schedulingGates).toEqual([{ name: ADMISSION_GATE }])
    })

    it('does not let a pod grow while it waits', async () => {
      const resize = { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '2' } } }] } }
      const text = await denied(['patch', 'pod', 'guarded', '--subresource=resize', '-p', JSON.stringify(resize)])
      expect(text).toContain('a pod that waits for admission keeps the size it asked for')
    })

    it('lets users do everything that is theirs', async () => {
      await plane.kubectl(['label', 'pod', 'guarded', '-n', NAMESPACE, 'team=blue'], ADA)
      await plane.kubectl(['annotate', 'pod', 'guarded', '-n', NAMESPACE, 'note=hello'], ADA)
    })

    it('lets an exempt administrator lift the gate', async () => {
      await create(waiting('waved-through'))
      const patch = JSON.stringify({ spec: { schedulingGates: [{ $patch: 'delete', name: ADMISSION_GATE }] } })
      await plane.kubectl(['patch', 'pod', 'waved-through', '-n', NAMESPACE, '-p', patch], GRACE)
      await eventually('it runs', async () => (await pod('waved-through')).status?.phase === 'Running')
      const move = JSON.stringify({ metadata: { labels: { [QUEUE_NAME]: 'other' } } })
      expect(await denied(['patch', 'pod', 'waved-through', '-p', move])).toContain('queue-name')
      await plane.kubectl(['delete', 'pod', 'waved-through', '-n', NAMESPACE, '--wait=false'], ADA)
      await isGone('pod', 'waved-through')
    })
  })

  it('gates the same pod by server-side apply, and applying it again changes nothing', async () => {
    const apply = ['apply', '--server-side', '-f', '-']
    await plane.kubectl(apply, { stdin: waiting('applied'), ...ADA })
    const first = await pod('applied')
    expect(first.spec.schedulingGates).toEqual([{ name: ADMISSION_GATE }])
    await plane.kubectl(apply, { stdin: waiting('applied'), ...ADA })
    expect((await pod('applied')).metadata.resourceVersion).toBe(first.metadata.resourceVersion)
  })

  it('shows in a dry run what would be created, and creates nothing', async () => {
    const dry = await plane.kubectl.json<Pod>(['create', '-f', '-', '--dry-run=server'], {
      stdin: waiting('dry'),
      ...ADA,
    })
    expect(dry.spec.schedulingGates).toEqual([{ name: ADMISSION_GATE }])
    await isGone('pod', 'dry')
  })

  it('leaves the pods of a Job alone that waits in a queue of its own, and lets the Job be deleted', async () => {
    const labels = { [QUEUE_NAME]: 'team-a' }
    const template = { metadata: { labels }, spec: (waiting('x') as Pod).spec }
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'owner', namespace: NAMESPACE, labels },
      spec: { template },
    }
    await create(job)
    const owned = await eventually('the Job has a pod', async () => {
      const { items } = await plane.kubectl.json<{ items: Pod[] }>([
        'get',
        'pods',
        '-n',
        NAMESPACE,
        '-l',
        'job-name=owner',
      ])
      return items[0]
    })
    expect(owned.spec.schedulingGates ?? []).toEqual([])
    await plane.kubectl(['delete', 'job', 'owner', '-n', NAMESPACE], ADA)
    await isGone('pod', owned.metadata.name ?? '')
  })

  it('does not hinder kubelets, drains and ephemeral containers', async () => {
    await create(queuedPod({ namespace: NAMESPACE, name: 'busy' }))
    const running = await eventually('it runs', async () => {
      const current = await pod('busy')
      return current.status?.phase === 'Running' ? current : undefined
    })
    await plane.kubectl(
      ['debug', 'busy', '-n', NAMESPACE, '--image=registry.example/none:1', '--container=dbg', '--attach=false'],
      ADA,
    )
    const node = running.spec.nodeName ?? ''
    await plane.kubectl([
      'drain',
      node,
      '--force',
      '--ignore-daemonsets',
      '--delete-emptydir-data',
      '--pod-selector=kueue.x-k8s.io/managed=true',
      '--timeout=30s',
    ])
    await isGone('pod', 'busy')
    await plane.kubectl(['uncordon', node])
  })

  it('lets a namespace with waiting pods be deleted', async () => {
    await plane.createNamespace('doomed')
    for (const name of ['a', 'b', 'c']) {
      await create({ ...queuedPod({ namespace: 'doomed', name, queue: 'closed' }) })
    }
    await plane.kubectl(['delete', 'namespace', 'doomed', '--timeout=60s'])
  })

  it('runs the four stories of KEP-976 as the examples have them', async () => {
    await plane.createNamespace('stories')
    const apply = (file: string) => plane.kubectl(['create', '-n', 'stories', '-f', `examples/${file}`], ADA)
    const phases = async () => {
      const { items } = await plane.kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', 'stories'])
      return Object.fromEntries(items.map(({ metadata, status }) => [metadata.name, status?.phase]))
    }
    const podSets = async (name: string) => {
      const workload = await plane.kubectl.json<QueuedWorkload>(['get', 'workloads.muster.dev', name, '-n', 'stories'])
      return workload.spec.podSets.map(set => `${set.name}=${set.count}`)
    }
    for (const file of ['story-1-single-pod.yaml', 'story-2-group.yaml', 'story-3-roles.yaml', 'story-4-driver.yaml']) {
      await apply(file)
    }
    await eventually('everything that exists runs', async () => {
      const seen = await phases()
      expect(Object.keys(seen)).toHaveLength(8)
      expect(new Set(Object.values(seen))).toEqual(new Set(['Running']))
      return true
    })
    expect(await podSets('same-shape')).toHaveLength(1)
    expect(await podSets('roles')).toEqual(['driver=1', 'worker=2'])
    expect(await podSets('spark')).toEqual(['driver=1', 'worker=2'])
    await apply('story-4-workers.yaml')
    await eventually('the workers run too', async () => {
      const seen = await phases()
      expect([seen['spark-worker-0'], seen['spark-worker-1']]).toEqual(['Running', 'Running'])
      return true
    })
    await plane.kubectl(['delete', 'namespace', 'stories', '--timeout=60s'])
  })

  it('says in the readiness detail that the installed configuration and its own agree', async () => {
    expect((await muster.health('/readyz')).body).toContain('[+]webhook-coverage ok\n')
  })
})
