import { builtinEngine } from '../../src/engines/builtin/builtin.ts'
import type { Condition, KubeObject } from '../../src/kube/vocabulary/objects.ts'
import { decideJob } from '../../src/reconciler/jobs/decide-job.ts'
import type { JobUnit } from '../../src/reconciler/jobs/job-unit.ts'
import type { Action } from '../../src/workload/actions.ts'
import { BATCH_JOB } from '../../src/workload/jobs/batch-job.ts'
import type { JobKind } from '../../src/workload/jobs/job-kind.ts'
import { NO_DEFAULTS } from '../../src/workload/jobs/pod-defaults.ts'
import type { QueuedJob } from '../../src/workload/jobs/queued-job.ts'
import type { PodSetUpdate, QueuedWorkload } from '../../src/workload/queued-workload.ts'

export const NOW = '2026-11-16T10:10:00Z'
export const ENGINE = builtinEngine([{ name: 'team-a', limits: { pods: 64 } }])

export interface JobOptions {
  readonly name?: string
  readonly uid?: string
  readonly queue?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly metadata?: object
  readonly spec?: object
  readonly template?: object
  readonly podSpec?: object
  readonly status?: object
}

/** A Job as the API server has it, in the queue `team-a`, suspended and marked unless something else is said. */
export function job(options: JobOptions = {}): KubeObject & { spec: object; status: object } {
  const { name = 'train', uid = 'u1', queue = 'team-a', annotations = { 'muster.dev/queued': 'true' } } = options
  const requests = { cpu: '1' }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      ...{ name, uid, namespace: 'ml', resourceVersion: '100', creationTimestamp: '2026-11-16T10:00:00Z' },
      labels: { 'kueue.x-k8s.io/queue-name': queue },
      annotations,
      ...options.metadata,
    },
    spec: {
      ...{ suspend: true, parallelism: 4, completions: 4 },
      template: {
        metadata: { labels: { app: 'train' } },
        spec: { containers: [{ name: 'main', image: 'train', resources: { requests } }], ...options.podSpec },
        ...options.template,
      },
      ...options.spec,
    },
    status: { ...options.status },
  }
}

/** What the cache has of it. */
export const cached = (options: JobOptions = {}): QueuedJob => BATCH_JOB.forCache(job(options))

/** What the template of a started Job has more than before. */
export const startedTemplate = (workload: QueuedWorkload, podSpec: object = {}) => ({
  metadata: {
    labels: {
      app: 'train',
      'kueue.x-k8s.io/podset': 'main',
      'kueue.x-k8s.io/local-queue-name': 'team-a',
      'kueue.x-k8s.io/cluster-queue-name': 'team-a',
    },
    annotations: { 'kueue.x-k8s.io/workload': workload.metadata.name },
  },
  spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }], ...podSpec },
})

export const RUNNING = { suspend: false }
export const SUSPENDED = { conditions: [{ type: 'Suspended', status: 'True', message: 'Job suspended' }] }

export const jobUnit = (
  of: QueuedJob | undefined,
  workload?: QueuedWorkload,
  more: Partial<JobUnit> = {},
): JobUnit => ({
  kind: BATCH_JOB,
  namespace: 'ml',
  name: of?.metadata.name ?? 'train',
  job: of,
  workload,
  orphans: [],
  defaults: NO_DEFAULTS,
  ...more,
})

export const decided = (unit: JobUnit) => decideJob(unit, ENGINE, NOW)
export const acts = (unit: JobUnit): readonly Action[] => decided(unit).actions
export const told = (unit: JobUnit) => decided(unit).standings.map(({ reason, note }) => `${reason}: ${note}`)

/** The Workload that is made for the Job, as the API server would return it. */
export function workloadFor(
  of: QueuedJob,
  conditions: readonly Condition[] = [],
  more: { readonly place?: PodSetUpdate; readonly counts?: readonly number[]; readonly kind?: JobKind } = {},
): QueuedWorkload {
  const suspended = { ...of, spec: { suspend: true }, progress: { ...of.progress, stopped: true } }
  const marked = { ...suspended, metadata: { ...of.metadata, annotations: { 'muster.dev/queued': 'true' } } }
  const action = acts(jobUnit(marked, undefined, more.kind && { kind: more.kind })).find(
    ({ kind }) => kind === 'EnsureObject',
  )
  if (action?.kind !== 'EnsureObject') throw new Error('no Workload is made')
  const wanted = action.wanted as QueuedWorkload
  const admitted = conditions.some(({ type, status }) => type === 'QuotaReserved' && status === 'True')
  const podSetAssignments = wanted.spec.podSets.map(({ name, count }, index) => ({
    name,
    count: more.counts?.[index] ?? count,
    ...more.place,
  }))
  return {
    ...wanted,
    metadata: { ...wanted.metadata, uid: 'wl-uid', resourceVersion: '200', creationTimestamp: NOW },
    status: { conditions, ...(admitted && { admission: { clusterQueue: 'team-a', podSetAssignments } }) },
  }
}
