import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../src/config/configuration.ts'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'
import { reviewJobValidation } from '../../src/webhooks/jobs/jobs.ts'
import type { World } from '../../src/webhooks/world.ts'
import { tallyOf } from '../support/tally.ts'
import { jobRequest } from '../unit/webhooks/jobs/fixtures.ts'
import { worldOf } from '../unit/webhooks/pods/fixtures.ts'
import { createAsker, type Judgement } from './support/asker.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'

type Job = KubeObject & { readonly spec: Readonly<Record<string, unknown>> }

interface Case {
  readonly id: string
  readonly operation: 'CREATE' | 'UPDATE'
  readonly object: Job
  readonly oldObject: Job | null
}

const JOBS = '/apis/batch/v1/namespaces/default/jobs'
const cases = JSON.parse(readFileSync('test/conformance/cases/jobs.json', 'utf8')) as readonly Case[]

/** Only what upstream judges: the parallelism of gangs is policy of ours. docs/jobs.md has the differences. */
const { jobs } = DEFAULT_CONFIGURATION
const upstreamWorld: World = {
  ...worldOf(),
  config: { ...DEFAULT_CONFIGURATION, jobs: { ...jobs, parallelism: { ...jobs.parallelism, gangChanges: 'allow' } } },
}

/** Creations and updates: at least 2,000 in all, the same ones in every run. */
const CREATIONS = 1100
const UPDATES = 1000
const SEED = 20261116

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values)
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const without = (object: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
const record = (model: Record<string, fc.Arbitrary<unknown>>) => fc.record(model).map(without)

const topologyKey = oneOf(
  'topology.kubernetes.io/zone',
  'rack',
  '',
  'a/b/c',
  '/x',
  'UPPER/x',
  'ok/',
  `x/${'y'.repeat(64)}`,
  `${'p'.repeat(254)}/x`,
  '-bad',
  'a b',
)
const claimName = oneOf('gpu', 'net', '', 'has.dot', 'UPPER', 'x'.repeat(64), '-dash')
const objectName = oneOf('claim', 'with.dots', '', 'UPPER', 'x'.repeat(254))
const claim = record({
  name: maybe(claimName),
  resourceClaimName: maybe(objectName),
  resourceClaimTemplateName: maybe(objectName),
})
const policy = record({
  basic: maybe(fc.constant({})),
  gang: maybe(record({ minCount: maybe(oneOf(-1, 0, 1, 2, 4, 5, 9)) })),
})
const block = record({
  schedulingPolicy: maybe(policy),
  schedulingConstraints: maybe(
    record({ topology: maybe(fc.array(record({ key: maybe(topologyKey) }), { maxLength: 2 })) }),
  ),
  disruptionMode: maybe(record({ single: maybe(fc.constant({})), all: maybe(fc.constant({})) })),
  resourceClaims: maybe(fc.array(claim, { maxLength: 5 })),
})
const count = oneOf(0, 1, 2, 4, 8)

function job(name: string, spec: Record<string, unknown>): Job {
  const labels = { 'muster-test': name }
  const template = {
    metadata: { labels },
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example/none:1' }] },
  }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'default' },
    spec: { suspend: true, manualSelector: true, selector: { matchLabels: labels }, template, ...without(spec) },
  }
}

describe('the verdict on a Job', () => {
  let plane: ControlPlane
  let asker: Awaited<ReturnType<typeof createAsker>>

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'jobs', featureGates: 'all' })
    asker = await createAsker(plane.kubeconfig)
  })

  afterAll(async () => {
    asker?.close()
    await plane?.stop()
  })

  const ours = (object: Job, oldObject: Job | null) => {
    const verdict = reviewJobValidation(jobRequest(object, oldObject), upstreamWorld)
    return verdict.kind === 'denied' ? verdict.errors.map(({ field, type }) => `${type} ${field}`) : []
  }
  /** Errors of the block and its counts; what else a generated Job may lack is not ours to judge. */
  const theirs = ({ status, errors, message }: Judgement) => {
    if (status !== 422 && status >= 300) throw new Error(`the API server answered ${status}: ${message}`)
    return errors.map(({ field, type }) => `${type} ${field}`)
  }

  it('is the real API server in every open case', { timeout: 120_000 }, async () => {
    for (const { id, object, oldObject } of cases) {
      if (oldObject !== null)
        await asker.create(JOBS, { ...oldObject, spec: { ...oldObject.spec, suspend: true } }, false)
      const suspended = { ...object, spec: { ...object.spec, suspend: true } }
      const asked =
        oldObject === null ? asker.create(JOBS, suspended) : asker.replace(`${JOBS}/${object.metadata.name}`, suspended)
      expect({ id, errors: ours(object, oldObject) }).toEqual({ id, errors: theirs(await asked) })
    }
  })

  it(`is the real API server's for ${CREATIONS} generated Jobs`, { timeout: 300_000 }, async () => {
    const tried = tallyOf('plain', 'accepted', 'refused')
    await fc.assert(
      fc.asyncProperty(maybe(block), maybe(count), async (scheduling, parallelism) => {
        const created = job('generated', { scheduling, parallelism })
        const errors = ours(created, null)
        expect(errors).toEqual(theirs(await asker.create(JOBS, created)))
        tried.count(scheduling === undefined ? 'plain' : errors.length === 0 ? 'accepted' : 'refused')
      }),
      { numRuns: CREATIONS, seed: SEED },
    )
    tried.expectAll()
  })

  it(`is the real API server's for ${UPDATES} generated updates`, { timeout: 300_000 }, async () => {
    const bases: Job[] = []
    const valid = fc.sample(fc.tuple(maybe(block), oneOf(1, 4, 8)), { numRuns: 4000, seed: SEED })
    for (const [scheduling, parallelism] of valid) {
      const base = job(`base-${bases.length}`, { scheduling, parallelism })
      if (bases.length >= 60 || (bases.length >= 5 && scheduling === undefined)) continue
      if (ours(base, null).length > 0) continue
      const { status, message } = await asker.create(JOBS, base, false)
      expect([status, message]).toEqual([201, ''])
      bases.push(base)
    }
    expect(bases.length).toBeGreaterThan(20)
    const tried = tallyOf('accepted', 'refused')
    await fc.assert(
      fc.asyncProperty(
        fc.nat(bases.length - 1),
        maybe(block),
        // Without it the API server would default completions too, which cannot change.
        count,
        fc.boolean(),
        async (index, other, parallelism, keep) => {
          const base = bases[index] ?? bases[0]
          if (base === undefined) throw new Error('no base')
          // Half of the updates change one part of the block and leave the others as they were.
          const before = base.spec.scheduling as Record<string, unknown> | undefined
          const scheduling = keep && before !== undefined ? { ...before, ...other } : other
          const next = job(base.metadata.name ?? '', { scheduling, parallelism })
          const errors = ours(next, base)
          expect(errors).toEqual(theirs(await asker.replace(`${JOBS}/${base.metadata.name}`, next)))
          tried.count(errors.length === 0 ? 'accepted' : 'refused')
        },
      ),
      { numRuns: UPDATES, seed: SEED },
    )
    tried.expectAll()
  })
})
