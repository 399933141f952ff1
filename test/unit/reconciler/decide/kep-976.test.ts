import { describe, expect, it } from 'vitest'
import {
  GROUP_COUNT,
  GROUP_ROLE,
  GROUP_ROLE_COUNT,
  GROUP_ROLES,
  GROUP_SETS,
} from '../../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../../src/kube/vocabulary/objects.ts'
import type { Unit } from '../../../../src/reconciler/unit.ts'
import { managedPod } from '../../../support/pods.ts'
import { ADMITTED, workloadOf } from '../../../support/workloads.ts'

import { created, decide, group, kinds, NOW } from './fixtures.ts'

describe('a group in the dialect of KEP-976', () => {
  const kep = (name: string, role: string | undefined, annotations: Record<string, string>): Pod => {
    const pod = managedPod({ name, group: 'gang', annotations })
    const labels = { ...pod.metadata.labels, ...(role === undefined ? {} : { [GROUP_ROLE]: role }) }
    return { ...pod, metadata: { ...pod.metadata, labels } }
  }
  const podSets = (unit: Unit) => {
    const [action] = decide(unit, NOW).actions
    const workload = created(action)
    return workload.spec.podSets
  }
  const note = (unit: Unit) => decide(unit, NOW).standings[0]?.note

  it('waits for as many pods as pod-group-count says', () => {
    const pod = (index: number) => kep(`gang-${index}`, undefined, { [GROUP_COUNT]: '2' })
    expect(note(group([pod(0)]))).toBe('1 of the 2 pods of group gang exist')
    expect(podSets(group([pod(0), pod(1)])).map(({ count }) => count)).toEqual([2])
  })

  it('has a podSet per named role once every role is there in full', () => {
    const driver = kep('driver', 'driver', { [GROUP_ROLES]: '2' })
    const worker = (index: number) => kep(`w-${index}`, 'worker', { [GROUP_ROLES]: '2', [GROUP_ROLE_COUNT]: '2' })
    expect(note(group([driver]))).toBe('1 of the 2 roles of group gang have pods')
    expect(note(group([driver, worker(0)]))).toBe('1 of the 2 pods of role worker of group gang exist')
    const sets = podSets(group([driver, worker(0), worker(1)]))
    expect(sets.map(({ name, count }) => `${name}=${count}`)).toEqual(['driver=1', 'worker=2'])
  })

  it('refuses roles that contradict each other', () => {
    const worker = (index: number, count: string) =>
      kep(`w-${index}`, 'worker', { [GROUP_ROLES]: '2', [GROUP_ROLE_COUNT]: count })
    expect(note(group([worker(0, '2'), worker(1, '3')]))).toContain(
      'w-0 and w-1 differ in the size of role worker: 2 and 3',
    )
  })

  it('has the announced shapes before the workers exist, and gives each worker a place when it comes', () => {
    const sets = [
      { name: 'driver', count: 1 },
      {
        name: 'worker',
        count: 2,
        template: { spec: { containers: [{ name: 'w', image: 'i', resources: { limits: { cpu: '1' } } }] } },
      },
    ]
    const driver = kep('driver', 'driver', { [GROUP_SETS]: JSON.stringify(sets) })
    const composed = podSets(group([driver]))
    expect(composed.map(({ name, count }) => `${name}=${count}`)).toEqual(['driver=1', 'worker=2'])
    expect(composed[0]?.template.spec).toEqual({ containers: driver.spec.containers })
    expect(composed[1]?.template.spec.containers?.[0]?.name).toBe('w')

    const workload = workloadOf([driver], ADMITTED)
    expect(kinds(group([driver], workload))).toEqual(['LiftGate'])
    const worker = kep('w-0', 'worker', {})
    expect(kinds(group([driver, worker], workload))).toEqual(['AddOwners'])
    const owners = [
      ...(workload.metadata.ownerReferences ?? []),
      { apiVersion: 'v1', kind: 'Pod', name: 'w-0', uid: 'uid-w-0' },
    ]
    const adopted = { ...workload, metadata: { ...workload.metadata, ownerReferences: owners } }
    expect(kinds(group([driver, worker], adopted))).toEqual(['LiftGate', 'LiftGate'])
  })
})
