import { describe, expect, it } from 'vitest'
import { reviewJobValidation } from '../../../../src/webhooks/jobs/jobs.ts'
import { brief, controller, errorsOf } from '../pods/fixtures.ts'
import { annotated, BASIC, gang, type JobOptions, jobOf, jobRequest, jobWorld, updated, ZONE } from './fixtures.ts'

describe('the parallelism of a gang', () => {
  const scaled = (scheduling: unknown, from: unknown, to: unknown, world = jobWorld(), spec: object = {}) =>
    updated(
      { scheduling, spec: { ...spec, parallelism: from } },
      { scheduling, spec: { ...spec, parallelism: to } },
      world,
    )

  it('does not change, up or down, running or suspended', () => {
    for (const [from, to] of [
      [8, 9],
      [8, 7],
      [8, 0],
      [8, undefined],
    ] as const) {
      for (const suspend of [false, true]) {
        const verdict = scaled(gang(), from, to, jobWorld(), { suspend })
        expect(verdict).toMatchObject({ kind: 'denied', code: 403 })
        expect(brief(verdict)).toEqual(['Forbidden spec.parallelism'])
      }
    }
  })

  it('is refused with the Job, the gang and the way out', () => {
    expect(errorsOf(scaled(gang(4), 8, 6))[0]?.detail).toBe(
      'cannot change parallelism for Job "train" from 8 to 6: its pods are scheduled as one gang ' +
        '(spec.scheduling.schedulingPolicy.gang with minCount 4). Create a new Job with the parallelism you need, or ' +
        'one with the policy `basic`, whose parallelism may change',
    )
  })

  it('has not changed from nothing to the default', () => {
    expect(scaled(gang(), undefined, 1)).toMatchObject({ kind: 'allowed' })
  })

  it('binds a gang in the annotation and in the names of the KEP, too', () => {
    const text = annotated('policy: {gang: {}}')
    expect(brief(updated(text, { ...text, spec: { parallelism: 3 } }))).toEqual(['Forbidden spec.parallelism'])
    expect(brief(scaled({ policy: { gang: {} } }, 8, 3))).toEqual(['Forbidden spec.parallelism'])
  })

  it('is free in basic Jobs and in Jobs without a policy', () => {
    for (const scheduling of [undefined, {}, BASIC]) expect(scaled(scheduling, 8, 3)).toMatchObject({ kind: 'allowed' })
  })

  it('is free when the configuration says so', () => {
    expect(scaled(gang(), 8, 3, jobWorld({ parallelism: { gangChanges: 'allow' } }))).toMatchObject({ kind: 'allowed' })
  })

  describe('in Jobs that have a root', () => {
    const root = 'system:serviceaccount:jobset-system:jobset-controller-manager'
    const metadata = { ownerReferences: [controller('jobset.x-k8s.io/v1alpha2', 'JobSet', 'root')] }
    const [owned, smaller] = [8, 3].map(parallelism => ({ scheduling: gang(), metadata, spec: { parallelism } }))
    const world = jobWorld({ controllers: { 'jobset.x-k8s.io/jobset': [root] } })
    const by = (username: string | undefined, was: JobOptions = {}, is: JobOptions = {}, where = world) =>
      reviewJobValidation({ ...jobRequest(jobOf(is), jobOf(was)), ...(username && { userInfo: { username } }) }, where)

    it('is up to the root', () => {
      expect(by(root, owned, smaller)).toMatchObject({ kind: 'allowed' })
    })

    it('is not up to who only names one, before and after', () => {
      for (const user of ['alice', undefined]) {
        expect(by(user, owned, smaller)).toMatchObject({ kind: 'denied', code: 403 })
      }
      expect(
        by(root, owned, smaller, jobWorld({ controllers: { 'jobset.x-k8s.io/jobset': ['another'] } })),
      ).toMatchObject({ kind: 'denied' })
    })

    it('does not change with the root that comes or goes', () => {
      const free = (options: JobOptions = {}): JobOptions => ({ ...options, metadata: {} })
      expect(by(root, free(owned), smaller)).toMatchObject({ kind: 'denied' })
      expect(by(root, owned, free(smaller))).toMatchObject({ kind: 'denied' })
      expect(by('alice', free(owned), owned)).toMatchObject({ kind: 'allowed' })
      expect(by('alice', owned, free(owned))).toMatchObject({ kind: 'allowed' })
    })

    it('is up to the controller of any kind that somebody has named', () => {
      const widgets = { ownerReferences: [controller('example.com/v1', 'Widget', 'w')] }
      const of = (options: JobOptions = {}): JobOptions => ({ ...options, metadata: widgets })
      const named = jobWorld({ controllers: { 'example.com/widget': ['widgets'] } })
      expect(by('widgets', of(owned), of(smaller), named)).toMatchObject({ kind: 'allowed' })
      expect(by('alice', of(owned), of(smaller), named)).toMatchObject({ kind: 'denied' })
    })
  })

  it('stays a hint when the API server refuses the change anyway', () => {
    const verdict = scaled(gang(4), 8, 3)
    expect(brief(verdict)).toEqual(['Invalid spec.scheduling.schedulingPolicy.gang.minCount'])
    expect(verdict).toMatchObject({ code: 422, warnings: [expect.stringContaining('spec.parallelism')] })
  })

  describe('with implicitGang: indexed', () => {
    const world = jobWorld({ parallelism: { implicitGang: 'indexed' } })

    it('is fixed in indexed Jobs that run all their pods at once, more than one, and have no policy', () => {
      for (const scheduling of [undefined, {}, ZONE]) {
        expect(brief(scaled(scheduling, 8, 3, world))).toEqual(['Forbidden spec.parallelism'])
      }
    })

    it('is free in all others', () => {
      expect(scaled(BASIC, 8, 3, world)).toMatchObject({ kind: 'allowed' })
      expect(scaled(undefined, 1, 3, world)).toMatchObject({ kind: 'allowed' })
      expect(scaled(undefined, 8, 3, world, { completionMode: 'NonIndexed' })).toMatchObject({ kind: 'allowed' })
      expect(scaled(undefined, 8, 3, world, { completions: 16 })).toMatchObject({ kind: 'allowed' })
      expect(scaled(undefined, 8, 3, world, { completions: undefined })).toMatchObject({ kind: 'allowed' })
    })
  })
})
