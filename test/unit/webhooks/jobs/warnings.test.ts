import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import { controller } from '../pods/fixtures.ts'
import { A, annotated, BASIC, created, gang, type JobOptions, jobWorld, updated, ZONE } from './fixtures.ts'

const warningsOf = (verdict: Verdict): readonly string[] => verdict.warnings
const warned = (options: JobOptions): readonly string[] => warningsOf(created(options))

describe('what Kubernetes accepts and then does not do', () => {
  it('is a gang of more pods than will ever complete', () => {
    expect(warned({ scheduling: gang(6), spec: { completions: 4 } })).toEqual([
      'spec.scheduling.schedulingPolicy.gang.minCount: 6 pods can never be there at once, completions is 4',
    ])
    expect(warned({ scheduling: gang(), spec: { completions: 4 } })).toEqual([
      'spec.scheduling.schedulingPolicy.gang: minCount follows parallelism (8), and so many pods can never be there ' +
        'at once: completions is 4',
    ])
    expect(warned({ scheduling: gang(8) })).toEqual([])
    expect(warned({ scheduling: gang(), spec: { completions: undefined } })).toEqual([])
    expect(warned({ scheduling: BASIC, spec: { completions: 4 } })).toEqual([])
  })

  it('is a PodGroup for a Job whose name does not fit its template', () => {
    for (const name of ['train.v2', 'x'.repeat(58)]) {
      expect(warned({ name, scheduling: BASIC })).toEqual([expect.stringContaining('never gets its PodGroup')])
      expect(warned({ name })).toEqual([])
    }
    expect(warned({ name: 'x'.repeat(57), scheduling: BASIC })).toEqual([])
    const generateName = { name: '', generateName: `${'x'.repeat(53)}` }
    expect(warned({ name: '', metadata: generateName, scheduling: BASIC })).toHaveLength(1)
  })

  it('is topology and claims without their feature gates', () => {
    const claims = { resourceClaims: [{ name: 'a', resourceClaimName: 'x' }] }
    expect(warned({ scheduling: { ...ZONE, ...claims } })).toEqual([
      "spec.scheduling.schedulingConstraints.topology: silently dropped from the PodGroup if the cluster's feature " +
        'gate TopologyAwareWorkloadScheduling is off',
      "spec.scheduling.resourceClaims: silently dropped from the PodGroup if the cluster's feature gate " +
        'DRAWorkloadResourceClaims is off',
    ])
  })

  it('is a field in the names of the KEP, but not the annotation', () => {
    expect(warned({ scheduling: { policy: { gang: {} } } })).toEqual([
      'spec.scheduling.policy: a name of KEP-6089, which the API server drops: it would run this Job as basic',
    ])
    const unheard = 'the API server serves no PodGroups (feature gate GenericWorkload, scheduling.k8s.io/v1beta1)'
    expect(warned(annotated('policy: {gang: {}}'))).toEqual([`${A}: nothing will act on it: ${unheard}`])
  })

  it('is said once, and not to the controllers that make Jobs', () => {
    expect(warningsOf(updated({ scheduling: ZONE }, { scheduling: ZONE, spec: { suspend: true } }))).toEqual([])
    const world = jobWorld({ parallelism: { gangChanges: 'allow' } })
    expect(
      warningsOf(updated({ scheduling: gang() }, { scheduling: gang(), spec: { parallelism: 9 } }, world)),
    ).toHaveLength(1)
    const ownerReferences = [controller('batch/v1', 'CronJob', 'nightly')]
    expect(warned({ scheduling: ZONE, metadata: { ownerReferences } })).toEqual([])
  })

  it('fits into the header that it becomes', () => {
    const scheduling = { ...gang(2_147_483_647), ...ZONE, resourceClaims: [{ name: 'a', resourceClaimName: 'x' }] }
    const spec = { parallelism: 2_147_483_647, completions: 1 }
    const all = [
      ...warned({ name: 'x'.repeat(253), scheduling, spec }),
      ...warned({ name: 'x.', ...annotated(JSON.stringify(scheduling)), spec }),
      ...warned({ scheduling: gang(), spec }),
      ...warningsOf(updated({ scheduling: gang(4) }, { scheduling: gang(4), spec: { parallelism: 2 } })),
    ]
    expect(all.length).toBeGreaterThan(8)
    for (const text of all) expect(text.length, text).toBeLessThanOrEqual(256)
  })
})
