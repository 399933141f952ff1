import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../src/admission/verdict.ts'
import { DEFAULT_CONFIGURATION } from '../../src/config/configuration.ts'
import { SCHEDULING } from '../../src/kube/vocabulary/names.ts'
import type { KubeObject, StringMap } from '../../src/kube/vocabulary/objects.ts'
import { reviewJobValidation } from '../../src/webhooks/jobs/jobs.ts'
import type { World } from '../../src/webhooks/world.ts'
import { jobRequest } from '../unit/webhooks/jobs/fixtures.ts'
import { worldOf } from '../unit/webhooks/pods/fixtures.ts'

/** What a real API server of Kubernetes 1.37 answered, with the gates GenericWorkload and WorkloadWithJob on. */
interface Case {
  readonly id: string
  readonly operation: 'CREATE' | 'UPDATE'
  readonly object: Job
  readonly oldObject: Job | null
  readonly upstream: {
    readonly allowed: boolean
    readonly errors: readonly { readonly field: string; readonly type: string; readonly detailContains: string }[]
  }
}

type Job = KubeObject & { readonly spec: Readonly<Record<string, unknown>> }

/** With the default configuration Muster refuses what 1.37 allows (KEP-5547): from which parallelism to which. */
const STRICTER_BY_DEFAULT: Readonly<Record<string, string>> = {
  'u011-parallelism-up': 'from 4 to 8',
  'u016-parallelism-zero-mincount-omitted': 'from 8 to 0',
  'u018-raise-both': 'from 4 to 8',
}

/** Frozen in a Job, and free in a CronJob, for its next Jobs: upstream's own exception. */
const VARIANT = 'the basic/gang policy variant is immutable after creation'

const cases = JSON.parse(readFileSync(new URL('cases/jobs.json', import.meta.url), 'utf8')) as readonly Case[]

const { jobs } = DEFAULT_CONFIGURATION
const likeUpstream: World = {
  ...worldOf(),
  config: { ...DEFAULT_CONFIGURATION, jobs: { ...jobs, parallelism: { ...jobs.parallelism, gangChanges: 'allow' } } },
}

function expectUpstream(verdict: Verdict, { upstream }: Case, pathOf: (field: string) => string): void {
  expect(verdict.kind === 'allowed', JSON.stringify(verdict)).toBe(upstream.allowed)
  const errors = verdict.kind === 'denied' ? verdict.errors : []
  expect(errors.map(({ field, type }) => ({ field, type }))).toEqual(
    upstream.errors.map(({ field, type }) => ({ field: pathOf(field), type })),
  )
  for (const [index, { detailContains }] of upstream.errors.entries()) {
    expect(errors[index]?.detail).toContain(detailContains)
  }
}

/** The same Job, with its block in the annotation. */
function annotated(job: Job): Job {
  const { scheduling, ...spec } = job.spec
  const annotations: StringMap = scheduling === undefined ? {} : { [SCHEDULING]: JSON.stringify(scheduling) }
  return { ...job, metadata: { ...job.metadata, annotations }, spec }
}

describe('the API server of Kubernetes 1.37, case by case', () => {
  for (const testCase of cases) {
    const { id, object, oldObject } = testCase

    it(id, () => {
      const verdict = reviewJobValidation(jobRequest(object, oldObject), likeUpstream)
      expectUpstream(verdict, testCase, field => field)
    })

    it(`${id}, in the annotation`, () => {
      const request = jobRequest(annotated(object), oldObject && annotated(oldObject))
      const verdict = reviewJobValidation(request, likeUpstream)
      expectUpstream(verdict, testCase, field =>
        field.replace('spec.scheduling', `metadata.annotations[${SCHEDULING}]`),
      )
    })

    it(`${id}, in a CronJob`, () => {
      const errors = testCase.upstream.errors.filter(({ detailContains }) => !detailContains.startsWith(VARIANT))
      const allowed = errors.length === 0
      const cronJob = ({ metadata, spec }: Job): KubeObject & { readonly spec: object } => ({
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata,
        spec: { schedule: '@daily', jobTemplate: { spec } },
      })
      const verdict = reviewJobValidation(jobRequest(cronJob(object), oldObject && cronJob(oldObject)), likeUpstream)
      expectUpstream(verdict, { ...testCase, upstream: { allowed, errors } }, field => `spec.jobTemplate.${field}`)
    })

    const change = STRICTER_BY_DEFAULT[id]
    it(`${id}, by default${change === undefined ? '' : ': the parallelism of a gang does not change'}`, () => {
      const verdict = reviewJobValidation(jobRequest(object, oldObject), worldOf())
      if (change === undefined) return expectUpstream(verdict, testCase, field => field)
      expect(testCase.upstream.allowed).toBe(true)
      const detail = expect.stringContaining(`${change}: its pods are scheduled as one gang`)
      const errors = [{ field: 'spec.parallelism', type: 'Forbidden', detail }]
      expect(verdict).toMatchObject({ kind: 'denied', code: 403, errors })
    })
  }

  it('has a case for each difference', () => {
    expect(cases.map(({ id }) => id)).toEqual(expect.arrayContaining(Object.keys(STRICTER_BY_DEFAULT)))
    const frozen = cases.filter(({ upstream }) => upstream.errors[0]?.detailContains.startsWith(VARIANT))
    expect(frozen.length).toBeGreaterThan(0)
  })
})
