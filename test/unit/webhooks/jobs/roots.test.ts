import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import { SCHEDULING } from '../../../../src/kube/vocabulary/names.ts'
import type { KubeObject } from '../../../../src/kube/vocabulary/objects.ts'
import { MAX_ERRORS } from '../../../../src/validation/field-error.ts'
import { reviewJobValidation } from '../../../../src/webhooks/jobs/jobs.ts'
import { brief, errorsOf } from '../pods/fixtures.ts'
import { BASIC, gang, jobOf, jobRequest, jobWorld, ZONE } from './fixtures.ts'

const review = (object: KubeObject, old: KubeObject | null = null, world = jobWorld()): Verdict =>
  reviewJobValidation(jobRequest(object, old), world)

describe('a CronJob', () => {
  const cronJob = (
    scheduling: unknown,
    spec: object = {},
    annotations?: object,
  ): KubeObject & { readonly spec: object } => ({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'nightly', namespace: 'team-a' },
    spec: {
      schedule: '@daily',
      jobTemplate: { metadata: { annotations }, spec: { ...jobOf({ scheduling }).spec, ...spec } },
    },
  })

  it('is judged by its template, at the paths of its template', () => {
    expect(brief(review(cronJob({ ...gang(9), ...ZONE, disruptionMode: {} })))).toEqual([
      'Invalid spec.jobTemplate.spec.scheduling.schedulingPolicy.gang.minCount',
      'Invalid spec.jobTemplate.spec.scheduling.disruptionMode',
    ])
    expect(brief(review(cronJob(undefined, {}, { [SCHEDULING]: '{"policy": {}}' })))).toEqual([
      `Invalid spec.jobTemplate.metadata.annotations[${SCHEDULING}].policy`,
    ])
  })

  it('counts a parallelism that is not there as one', () => {
    const [error] = errorsOf(review(cronJob(gang(2), { parallelism: undefined })))
    expect(error?.detail).toBe('must not be greater than parallelism (1)')
  })

  it('may switch the policy and the parallelism of its next Jobs, but nothing else', () => {
    expect(review(cronJob(gang()), cronJob(BASIC))).toMatchObject({ kind: 'allowed' })
    expect(review(cronJob(gang(), { parallelism: 2 }), cronJob(gang()))).toMatchObject({ kind: 'allowed' })
    expect(brief(review(cronJob({ ...gang(), ...ZONE }), cronJob(gang())))).toEqual([
      'Invalid spec.jobTemplate.spec.scheduling.schedulingConstraints',
    ])
    expect(brief(review(cronJob(undefined), cronJob({})))).toEqual(['Invalid spec.jobTemplate.spec.scheduling'])
  })

  it('is subject to the allow-lists', () => {
    const world = jobWorld({ allow: { policies: ['basic'] } })
    expect(brief(review(cronJob(gang()), null, world))).toEqual([
      'Forbidden spec.jobTemplate.spec.scheduling.schedulingPolicy.gang',
    ])
  })

  it('is told that Kubernetes ignores the block, and where its annotation belongs', () => {
    const ignored = 'spec.jobTemplate.spec.scheduling: Kubernetes 1.37 validates the scheduling of a CronJob'
    expect(review(cronJob(gang()))).toMatchObject({ warnings: [expect.stringContaining(ignored)] })
    const misplaced = { ...cronJob(undefined), metadata: { name: 'n', annotations: { [SCHEDULING]: '{}' } } }
    expect(review(misplaced)).toMatchObject({ kind: 'allowed', warnings: [expect.stringContaining('has no effect')] })
  })

  it('without a template is none', () => {
    expect(brief(review({ ...cronJob({}), spec: {} } as KubeObject))).toEqual(['Required spec.jobTemplate'])
  })
})

describe('a JobSet', () => {
  const jobSet = (templates: readonly unknown[], spec: object = {}): KubeObject => {
    const replicatedJobs = templates.map((scheduling, index) => ({
      name: `role-${index}`,
      template: { spec: jobOf({ scheduling }).spec },
    }))
    const metadata = { name: 'set', namespace: 'team-a' }
    return {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      metadata,
      spec: { ...spec, replicatedJobs },
    } as KubeObject
  }
  const CHILD = 'spec.replicatedJobs[1].template.spec.scheduling'

  const target = { targetReplicatedJob: 'role-1' }

  it.each([
    ['nowhere', jobSet([undefined, undefined])],
    ['as a whole', jobSet([undefined, undefined], { scheduling: { policy: { gang: { minGroupCount: 2 } } } })],
    ['in its templates', jobSet([gang(), { policy: { gang: {} } }])],
    ['as a whole and in its templates', jobSet([undefined, gang()], { scheduling: { policy: { basic: {} } } })],
    ['as a whole and by name', jobSet([undefined, undefined], { scheduling: { replicatedJobPolicies: [target] } })],
    ['by name, and in the template of another job', jobSet([gang(), undefined], { replicatedJobPolicies: [target] })],
  ])('may say how its pods are scheduled: %s', (_where, object) => {
    expect(review(object)).toMatchObject({ kind: 'allowed', warnings: [] })
  })

  it.each([
    ['spec.scheduling.replicatedJobPolicies[0]', { scheduling: { replicatedJobPolicies: [target] } }],
    ['spec.replicatedJobPolicies[0]', { replicatedJobPolicies: [target] }],
  ])('may not say it of one replicated job in %s and in its template', (path, spec) => {
    const verdict = review(jobSet([undefined, {}], spec))
    expect(verdict).toMatchObject({ kind: 'denied', code: 403 })
    expect(errorsOf(verdict)).toMatchObject([{ field: CHILD, type: 'Forbidden' }])
    expect(errorsOf(verdict)[0]?.detail).toContain(`${path} and ${CHILD} both say`)
    expect(errorsOf(verdict)[0]?.detail).toContain('"role-1"')
  })

  it('cannot wait for more groups than it has', () => {
    const whole = (minGroupCount: number) => ({ scheduling: { policy: { gang: { minGroupCount } } } })
    expect(review(jobSet([undefined, undefined], whole(2)))).toMatchObject({ kind: 'allowed' })
    expect(brief(review(jobSet([undefined, undefined], whole(3))))).toEqual([
      'Invalid spec.scheduling.policy.gang.minGroupCount',
    ])
  })

  it('targets jobs that it has, and each of them once', () => {
    const entries = [target, { targetReplicatedJob: 'role-7' }, target, {}]
    const path = 'spec.replicatedJobPolicies'
    expect(brief(review(jobSet([undefined, undefined], { replicatedJobPolicies: entries })))).toEqual([
      `Invalid ${path}[1].targetReplicatedJob`,
      `Duplicate ${path}[2].targetReplicatedJob`,
      `Required ${path}[3].targetReplicatedJob`,
    ])
  })

  it('that has said it twice before can still be updated, but not say it once more', () => {
    const once = { scheduling: { replicatedJobPolicies: [target] } }
    const twice = { scheduling: { replicatedJobPolicies: [target, { targetReplicatedJob: 'role-0' }] } }
    const was = jobSet([undefined, {}], once)
    expect(review(jobSet([undefined, {}], { ...once, suspend: true }), was)).toMatchObject({ kind: 'allowed' })
    expect(review(jobSet([undefined, gang()], once), was)).toMatchObject({ kind: 'allowed' })
    expect(brief(review(jobSet([{}, {}], twice), was))).toEqual([
      'Forbidden spec.replicatedJobs[0].template.spec.scheduling',
    ])
    expect(brief(review(was, jobSet([undefined, {}])))).toEqual([`Forbidden ${CHILD}`])
  })

  it('is not judged again for what it has said before, on any level', () => {
    const scheduling = { later: {}, policy: { gang: { minGroupCount: 9 } } }
    const was = jobSet([undefined, gang(9)], { scheduling })
    expect(brief(review(was))).not.toEqual([])
    expect(review(jobSet([undefined, gang(9)], { scheduling, suspend: true }), was)).toMatchObject({ kind: 'allowed' })
    expect(review(jobSet([gang(), gang(9)], { scheduling }), was)).toMatchObject({ kind: 'allowed' })
    expect(brief(review(jobSet([gang(9), gang(9)], { scheduling }), was))).toEqual([
      'Invalid spec.replicatedJobs[0].template.spec.scheduling.schedulingPolicy.gang.minCount',
    ])
  })

  it('has its templates judged as the Jobs they will be', () => {
    expect(brief(review(jobSet([undefined, { ...gang(9), disruptionMode: {} }])))).toEqual([
      `Invalid ${CHILD}.schedulingPolicy.gang.minCount`,
      `Invalid ${CHILD}.disruptionMode`,
    ])
  })

  it('is subject to the allow-lists, in its own block, too', () => {
    const world = jobWorld({ allow: { policies: ['basic'], topologyKeys: [] } })
    expect(brief(review(jobSet([undefined, gang()]), null, world))).toEqual([
      `Forbidden ${CHILD}.schedulingPolicy.gang`,
    ])
    const targeted = [{ targetReplicatedJob: 'role-1', constraints: { topology: [{ level: 'rack' }] } }]
    const scheduling = { policy: { gang: { minGroupCount: 2 } }, replicatedJobPolicies: targeted }
    const wrapped = jobSet([undefined, undefined], { scheduling })
    expect(brief(review(wrapped, null, world))).toEqual([
      'Forbidden spec.scheduling.policy.gang',
      'Forbidden spec.scheduling.replicatedJobPolicies[0].constraints.topology[0].level',
    ])
    expect(review(wrapped, wrapped, world)).toMatchObject({ kind: 'allowed' })
    const gangOnly = jobWorld({ allow: { policies: ['gang'] } })
    expect(brief(review(jobSet([undefined, undefined], { replicatedJobPolicies: [target] }), null, gangOnly))).toEqual([
      'Forbidden spec.replicatedJobPolicies[0].schedulingPolicy',
    ])
  })

  it('with ten thousand wrong templates gets an answer that can be read', () => {
    const verdict = review(jobSet(Array.from({ length: 10_000 }, () => ({ schedulingPolicy: {} }))))
    expect(errorsOf(verdict)).toHaveLength(MAX_ERRORS)
  })
})
