import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RESOURCE_IN_USE } from '../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { eventually } from '../support/wait.ts'
import { ADMIN, Battlefield, EDITOR, IN_NEED, OWNER, patch, RED, ROOT, strategic, VIEWER } from './support.ts'

const KIND = 'workloads.muster.dev'
const ONLY = 'only Muster itself (system:serviceaccount:muster-system:muster) may change this'

/** Who holds quota, and how much, is written in Workloads: nobody else writes it. */
describe('a Workload', () => {
  let field: Battlefield
  let waiting: Pod
  let name: string

  beforeAll(async () => {
    field = await Battlefield.open('workloads')
    waiting = await field.waitingPod('waits')
    name = (await field.workloadOf(waiting)).metadata.name ?? ''
    await eventually('it was told to wait', async () => (await workload(name)).status?.conditions?.length)
  })

  afterAll(async () => {
    await field?.close()
  })

  const workload = (of: string) => field.get<QueuedWorkload>(of, KIND)
  const now = new Date().toISOString()
  const saying = (type: string) => ({
    status: { conditions: [{ type, status: 'True', reason: 'Forged', message: '', lastTransitionTime: now }] },
  })

  it.each([
    ['is not admitted by hand', ADMIN, saying('Admitted'), 'status', 'status: Forbidden'],
    ['is not given quota by hand', OWNER, saying('QuotaReserved'), 'status', 'status: Forbidden'],
    ['is not finished by hand', ROOT, saying('Finished'), 'status', 'status: Forbidden'],
    ['does not lose its status', ADMIN, { status: null }, 'status', 'status: Forbidden'],
    ['does not move to another queue', ADMIN, { spec: { queueName: 'team-a' } }, '', 'spec.queueName: Forbidden'],
    ['does not overtake by priority', OWNER, { spec: { priority: 1000 } }, '', 'spec.priority: Forbidden'],
    [
      'does not overtake by its order',
      ADMIN,
      { metadata: { annotations: { 'muster.dev/queue-order': '2000-01-01T00:00:00Z' } } },
      '',
      'metadata.annotations[muster.dev/queue-order]: Forbidden',
    ],
    [
      'does not call itself a group',
      ADMIN,
      { metadata: { annotations: { 'kueue.x-k8s.io/is-group-workload': 'true' } } },
      '',
      'metadata.annotations[kueue.x-k8s.io/is-group-workload]: Forbidden',
    ],
    ['does not lose our finalizer', ROOT, { metadata: { finalizers: null } }, '', 'metadata.finalizers: Forbidden'],
    ['is not taken from its pods', OWNER, { metadata: { ownerReferences: null } }, '', 'ownerReferences: Forbidden'],
  ])('%s', async (_, user, change, subresource, text) => {
    const more = subresource === '' ? [] : [`--subresource=${subresource}`]
    const before = await workload(name)
    const said = await field.refused(user, patch(KIND, name, change, ...more))
    expect(said).toContain(text)
    expect(said).toContain(ONLY)
    expect((await workload(name)).metadata.resourceVersion).toBe(before.metadata.resourceVersion)
  })

  it('does not overtake through its status either: that takes no annotations', async () => {
    const early = { metadata: { annotations: { 'muster.dev/queue-order': '2000-01-01T00:00:00Z' } } }
    const { annotations } = (await workload(name)).metadata
    await field.passes(OWNER, patch(KIND, name, early, '--subresource=status'))
    expect((await workload(name)).metadata.annotations).toEqual(annotations)
  })

  it('does not shrink', async () => {
    const podSets = (await workload(name)).spec.podSets.map(podSet => ({ ...podSet, count: 0 }))
    expect(await field.refused(ADMIN, patch(KIND, name, { spec: { podSets } }))).toContain('spec.podSets: Forbidden')
  })

  it('does not ask for less than its pods', async () => {
    const podSets = (await workload(name)).spec.podSets.map(podSet => ({ ...podSet, template: { spec: {} } }))
    expect(await field.refused(OWNER, patch(KIND, name, { spec: { podSets } }))).toContain('spec.podSets: Forbidden')
  })

  it('is made by nobody else, under whatever name', async () => {
    const { spec } = await workload(name)
    const forged = {
      apiVersion: 'muster.dev/v1alpha1',
      kind: 'Workload',
      metadata: { name: 'forged', namespace: RED },
      spec,
    }
    for (const user of [ADMIN, ROOT]) {
      const text = await field.refused(user, ['create', '--validate=false', '-f', '-'], forged)
      expect(text).toContain('spec: Forbidden: a Workload is made for pods that wait in a queue')
    }
  })

  it('does not become so large that nobody can change it any more', async () => {
    const pod = await field.waitingPod('padded')
    const name = (await field.workloadOf(pod)).metadata.name ?? ''
    const many = (count: number, of: (index: number) => string) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [of(index), 'x']))
    for (const change of [
      { labels: many(65, index => `example.com/l-${index}`) },
      { annotations: many(65, index => `example.com/a-${index}`) },
      { finalizers: Array.from({ length: 17 }, (_, index) => `example.com/f-${index}`) },
    ]) {
      const text = await field.refused(OWNER, patch('workload.muster.dev', name, { metadata: change }))
      expect(text).toMatch(/a Workload has at most|goes when the pods have ended/)
    }
    await field.passes(
      OWNER,
      patch('workload.muster.dev', name, { metadata: { labels: many(20, i => `example.com/l-${i}`) } }),
    )
  })

  it('does not become too large by the names under which people apply to it either', async () => {
    const name = (await field.workloadOf(await field.waitingPod('applied'))).metadata.name ?? ''
    const apiVersion = 'muster.dev/v1alpha1'
    const object = { apiVersion, kind: 'Workload', metadata: { name, namespace: RED, labels: { team: 'blue' } } }
    const as = (manager: string) => ['apply', '--server-side', `--field-manager=${manager}`, '-f', '-']
    for (let index = 0; index < 10; index++) await field.passes(EDITOR, as(`manager-${index}`), object)
    for (const manager of ['one-more', 'and-another']) {
      await field.plane.kubectl([...as(manager), '-n', RED], { ...EDITOR, stdin: object }).catch(() => undefined)
    }
    expect(await field.refused(EDITOR, as('too-many'), object)).toContain('at most 12 names')
    await field.passes(EDITOR, as('manager-0'), {
      ...object,
      metadata: { ...object.metadata, labels: { team: 'blue', a: 'b' } },
    })
  })

  it('keeps no quota when it is deleted and somebody else keeps it', async () => {
    const pod = await field.runningPod('kept')
    const { metadata } = await field.workloadOf(pod)
    const finalizers = [...(metadata.finalizers ?? []), 'example.com/mine']
    await field.passes(OWNER, patch('workload.muster.dev', metadata.name ?? '', { metadata: { finalizers } }))
    await field.passes(OWNER, ['delete', 'pod', 'kept', '--wait=false'])
    await eventually('it has finished', async () => {
      const { status } = await field.get<QueuedWorkload>(metadata.name ?? '', 'workload.muster.dev')
      return status?.conditions?.some(({ type, status }) => type === 'Finished' && status === 'True')
    })
    await field.passes(OWNER, patch('workload.muster.dev', metadata.name ?? '', { metadata: { finalizers: null } }))
    await field.isGone(metadata.name ?? '', 'workload.muster.dev')
  })

  describe('but', () => {
    it('who views the namespace sees it, and no more', async () => {
      expect(await field.passes(VIEWER, ['get', KIND, '-o', 'name'])).toContain(name)
      const mayDelete = ['auth', 'can-i', 'delete', KIND, '-n', RED]
      const { stdout } = await field.plane.kubectl(mayDelete, { ...VIEWER, expectFailure: true })
      expect(stdout.trim()).toBe('no')
    })

    it('who edits the namespace switches it off and on', async () => {
      for (const active of [false, true]) {
        await field.passes(EDITOR, patch(KIND, name, { spec: { active } }))
        expect((await workload(name)).spec.active).toBe(active)
      }
    })

    it('labels, annotations and finalizers of others are theirs', async () => {
      await field.passes(EDITOR, ['label', KIND, name, 'team=blue'])
      await field.passes(EDITOR, ['annotate', KIND, name, 'note=hello'])
      const finalizers = (held: readonly string[]) => patch(KIND, name, { metadata: { finalizers: held } })
      await field.passes(EDITOR, finalizers([RESOURCE_IN_USE, 'example.com/held']))
      await field.passes(EDITOR, finalizers([RESOURCE_IN_USE]))
    })

    it('who edits the namespace deletes it, and Muster makes another while the pod waits', async () => {
      const { uid } = (await workload(name)).metadata
      await field.passes(EDITOR, ['delete', KIND, name, '--wait=false'])
      await eventually('there is another', async () => (await workload(name)).metadata.uid !== uid)
    })

    it('a pod that is deleted with --cascade=orphan goes', async () => {
      const pod = await field.waitingPod('orphaning')
      await field.workloadOf(pod)
      await field.passes(ADMIN, ['delete', 'pod', 'orphaning', '--cascade=orphan', '--wait=false'])
      await field.isGone('orphaning')
    })

    it('who breaks the glass changes what he must', async () => {
      const pod = await field.waitingPod('broken')
      const of = (await field.workloadOf(pod)).metadata.name ?? ''
      await field.passes(IN_NEED, patch(KIND, of, saying('Finished'), '--subresource=status'))
      const used = (await field.plane.audit()).find(
        ({ objectRef, impersonatedUser }) => objectRef?.name === of && impersonatedUser?.username === IN_NEED.as,
      )
      expect(used?.annotations).toMatchObject({ 'muster-break-glass/used-by': 'root' })
    })
  })

  it('leaves the ownership of its pod to the pod', async () => {
    // The gate of a queued pod stays the affair of the pod's own guard.
    const gates = { spec: { schedulingGates: [{ $patch: 'delete', name: 'kueue.x-k8s.io/admission' }] } }
    expect(await field.refused(ADMIN, strategic('pod', 'waits', gates))).toContain('spec.schedulingGates: Forbidden')
  })
})
