import { describe, expect, it } from 'vitest'
import { GROUP_ROLE_COUNT, GROUP_ROLES, REQUIRED_TOPOLOGY } from '../../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { planGroup } from '../../../../src/workload/group-plan.ts'
import { gang, member, running } from '../../reconciler/decide/fixtures.ts'
import { decided, inRole, kinds, known, named, OWNER, podGroup, reasons, WORKLOAD, wanted } from './fixtures.ts'

const asking = (pod: Pod, topology: string): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, [REQUIRED_TOPOLOGY]: topology } },
})
const withSpec = (pod: Pod, spec: Partial<Pod['spec']>): Pod => ({ ...pod, spec: { ...pod.spec, ...spec } })
const members = gang(3).map(pod => named(pod))

describe('a group that requires a topology', () => {
  const near = members.map(pod => asking(pod, 'rack'))

  it('says so in its PodGroup, also if only some of its pods say it', () => {
    const rack = { schedulingConstraints: { topology: [{ key: 'rack' }] } }
    expect(wanted(decided(near, [])).spec).toMatchObject({ podGroupTemplates: [rack] })
    expect(wanted(decided(near, [WORKLOAD])).spec).toMatchObject(rack)
    const [first = named(member(0)), ...rest] = members
    expect(wanted(decided([...rest, asking(first, 'rack')], [WORKLOAD])).spec).toMatchObject(rack)
    expect(wanted(decided(members, [WORKLOAD])).spec).not.toHaveProperty('schedulingConstraints')
  })

  it('is told what the API server has stored without it, once for the group, and starts', () => {
    const decision = decided(near, [WORKLOAD, podGroup(3)])
    expect(kinds(decision)).toEqual(['LiftGate', 'LiftGate', 'LiftGate'])
    expect(decision.remarks).toEqual([
      {
        regarding: {
          apiVersion: OWNER.apiVersion,
          kind: 'Workload',
          namespace: 'ml',
          name: 'gang',
          uid: OWNER.uid,
        },
        type: 'Warning',
        reason: 'SchedulingDropped',
        note: expect.stringContaining('TopologyAwareWorkloadScheduling'),
      },
    ])
    const policy = { gang: { minCount: 3 } }
    const schedulingConstraints = { topology: [{ key: 'rack' }] }
    const kept = known('PodGroup', { spec: { schedulingPolicy: policy, schedulingConstraints } })
    expect(decided(near, [WORKLOAD, kept]).remarks).toBeUndefined()
  })
})

describe('pods that kube-scheduler would never place together', () => {
  const [first = named(member(0)), second = named(member(1))] = members

  it.each([
    ['priority class', { priorityClassName: 'high' }, 'priority class'],
    ['scheduler', { schedulerName: 'other' }, 'scheduler (spec.schedulerName)'],
  ])('make no group if they differ in their %s', (_, spec, text) => {
    const plan = planGroup('gang', [first, withSpec(second, spec)])
    expect(plan).toMatchObject({ kind: 'invalid', note: expect.stringContaining(text) })
    // Where they name no PodGroup, each is placed by itself.
    const nameless = [first, second].map(pod => withSpec(pod, { schedulingGroup: undefined }))
    expect(
      planGroup(
        'gang',
        nameless.map((pod, index) => (index === 0 ? pod : withSpec(pod, spec))),
      ).kind,
    ).toBe('count')
  })

  it('make none either if they require different topologies', () => {
    const plan = planGroup('gang', [asking(first, 'rack'), asking(second, 'block')])
    expect(plan).toMatchObject({ kind: 'invalid', note: expect.stringContaining('"rack" and "block"') })
    expect(planGroup('gang', [asking(first, 'rack'), second]).kind).toBe('count')
  })

  it.each([
    ['priority', (pod: Pod) => withSpec(pod, { priorityClassName: 'high' }), 'spec.priorityClassName'],
    ['scheduler', (pod: Pod) => withSpec(pod, { schedulerName: 'other' }), 'spec.schedulerName'],
    ['topology', (pod: Pod) => asking(pod, 'block'), 'the topology'],
  ])('take in nobody later who differs in %s, and keep his place', (_, change, text) => {
    const role = (pod: Pod) => named(inRole(pod, 'worker', { [GROUP_ROLES]: '1', [GROUP_ROLE_COUNT]: '3' }))
    const others = [running(0), running(1)].map(pod => asking(role(pod), 'rack'))
    const decision = decided([...others, change(role(member(2)))], [WORKLOAD, podGroup(3)], undefined, [
      ...others,
      role(member(2)),
    ])
    expect(kinds(decision)).toEqual([])
    expect(reasons(decision)).toContain('gang-2: InvalidGroup')
    expect(decision.standings.find(({ reason }) => reason === 'InvalidGroup')?.note).toContain(text)
  })
})
