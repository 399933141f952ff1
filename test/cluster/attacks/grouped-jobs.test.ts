import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GROUPED, ROOT_GROUP, SCHEDULING } from '../../../src/kube/vocabulary/names.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { POD_GROUPS_CHANGE } from '../support/versions.ts'
import { eventually } from '../support/wait.ts'
import { ADMIN, Battlefield, IN_NEED, OWNER, patch, RED, ROOT } from './support.ts'

interface Job extends KubeObject {
  readonly spec: { readonly template: { readonly spec: { readonly schedulingGroup?: { podGroupName: string } } } }
}

const GANG = JSON.stringify({ schedulingPolicy: { gang: {} } })
const WRITTEN = 'is written by Muster'
const OF_A_JOB = 'this PodGroup is of a Job that Muster has grouped'

/** Whoever could write the marks would have Muster write objects for him; who could take them away, strand pods. */
describe('the marks of a Job that Muster groups', () => {
  let field: Battlefield

  beforeAll(async () => {
    field = await Battlefield.open('grouped-jobs', {}, 'all')
    await field.passes(ADMIN, ['create', '-f', '-'], job('train', { annotations: { [SCHEDULING]: GANG } }))
  })

  afterAll(async () => {
    await field?.close()
  })

  // There is no such node: its pods wait for the scheduler.
  const job = (name: string, metadata: object, podSpec: object = {}) => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: RED, ...metadata },
    spec: {
      ...{ parallelism: 2, completions: 2 },
      template: {
        spec: {
          ...{ restartPolicy: 'Never', nodeSelector: { room: 'none' }, ...podSpec },
          containers: [{ name: 'main', image: 'registry.example/none:1' }],
        },
      },
    },
  })
  const changed = (metadata: object, ...more: string[]) => patch('job', 'train', { metadata }).concat(more)
  const groupsOf = async (name: string) => {
    const { metadata } = await field.get<Job>(name, 'job')
    const found = await field.plane.kubectl.json<{ items: KubeObject[] }>([
      'get',
      'podgroups.scheduling.k8s.io',
      '-n',
      RED,
    ])
    return found.items
      .filter(({ metadata: { ownerReferences } }) => ownerReferences?.some(({ uid }) => uid === metadata.uid))
      .map(group => group.metadata.name)
  }

  it('nobody has a group made under a name that he chooses', async () => {
    const forged = { schedulingGroup: { podGroupName: 'of-somebody-else' } }
    const labels = { [GROUPED]: 'true' }
    const metadata = { labels, annotations: { [SCHEDULING]: GANG } }
    await field.passes(OWNER, ['create', '-f', '-'], job('chooser', metadata, forged))
    const { spec } = await field.get<Job>('chooser', 'job')
    expect(spec.template.spec.schedulingGroup?.podGroupName).toMatch(/^chooser-muster-[0-9a-f]{10}$/)
    await eventually('its group has the name that everybody gets', async () => {
      expect(await groupsOf('chooser')).toEqual([spec.template.spec.schedulingGroup?.podGroupName])
      return true
    })
    // Who says nothing of scheduling has nothing to mark.
    expect(await field.refused(OWNER, ['create', '-f', '-'], job('bare', { labels }, forged))).toContain(WRITTEN)
  })

  it('nobody joins the gang of a Job by copying it', async () => {
    const first = job('', { name: undefined, generateName: 'copied-', annotations: { [SCHEDULING]: GANG } })
    const create = ['create', '-f', '-', '-o', 'json']
    const { metadata, spec } = JSON.parse(await field.passes(OWNER, create, first)) as Job
    const group = spec.template.spec.schedulingGroup
    const { labels, annotations } = metadata
    const copy = job('', { name: undefined, generateName: 'copied-', labels, annotations }, { schedulingGroup: group })
    const copied = JSON.parse(await field.passes(OWNER, create, copy)) as Job
    expect(copied.spec.template.spec.schedulingGroup?.podGroupName).toMatch(/^copied-muster-[0-9a-f]{10}$/)
    expect(copied.spec.template.spec.schedulingGroup).not.toEqual(group)
  })

  it('nobody fills the gang of a Job with pods of his own, nor with those of another Job', async () => {
    const { spec } = await field.get<Job>('train', 'job')
    const { schedulingGroup } = spec.template.spec
    expect(schedulingGroup?.podGroupName).toMatch(/^train-muster-[0-9a-f]{10}$/)
    const pod = (name: string, metadata: object = {}) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: RED, ...metadata },
      spec: { containers: [{ name: 'main', image: 'registry.example/none:1' }], schedulingGroup },
    })
    const { metadata } = await field.get<Job>('train', 'job')
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: metadata.uid, controller: true }
    for (const user of [OWNER, ADMIN, ROOT]) {
      expect(await field.refused(user, ['create', '-f', '-'], pod('alone'))).toContain(OF_A_JOB)
      const claimed = pod('claimed', { ownerReferences: [owner] })
      expect(await field.refused(user, ['create', '-f', '-'], claimed)).toContain(OF_A_JOB)
      const other = job('other', {}, { schedulingGroup })
      expect(await field.refused(user, ['create', '-f', '-'], other)).toContain(OF_A_JOB)
    }
    // With the mark it is judged as any Job that asks for a group, and this one asks for none.
    const marked = job('marked', { labels: { [GROUPED]: 'true' } }, { schedulingGroup })
    expect(await field.refused(OWNER, ['create', '-f', '-'], marked)).toContain(WRITTEN)
    await field.passes(IN_NEED, ['create', '-f', '-'], pod('in-need'))
    // Its own pods come, and those of who has a PodGroup of his own.
    await eventually('the Job has its pods', async () => {
      const of = ['-n', RED, '-l', 'batch.kubernetes.io/job-name=train']
      const { items } = await field.plane.kubectl.json<{ items: unknown[] }>(['get', 'pods', ...of])
      return items.length === 2
    })
    const own = { ...pod('own'), spec: { ...pod('own').spec, schedulingGroup: { podGroupName: 'mine-0123456789' } } }
    await field.passes(OWNER, ['create', '-f', '-'], own)
  })

  it('nobody takes the mark away, or gives it, also not through the status', async () => {
    const removal = { labels: { [GROUPED]: null } }
    for (const user of [ADMIN, OWNER, ROOT]) expect(await field.refused(user, changed(removal))).toContain(WRITTEN)
    expect(await field.refused(OWNER, changed(removal, '--subresource=status'))).toContain(WRITTEN)
    expect(await field.refused(OWNER, changed({ labels: { [GROUPED]: 'false' } }))).toContain(WRITTEN)
    await field.passes(OWNER, ['create', '-f', '-'], job('plain', {}))
    const given = patch('job', 'plain', { metadata: { labels: { [GROUPED]: 'true' } } })
    expect(await field.refused(OWNER, given)).toContain(WRITTEN)
    // What has nothing to do with it goes on.
    await field.passes(OWNER, changed({ labels: { team: 'red' } }))
    const shrunk = changed({ annotations: { [SCHEDULING]: '{"schedulingPolicy": {"gang": {"minCount": 1}}}' } })
    if (POD_GROUPS_CHANGE) await field.passes(OWNER, shrunk)
    await field.passes(IN_NEED, changed(removal))
  })

  it('nobody joins the groups of a JobSet by saying so', async () => {
    const annotations = { [ROOT_GROUP]: 'workers' }
    const uid = '00000000-0000-0000-0000-000000000001'
    const owner = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'set', uid, controller: true }
    for (const ownerReferences of [[], [owner]]) {
      const claimed = job('child', { annotations, ownerReferences })
      expect(await field.refused(ROOT, ['create', '-f', '-'], claimed)).toContain(WRITTEN)
    }
  })
})
