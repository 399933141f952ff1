import { describe, expect, it } from 'vitest'
import { kubernetesCoScheduler } from '../../../../src/coscheduling/kubernetes/co-scheduler.ts'
import { compositeName } from '../../../../src/coscheduling/kubernetes/objects.ts'
import { GROUP_COUNT, PODSET_GROUP, REQUIRED_TOPOLOGY } from '../../../../src/kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { member } from '../../reconciler/decide/fixtures.ts'
import {
  DRIVER,
  decided,
  driver,
  kinds,
  known,
  NAME,
  named,
  OWNER,
  ofDriver,
  served,
  wanted,
  worker,
} from './fixtures.ts'

const COMPOSITES = served('v1beta1', true)
const ROOT = compositeName(NAME)

const withName = (object: KubeObject, name: string): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, name },
})
const composite = (owner: object = OWNER) => withName(known('CompositePodGroup', {}, owner), ROOT)
const leaf = (name: string, more: object = {}) => ({ name, schedulingPolicy: { basic: {} }, ...more })
const workload = (root: object = {}) =>
  known('Workload', {
    spec: {
      compositePodGroupTemplates: [
        { ...leaf('group', root), podGroupTemplates: [leaf('role-driver', root), leaf('pods', root)] },
      ],
    },
  })
const under = (object: KubeObject): KubeObject =>
  ({ ...object, spec: { schedulingPolicy: { basic: {} }, parentCompositePodGroupName: ROOT } }) as KubeObject
const running = driver({}, { gates: [], phase: 'Running', nodeName: 'n' })
const decide = (pods: readonly Pod[], objects: readonly KubeObject[], serves = COMPOSITES, first = driver()) =>
  decided(pods, objects, serves, [first])
const withClass = (pod: Pod, priorityClassName: string): Pod => ({ ...pod, spec: { ...pod.spec, priorityClassName } })

describe('where groups of groups are served, the PodGroups of a driver and its workers', () => {
  it('have their templates under one, which is no gang: the driver starts alone', () => {
    expect(wanted(decide([driver()], [])).spec).toEqual({
      controllerRef: { apiGroup: 'muster.dev', kind: 'Workload', name: 'gang' },
      compositePodGroupTemplates: [
        {
          name: 'group',
          schedulingPolicy: { basic: {} },
          podGroupTemplates: [leaf('role-driver'), leaf('pods')],
        },
      ],
    })
    const promise = { [GROUP_COUNT]: '3' }
    expect(wanted(decide([driver(promise)], [], COMPOSITES, driver(promise))).spec).toMatchObject({
      compositePodGroupTemplates: [
        {
          schedulingPolicy: { basic: {} },
          podGroupTemplates: [
            { schedulingPolicy: { gang: { minCount: 1 } } },
            { name: 'pods', schedulingPolicy: { gang: { minCount: 2 } } },
          ],
        },
      ],
    })
  })

  it('are made after the Workload and the group above them, and then the gate falls', () => {
    expect(kinds(decide([driver()], []))).toEqual(['EnsureObject Workload'])
    const above = decide([driver()], [workload()])
    expect(kinds(above)).toEqual(['EnsureObject CompositePodGroup'])
    expect(wanted(above)).toEqual({
      apiVersion: 'scheduling.k8s.io/v1alpha3',
      kind: 'CompositePodGroup',
      metadata: { name: ROOT, namespace: 'ml', ownerReferences: [OWNER] },
      spec: { workloadRef: { workloadName: NAME, templateName: 'group' }, schedulingPolicy: { basic: {} } },
    })
    const own = decide([driver()], [workload(), composite()])
    expect(kinds(own)).toEqual(['EnsureObject PodGroup'])
    expect(wanted(own)).toMatchObject({
      metadata: { name: DRIVER },
      spec: {
        parentCompositePodGroupName: ROOT,
        workloadRef: { workloadName: NAME, templateName: 'role-driver' },
        schedulingPolicy: { basic: {} },
      },
    })
    expect(kinds(decide([driver()], [workload(), composite(), under(ofDriver)]))).toEqual(['LiftGate'])
  })

  it('join it later, too, and get it back if somebody deletes it', () => {
    const late = decide([running, worker(1)], [workload(), composite(), under(ofDriver)])
    expect(wanted(late)).toMatchObject({ metadata: { name: NAME }, spec: { parentCompositePodGroupName: ROOT } })
    const workers = under(known('PodGroup'))
    const waiting = named({ ...worker(1), spec: { ...worker(1).spec, schedulingGates: [] } })
    expect(kinds(decide([running, waiting], [workload(), under(ofDriver), workers]))).toEqual([
      'EnsureObject CompositePodGroup',
    ])
    // Nobody is to be placed: nothing is needed.
    expect(kinds(decide([running], [workload(), under(ofDriver)]))).toEqual([])
  })

  it('get it back also if the Workload of today knows of none: they are left from an earlier group of the name', () => {
    const flat = known('Workload', { spec: { podGroupTemplates: [leaf('role-driver'), leaf('pods')] } })
    const decision = decide([driver()], [flat, under(ofDriver)])
    expect(wanted(decision)).toMatchObject({
      kind: 'CompositePodGroup',
      metadata: { name: ROOT },
      spec: { schedulingPolicy: { basic: {} } },
    })
    expect(kinds(decide([driver()], [flat, under(ofDriver), composite()]))).toEqual(['LiftGate'])
  })

  it('wait until one of an earlier group of the name is gone, and for their own: nothing keeps that', () => {
    const old = composite({ ...OWNER, uid: 'old' })
    for (const objects of [
      [workload(), old],
      [workload(), old, under(ofDriver)],
    ]) {
      const decision = decide([driver()], objects)
      expect(decision.actions).toEqual([])
      expect(decision.standings).toMatchObject([
        { reason: 'LiftBlocked', note: expect.stringContaining(`CompositePodGroup ${ROOT} is left from an earlier`) },
      ])
    }
  })

  it('never use one that is somebody else’s', () => {
    const theirs = { apiVersion: 'v1', kind: 'ConfigMap', name: 'theirs', uid: 'x', controller: true }
    const decision = decide([driver()], [workload(), composite(theirs)])
    expect(decision.actions).toEqual([])
    expect(decision.standings).toMatchObject([
      { reason: 'LiftBlocked', note: expect.stringContaining(`CompositePodGroup ${ROOT}`) },
    ])
  })

  it('stand side by side where the Workload was made without one, or it is served no more', () => {
    const flat = known('Workload', { spec: { podGroupTemplates: [leaf('role-driver'), leaf('pods')] } })
    const own = wanted(decide([driver()], [flat]))
    expect(own).toMatchObject({ kind: 'PodGroup', metadata: { name: DRIVER } })
    expect(own.spec).not.toHaveProperty('parentCompositePodGroupName')
    const switchedOff = wanted(decide([driver()], [workload()], served('v1beta1')))
    expect(switchedOff.spec).not.toHaveProperty('parentCompositePodGroupName')
    expect(kinds(decide([driver()], [workload(), under(ofDriver)], served('v1beta1')))).toEqual(['LiftGate'])
  })

  it.each(['v1beta1', 'v1alpha2'] as const)('stand side by side on a server that has none (%s)', version => {
    expect(wanted(decide([driver()], [], served(version))).spec).toMatchObject({
      podGroupTemplates: [leaf('role-driver'), leaf('pods')],
    })
  })

  it('stay apart if their priorities differ: the scheduler would look at none of them', () => {
    const high = (pod: Pod) => withClass(pod, 'high')
    const alone = decide([high(driver())], [], COMPOSITES, high(driver()))
    expect(wanted(alone).spec).toMatchObject({
      compositePodGroupTemplates: [
        {
          priorityClassName: 'high',
          podGroupTemplates: [{ priorityClassName: 'high' }, { priorityClassName: 'high' }],
        },
      ],
    })
    const objects = [workload({ priorityClassName: 'high' }), composite(), under(ofDriver)]
    const joined = wanted(decide([high(running), high(worker(1))], objects, COMPOSITES, high(driver())))
    expect(joined.spec).toMatchObject({ parentCompositePodGroupName: ROOT, priorityClassName: 'high' })
    const apart = wanted(decide([high(running), worker(1)], objects, COMPOSITES, high(driver())))
    expect(apart.spec).not.toHaveProperty('parentCompositePodGroupName')
    expect(apart.spec).not.toHaveProperty('priorityClassName')
    // Together from the beginning: a Workload has one priority, or none.
    const both = wanted(decide([high(driver()), worker(1)], [], COMPOSITES, high(driver())))
    expect(both.spec).toEqual({
      controllerRef: expect.anything(),
      podGroupTemplates: [leaf('role-driver'), leaf('pods')],
    })
  })

  it('share a topology if they say so by one podset-group-name, and have each their own if not', () => {
    const near = { [REQUIRED_TOPOLOGY]: 'rack', [PODSET_GROUP]: 'together' }
    const rack = { schedulingConstraints: { topology: [{ key: 'rack' }] } }
    const asking = (pod: Pod, marks: object): Pod => ({
      ...pod,
      metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...marks } },
    })
    expect(wanted(decide([asking(driver(), near)], [])).spec).toMatchObject({
      compositePodGroupTemplates: [{ name: 'group', ...rack }],
    })
    const tree = known('Workload', {
      spec: { compositePodGroupTemplates: [{ ...leaf('group', rack), podGroupTemplates: [leaf('pods')] }] },
    })
    const objects = [tree, composite(), under(ofDriver)]
    const joined = wanted(decide([asking(running, near), asking(worker(1), near)], objects))
    expect(joined.spec).toMatchObject({ parentCompositePodGroupName: ROOT })
    expect(joined.spec).not.toHaveProperty('schedulingConstraints')
    const apart = wanted(decide([asking(running, near), worker(1)], objects))
    expect(apart.spec).not.toHaveProperty('parentCompositePodGroupName')
    const own = { [REQUIRED_TOPOLOGY]: 'rack' }
    const alone = wanted(decide([asking(driver(), own)], []))
    expect(alone.spec).toMatchObject({
      compositePodGroupTemplates: [{ podGroupTemplates: [{ name: 'role-driver', ...rack }, { name: 'pods' }] }],
    })
    expect(JSON.stringify(alone.spec).match(/rack/g)).toHaveLength(1)
  })
})

describe('the objects that a pod with a role is placed by', () => {
  it('are the group of groups besides, whether there is one or not', () => {
    expect(kubernetesCoScheduler.objectsOf(worker(1))).toContain(`scheduling.k8s.io/compositepodgroups/ml/${ROOT}`)
    expect(kubernetesCoScheduler.objectsOf(named(member(0)))).toHaveLength(2)
  })
})
