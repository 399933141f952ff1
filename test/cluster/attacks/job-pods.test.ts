import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MANAGED, PODSET_LABEL, QUEUE_NAME } from '../../../src/kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../../src/kube/vocabulary/objects.ts'
import { queuedJob } from '../support/manifests.ts'
import { eventually } from '../support/wait.ts'
import { ADMIN, Battlefield, IN_NEED, OWNER, patch, RED, ROOT, strategic } from './support.ts'

const ONE_POD = 'one-pod'
const UID = 'batch.kubernetes.io/controller-uid'
const STATUS = '--subresource=status'

let field: Battlefield
/** The pod of the Job that has the only place of its queue. */
let victim: Pod

beforeAll(async () => {
  field = await Battlefield.open('job-pods', { queues: [{ name: ONE_POD, limits: { pods: 1 } }] })
  victim = await podOf('runs', { queue: ONE_POD })
  await create(queuedJob({ namespace: RED, name: 'next', queue: ONE_POD }))
})

afterAll(async () => {
  await field?.close()
})

const create = (object: object) => field.passes(ADMIN, ['create', '-f', '-'], object)
const podsOf = async (job: string): Promise<readonly Pod[]> =>
  (await field.plane.kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', RED, '-l', `job-name=${job}`])).items
const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? ''

/** Of a Job that Muster has started. */
async function podOf(
  job: string,
  options: Partial<Parameters<typeof queuedJob>[0]> = {},
  phase = 'Running',
  spec: object = {},
): Promise<Pod> {
  const object = queuedJob({ namespace: RED, name: job, queue: 'team-a', ...options }) as {
    spec: { template: { spec: object } }
  }
  Object.assign(object.spec.template.spec, spec)
  await create(object)
  return await eventually(`${job} has a pod that is ${phase}`, async () => {
    return (await podsOf(job)).find(({ status }) => status?.phase === phase)
  })
}

describe('the pod of a queued Job', () => {
  it('carries the mark by which it is known, and no other', () => {
    expect(victim.metadata.labels).toMatchObject({ [PODSET_LABEL]: 'main' })
    expect(victim.metadata.labels).not.toHaveProperty([MANAGED])
  })

  it.each([
    ['an end that is none', { status: { phase: 'Succeeded' } }, [STATUS], 'muster-pod-status'],
    [
      'an end of its containers that is none',
      { status: { containerStatuses: [{ name: 'main', state: { terminated: { exitCode: 0 } } }] } },
      [STATUS],
      /muster-pod-status|is invalid/,
    ],
    ['no uid of its Job', { metadata: { labels: { [UID]: null } } }, [], 'muster-job-pods'],
    ['the uid of another Job', { metadata: { labels: { [UID]: 'another' } } }, [], 'muster-job-pods'],
    ['no uid, through its status', { metadata: { labels: { [UID]: null } } }, [STATUS], 'muster-job-pods'],
    ['no old uid', { metadata: { labels: { 'controller-uid': null } } }, [], 'muster-job-pods'],
    [
      'no names of its Job',
      { metadata: { labels: { 'batch.kubernetes.io/job-name': null, 'job-name': null } } },
      [],
      'muster-job-pods',
    ],
    ['no owner', { metadata: { ownerReferences: null } }, [], 'muster-job-pods'],
    ['no mark', { metadata: { labels: { [PODSET_LABEL]: null } } }, [], 'muster-job-pods'],
    [
      'no mark, and an end in the same breath',
      { metadata: { labels: { [PODSET_LABEL]: null } }, status: { phase: 'Failed' } },
      [STATUS],
      /muster-(job-pods|pod-status)/,
    ],
    ['no marks at all, in one write', { metadata: { labels: null, ownerReferences: null } }, [], 'muster-job-pods'],
  ])('cannot be left with %s', async (_, change, more, by) => {
    for (const user of [ADMIN, OWNER, ROOT]) {
      const text = await field.refused(user, patch('pod', nameOf(victim), change, ...more))
      expect(text).toMatch(by)
    }
  })

  it('is not given another controller', async () => {
    const [owner] = victim.metadata.ownerReferences ?? []
    for (const other of [
      { ...owner, controller: false },
      { ...owner, uid: '00000000-0000-0000-0000-000000000000' },
      { ...owner, kind: 'ReplicaSet', apiVersion: 'apps/v1' },
    ]) {
      const change = { metadata: { ownerReferences: [other] } }
      expect(await field.refused(OWNER, patch('pod', nameOf(victim), change))).toContain('muster-job-pods')
    }
  })

  it('has its Job counted once after all of that', async () => {
    expect((await podsOf('runs')).map(nameOf)).toEqual([nameOf(victim)])
    expect(await podsOf('next')).toEqual([])
    expect((await field.get<KubeObject & { spec: { suspend?: boolean } }>('next', 'job')).spec.suspend).toBe(true)
  })

  it('does not grow, and may shrink', async () => {
    // On no node: the nodes of this plane resize nothing.
    const name = nameOf(await podOf('grows', {}, 'Pending', { schedulerName: 'nobody' }))
    const size = (cpu: string): readonly string[] => [
      ...strategic('pod', name, { spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] } }),
      '--subresource=resize',
    ]
    expect(await field.refused(OWNER, size('2'))).toContain('has 100m cpu of its queue and would use 2')
    await field.passes(OWNER, size('50m'))
    expect((await field.get(name)).spec.containers?.[0]?.resources?.requests?.cpu).toBe('50m')
  })

  it('does not pass for one that is queued itself, also by a template that is changed while its Job waits', async () => {
    const label = { spec: { template: { metadata: { labels: { [MANAGED]: 'true' } } } } }
    await create(queuedJob({ namespace: RED, name: 'poses', queue: ONE_POD }))
    await field.passes(ADMIN, patch('job', 'poses', label))
    await field.passes(ADMIN, patch('job', 'poses', { metadata: { labels: { [QUEUE_NAME]: 'team-a' } } }))
    const refusal = await eventually('the Job controller is told why it gets no pods', async () => {
      const events = ['get', 'events', '-n', RED, '--field-selector', 'involvedObject.name=poses,reason=FailedCreate']
      const { items } = await field.plane.kubectl.json<{ items: { message: string }[] }>(events)
      return items[0]?.message
    })
    expect(refusal).toContain('is set by Muster on the pods that it queues')
    expect(await podsOf('poses')).toEqual([])
  })

  it('is not taken from its Job by a Binding', async () => {
    const name = nameOf(await podOf('bound', {}, 'Pending', { schedulerName: 'nobody' }))
    const target = { apiVersion: 'v1', kind: 'Node', name: 'node-0' }
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target }
    const forged = { ...binding, metadata: { name, labels: { [UID]: 'another' } } }
    const raw = ['create', '--raw', `/api/v1/namespaces/${RED}/pods/${name}/binding`, '-f', '-']
    expect(await field.refused(OWNER, raw, forged)).toContain('muster-job-bindings')
    await field.passes(OWNER, raw, binding)
    expect((await field.get(name)).spec.nodeName).toBe('node-0')
  })

  describe('but', () => {
    it('people label and annotate it, also through its status, and write conditions of their own', async () => {
      const metadata = { labels: { 'example.com/team': 'a' }, annotations: { 'example.com/why': 'because' } }
      await field.passes(ADMIN, patch('pod', nameOf(victim), { metadata }))
      await field.passes(
        ADMIN,
        patch('pod', nameOf(victim), { metadata: { labels: { 'example.com/team': 'b' } } }, STATUS),
      )
      const conditions = [{ type: 'example.com/warm', status: 'True' }]
      await field.passes(ADMIN, strategic('pod', nameOf(victim), { status: { conditions } }, STATUS))
      const pod = await field.get(nameOf(victim))
      expect(pod.metadata.labels).toMatchObject({ 'example.com/team': 'b' })
    })

    it('its finalizers are free, and an owner that controls nothing may come', async () => {
      const pod = await podOf('frees')
      await field.passes(OWNER, ['create', 'configmap', 'of-mine'])
      const { uid } = (await field.get<KubeObject>('of-mine', 'configmap')).metadata
      const more = { apiVersion: 'v1', kind: 'ConfigMap', name: 'of-mine', uid }
      const ownerReferences = [...(pod.metadata.ownerReferences ?? []), more]
      await field.passes(OWNER, patch('pod', nameOf(pod), { metadata: { ownerReferences } }))
      await field.passes(OWNER, patch('pod', nameOf(pod), { metadata: { finalizers: ['example.com/keep'] } }))
      await field.passes(OWNER, patch('pod', nameOf(pod), { metadata: { finalizers: null } }))
      await field.passes(OWNER, ['delete', 'pod', nameOf(pod), '--wait=false'])
      await field.isGone(nameOf(pod))
    })

    it("it ends where it runs, and then it is anybody's", async () => {
      const name = nameOf(await podOf('ends', { outcome: 'succeed' }, 'Succeeded'))
      await field.plane.kubectl(['wait', 'job/ends', '-n', RED, '--for=condition=Complete', '--timeout=30s'])
      await field.passes(ADMIN, patch('pod', name, { metadata: { labels: { [UID]: null, [PODSET_LABEL]: null } } }))
    })

    it('the garbage collector lets it go when its Job is deleted without it, and what is left keeps its labels', async () => {
      const name = nameOf(await podOf('orphans'))
      await field.passes(ADMIN, ['delete', 'job', 'orphans', '--cascade=orphan'])
      await eventually('the pod has no owner', async () => {
        const { metadata } = await field.get(name)
        return (metadata.ownerReferences ?? []).length === 0
      })
      const off = patch('pod', name, { metadata: { labels: { [UID]: null } } })
      expect(await field.refused(ADMIN, off)).toContain('muster-job-pods')
      await field.passes(ADMIN, ['delete', 'pod', name, '--wait=false'])
      await field.isGone(name)
    })

    it('the Job controller makes another when it is deleted', async () => {
      const first = await podOf('again')
      await field.passes(ADMIN, ['delete', 'pod', nameOf(first), '--wait=false'])
      await eventually('another runs', async () =>
        (await podsOf('again')).some(
          ({ metadata, status }) => metadata.uid !== first.metadata.uid && status?.phase === 'Running',
        ),
      )
    })

    it("the pods of Jobs in no queue are nobody's affair here", async () => {
      await create(queuedJob({ namespace: RED, name: 'plain' }))
      const pod = await eventually('plain has a pod', async () => (await podsOf('plain'))[0])
      await field.passes(ADMIN, patch('pod', nameOf(pod), { metadata: { labels: { [UID]: null } } }))
    })

    it('who breaks the glass takes it off', async () => {
      const name = nameOf(await podOf('stuck'))
      await field.passes(IN_NEED, patch('pod', name, { metadata: { labels: { [PODSET_LABEL]: null } } }))
      await field.passes(IN_NEED, patch('pod', name, { metadata: { labels: { [UID]: null } } }))
    })
  })

  describe('with Muster away', () => {
    beforeAll(async () => {
      await field.muster.stop()
    })

    it.each([
      ['keeps the labels of its Job', { metadata: { labels: { [UID]: null } } }, []],
      ['keeps its controller', { metadata: { ownerReferences: null } }, []],
      ['keeps its mark', { metadata: { labels: { [PODSET_LABEL]: null } } }, []],
      ['is ended by nobody else', { status: { phase: 'Failed' } }, [STATUS]],
    ])('%s', async (_, change, more) => {
      const text = await field.refused(OWNER, patch('pod', nameOf(victim), change, ...more))
      expect(text).toMatch(/muster-(job-pods|pod-status)/)
    })

    it('is labelled, deleted and made anew', async () => {
      await field.passes(ADMIN, patch('pod', nameOf(victim), { metadata: { labels: { 'example.com/team': 'c' } } }))
      await field.passes(ADMIN, ['delete', 'pod', nameOf(victim), '--wait=false'])
      await field.isGone(nameOf(victim))
      await eventually('another runs', async () => (await podsOf('runs')).some(pod => pod.status?.phase === 'Running'))
    })
  })
})
