import { describe, expect, it } from 'vitest'
import { dnsLabelProblems } from '../../../../src/kube/vocabulary/formats.ts'
import { GROUP_COUNT, GROUP_SETS } from '../../../../src/kube/vocabulary/names.ts'
import type { SchedulingWorkload } from '../../../../src/workload/builder/objects.ts'
import { planGroup } from '../../../../src/workload/group-plan.ts'
import { podGroupNameFor } from '../../../../src/workload/placement.ts'
import { member } from '../../reconciler/decide/fixtures.ts'
import { DRIVER, decided, driver, inRole, kinds, NAME, named, ofDriver, WORKLOAD, wanted, worker } from './fixtures.ts'

describe('a driver that announces its workers', () => {
  it('starts alone', () => {
    const decision = decided([driver()], [WORKLOAD], undefined, [driver()])
    expect(wanted(decision)).toMatchObject({
      metadata: { name: DRIVER },
      spec: { schedulingPolicy: { basic: {} } },
    })
    expect(kinds(decided([driver()], [WORKLOAD, ofDriver], undefined, [driver()]))).toEqual(['LiftGate'])
  })

  /** Pods that each announce the whole group, each in a role of its own. */
  const drivers = (roles: readonly string[]) => {
    const template = { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] } }
    const sets = JSON.stringify(roles.map(name => ({ name, count: 1, template })))
    return roles.map((role, index) =>
      named(inRole(member(index), role, { [GROUP_SETS]: sets }), podGroupNameFor('ml', 'gang', role)),
    )
  }

  it('has a template of its own, however alike the names of two roles begin', () => {
    const pods = drivers(['a', 'b'].map(end => `${'x'.repeat(60)}-${end}`))
    const workload = wanted(decided(pods, [], undefined, pods)) as unknown as SchedulingWorkload
    const names = workload.spec.podGroupTemplates?.map(({ name }) => name) ?? []
    expect(new Set(names).size).toBe(2)
    expect(names.filter(name => dnsLabelProblems(name).length > 0)).toEqual([])
  })

  it('is not one of more than have a template besides that of the others', () => {
    const roles = Array.from({ length: 8 }, (_, index) => `driver-${index}`)
    expect(planGroup('gang', drivers(roles.slice(0, 7))).kind).toBe('roles')
    expect(planGroup('gang', drivers(roles))).toMatchObject({
      kind: 'invalid',
      note: expect.stringContaining('8 roles'),
    })
  })

  it('has workers that are placed as they come', () => {
    const lifted = driver({}, { gates: [], phase: 'Running', nodeName: 'n' })
    const decision = decided([lifted, worker(1)], [WORKLOAD, ofDriver], undefined, [driver()])
    expect(kinds(decision)).toEqual(['EnsureObject PodGroup'])
    expect(wanted(decision)).toMatchObject({
      metadata: { name: NAME },
      spec: { workloadRef: { templateName: 'pods' }, schedulingPolicy: { basic: {} } },
    })
  })

  it('has workers that are placed together if it says that all of them come', () => {
    const promise = { [GROUP_COUNT]: '3' }
    const lifted = driver(promise, { gates: [], phase: 'Running', nodeName: 'n' })
    const decision = decided([lifted, worker(1)], [WORKLOAD], undefined, [driver(promise)])
    expect(wanted(decision)).toMatchObject({
      metadata: { name: NAME },
      spec: { schedulingPolicy: { gang: { minCount: 2 } } },
    })
  })
})
