import { describe, expect, it } from 'vitest'
import {
  type DiscoveredApis,
  NOTHING_SERVED,
  servedSchedulingOf,
} from '../../../src/kube/vocabulary/served-scheduling.ts'

const GROUP = 'scheduling.k8s.io'
const BETA = ['workloads', 'workloads/status', 'podgroups', 'podgroups/status']
const role = (resource: string) => ({ rules: [{ apiGroups: [GROUP], resources: ['workloads', resource] }] })

function discovered(
  versions: Readonly<Record<string, readonly string[]>>,
  resources: Readonly<Record<string, readonly string[]>>,
  jobControllerRole?: unknown,
): DiscoveredApis {
  return {
    versions: new Map(Object.entries(versions)),
    resources: new Map(Object.entries(resources)),
    jobControllerRole,
  }
}

describe('what the API server serves for placing pods together', () => {
  it('is nothing where there are only PriorityClasses', () => {
    expect(servedSchedulingOf(discovered({ [GROUP]: ['v1'] }, {}))).toEqual(NOTHING_SERVED)
    expect(servedSchedulingOf(discovered({}, {}, role('podgroups')))).toEqual(NOTHING_SERVED)
  })

  it('is the newest version that both sides speak', () => {
    const resources = { [`${GROUP}/v1beta1`]: BETA, [`${GROUP}/v1alpha2`]: BETA }
    expect(servedSchedulingOf(discovered({ [GROUP]: ['v1', 'v1alpha2', 'v1beta1'] }, resources)).kubernetes).toEqual({
      version: 'v1beta1',
      podGroups: true,
      composites: false,
    })
    expect(servedSchedulingOf(discovered({ [GROUP]: ['v1', 'v1alpha2'] }, resources)).kubernetes?.version).toBe(
      'v1alpha2',
    )
  })

  it('is Workloads without PodGroups on 1.35, and composites only where their own version has them', () => {
    const old = discovered({ [GROUP]: ['v1', 'v1alpha1'] }, { [`${GROUP}/v1alpha1`]: ['workloads'] })
    expect(servedSchedulingOf(old).kubernetes).toEqual({ version: 'v1alpha1', podGroups: false, composites: false })
    const all = { [`${GROUP}/v1beta1`]: BETA, [`${GROUP}/v1alpha3`]: ['compositepodgroups'] }
    expect(servedSchedulingOf(discovered({ [GROUP]: ['v1beta1', 'v1alpha3'] }, all)).kubernetes?.composites).toBe(true)
  })

  it.each([
    ['a role with a rule for PodGroups', role('podgroups'), true],
    ['a role without one', role('jobs'), false],
    ['no role that can be read', undefined, false],
    ['something that is no role', { rules: 'all' }, false],
  ])('tells by %s whether the Job controller makes them', (_, jobControllerRole, expected) => {
    const apis = discovered({ [GROUP]: ['v1beta1'] }, { [`${GROUP}/v1beta1`]: BETA }, jobControllerRole)
    expect(servedSchedulingOf(apis)).toMatchObject({ jobController: expected, jobSchedulingField: expected })
  })

  it('knows the field of Jobs only since 1.37', () => {
    const apis = discovered({ [GROUP]: ['v1alpha2'] }, { [`${GROUP}/v1alpha2`]: BETA }, role('podgroups'))
    expect(servedSchedulingOf(apis)).toMatchObject({ jobController: true, jobSchedulingField: false })
  })

  it('sees KAI by its PodGroups, beside Kubernetes or alone', () => {
    const kai = { 'scheduling.run.ai/v2alpha2': ['podgroups', 'bindrequests'] }
    expect(servedSchedulingOf(discovered({ 'scheduling.run.ai': ['v2alpha2'] }, kai))).toEqual({
      ...NOTHING_SERVED,
      kai: true,
    })
  })
})
