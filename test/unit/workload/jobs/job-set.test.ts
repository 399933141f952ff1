import { describe, expect, it } from 'vitest'
import { isObject } from '../../../../src/kube/vocabulary/fields.ts'
import type { KubeObject } from '../../../../src/kube/vocabulary/objects.ts'
import { outlined } from '../../../../src/kube/vocabulary/outline.ts'
import type { JobUnit } from '../../../../src/reconciler/jobs/job-unit.ts'
import { JOB_SET } from '../../../../src/workload/jobs/job-set.ts'
import { acts, jobUnit, workloadFor } from '../../../support/jobs.ts'
import { ADMITTED, holds } from '../../../support/workloads.ts'

const PLACE = { nodeSelector: { pool: 'a' }, tolerations: [{ key: 'gpu', operator: 'Exists' }] }
const QUEUED = { 'muster.dev/queued': 'true' }

const podTemplate = (template: object = {}) => ({ spec: { containers: [{ name: 'main' }] }, ...template })
const replicated = (name: string, replicas: number, parallelism: number, template: object = {}) => ({
  name,
  replicas,
  template: { spec: { parallelism, completions: parallelism, template: podTemplate(template) } },
})

/** A JobSet of one driver with two pods and two workers with three each. */
const jobSet = (spec: object = {}, status: object = {}, annotations: object = QUEUED): KubeObject => {
  const whole = {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: {
      ...{ name: 'train', namespace: 'ml', uid: 'u1', resourceVersion: '100' },
      labels: { 'kueue.x-k8s.io/queue-name': 'team-a' },
      annotations,
    },
    spec: {
      suspend: true,
      replicatedJobs: [replicated('driver', 1, 2), replicated('workers', 2, 3, { metadata: { labels: { app: 'a' } } })],
      ...spec,
    },
    status,
  }
  return outlined(whole, JOB_SET.outline) as KubeObject
}
const cached = (...of: Parameters<typeof jobSet>) => JOB_SET.forCache(jobSet(...of))
const unit = (...[of, workload]: Parameters<typeof jobUnit>): JobUnit => jobUnit(of, workload, { kind: JOB_SET })

describe('a JobSet', () => {
  const waiting = cached()
  const admitted = workloadFor(waiting, ADMITTED, { kind: JOB_SET, place: PLACE })

  it('that is wanted back keeps its marks until no pod is left: its own status counts Jobs, and not pods', () => {
    const back = cached({}, {}, { ...QUEUED, 'muster.dev/stopping': 'true' })
    expect(acts(unit(back, admitted))).toMatchObject([
      {
        kind: 'UnlessPodsLeft',
        actions: [
          {
            kind: 'PatchJob',
            patch: { body: expect.arrayContaining([{ op: 'remove', path: expect.stringContaining('stopping') }]) },
          },
          { kind: 'SetStatus', status: { admission: null } },
        ],
      },
    ])
  })

  it('has a podSet for each replicated job, and gives back those that have succeeded (E30)', () => {
    expect(admitted.metadata.name).toMatch(/^jobset-train-[0-9a-f]{5}$/)
    expect(admitted.metadata.ownerReferences).toMatchObject([
      { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet' },
    ])
    expect(admitted.spec.podSets.map(({ name, count }) => [name, count])).toEqual([
      ['driver', 2],
      ['workers', 6],
    ])
    const running = cached({ suspend: false }, { replicatedJobsStatus: [{ name: 'workers', succeeded: 1, active: 1 }] })
    expect(acts(unit(running, admitted))).toMatchObject([
      { kind: 'SetStatus', status: { reclaimablePods: [{ name: 'workers', count: 3 }] } },
    ])
  })

  it('has no podSet for what has no replicas', () => {
    const one = cached({ replicatedJobs: [replicated('driver', 1, 2), replicated('workers', 0, 3)] })
    expect(workloadFor(one, [], { kind: JOB_SET }).spec.podSets.map(({ name }) => name)).toEqual(['driver'])
  })

  it('is started and restored template by template, in one write each', () => {
    const body = jobSet()
    const before = structuredClone(body)
    apply(body, acts(unit(waiting, admitted)))
    expect(body).toMatchObject({
      spec: {
        suspend: false,
        replicatedJobs: [
          {
            template: {
              spec: { template: { metadata: { labels: { 'kueue.x-k8s.io/podset': 'driver' } }, spec: PLACE } },
            },
          },
          {
            template: {
              spec: { template: { metadata: { labels: { 'kueue.x-k8s.io/podset': 'workers' } }, spec: PLACE } },
            },
          },
        ],
      },
    })
    const evicted = workloadFor(waiting, [...ADMITTED, holds('Evicted')], { kind: JOB_SET, place: PLACE })
    const stopping = { ...QUEUED, 'muster.dev/stopping': 'true' }
    Object.assign(body.metadata, { annotations: stopping })
    Object.assign((body as { spec?: object }).spec ?? {}, { suspend: true })
    const [whenNoneIsLeft] = acts(unit(JOB_SET.forCache(body), evicted))
    if (whenNoneIsLeft?.kind !== 'UnlessPodsLeft') throw new Error(`unexpected ${whenNoneIsLeft?.kind}`)
    apply(body, whenNoneIsLeft.actions.slice(0, 1))
    expect(pruned({ ...body, metadata: {} })).toEqual(pruned({ ...before, metadata: {} }))
    expect(body.metadata.annotations).toEqual(QUEUED)
  })

  it('gives its quota back when no pod of it is left, for its status counts only Jobs', () => {
    const evicted = workloadFor(waiting, [...ADMITTED, holds('Evicted')], { kind: JOB_SET })
    expect(acts(unit(waiting, evicted))).toMatchObject([
      { kind: 'UnlessPodsLeft', labelSelector: 'jobset.sigs.k8s.io/jobset-uid=u1', actions: [{ kind: 'SetStatus' }] },
    ])
    const busy = cached({}, { replicatedJobsStatus: [{ name: 'workers', active: 1 }] })
    expect(acts(unit(busy, evicted))).toEqual([])
  })

  it('is stopped with a write that needs no annotations to be there', () => {
    const bare = JOB_SET.forCache({ ...jobSet({ suspend: false }, {}, QUEUED) })
    expect(acts(unit(bare))).toMatchObject([{ kind: 'PatchJob', patch: { type: 'merge' } }])
  })

  it('ends its Workload with its own message', () => {
    const done = cached({}, { conditions: [{ type: 'Completed', status: 'True', message: 'jobset completed' }] })
    const end = { status: { conditions: [{}, {}, { reason: 'Succeeded', message: 'jobset completed' }] } }
    expect(acts(unit(done, admitted))).toMatchObject([{ kind: 'UnlessPodsLeft', actions: [end] }])
  })

  it('keeps its quota when it has failed, until those of its Jobs that still ran have no pods left', () => {
    const failed = cached({}, { conditions: [{ type: 'Failed', status: 'True', message: 'jobset failed' }] })
    expect(acts(unit(failed, admitted))).toMatchObject([
      { kind: 'UnlessPodsLeft', labelSelector: 'jobset.sigs.k8s.io/jobset-uid=u1', actions: [{ kind: 'SetStatus' }] },
    ])
  })

  it("is another queue's when another controller looks after it", () => {
    expect(cached({ managedBy: 'kueue.x-k8s.io/multikueue' }).foreign).toBe(true)
    expect(cached({ managedBy: 'jobset.sigs.k8s.io/jobset-controller' }).foreign).toBe(false)
  })
})

/** What an API server makes no difference of: a map that is empty, and none. */
function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pruned)
  if (!isObject(value)) return value
  const kept = Object.entries(value).map(([key, field]) => [key, pruned(field)] as const)
  return Object.fromEntries(kept.filter(([, field]) => !isObject(field) || Object.keys(field).length > 0))
}

/** A JSON patch as an API server applies it: what is not there cannot be added to. */
function apply(object: object, actions: ReturnType<typeof acts>): void {
  const [action] = actions
  if (action?.kind !== 'PatchJob' || action.patch.type !== 'json') throw new Error('no JSON patch')
  for (const { op, path, value } of action.patch.body as { op: string; path: string; value?: unknown }[]) {
    const keys = path
      .slice(1)
      .split('/')
      .map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = keys.pop() ?? ''
    let at: unknown = object
    for (const key of keys) at = Array.isArray(at) ? at[Number(key)] : isObject(at) ? at[key] : undefined
    if (!isObject(at)) throw new Error(`${path} is not there`)
    if (op === 'remove' && !Object.hasOwn(at, last)) throw new Error(`${path} is not there`)
    if (op === 'remove') Reflect.deleteProperty(at, last)
    else Reflect.set(at, last, value)
  }
}
