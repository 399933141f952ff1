import { applyPatch } from '../../../../src/admission/patch.ts'
import type { AdmissionRequest, UserInfo } from '../../../../src/admission/review.ts'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import type { KubeObject, OwnerReference, StringMap } from '../../../../src/kube/vocabulary/objects.ts'
import { reviewJobValidation } from '../../../../src/webhooks/jobs/jobs.ts'
import { reviewJobMutation } from '../../../../src/webhooks/jobs/mutation.ts'
import type { World } from '../../../../src/webhooks/world.ts'
import { controller, K, type WorldOptions, worldOf } from '../pods/fixtures.ts'
import { jobRequest } from './fixtures.ts'

export const ALICE: UserInfo = { username: 'alice', groups: ['system:authenticated'] }
export const JOBSET_CONTROLLER: UserInfo = {
  username: 'system:serviceaccount:jobset-system:jobset-controller-manager',
}
export const CRON_CONTROLLER: UserInfo = { username: 'system:serviceaccount:kube-system:cronjob-controller' }
export const JOB_CONTROLLER: UserInfo = { username: 'system:serviceaccount:kube-system:job-controller' }
export const MUSTER: UserInfo = { username: 'system:serviceaccount:muster-system:muster' }

export const QUEUED = 'muster.dev/queued'
export const HELD = 'muster.dev/held'
export const STOPPING = 'muster.dev/stopping'
export const CHILD_OF = 'muster.dev/child-of'
export const QUEUE = `${K}queue-name`

const HELD_FRAMEWORKS = ['pod', 'batch/job', 'jobset.x-k8s.io/jobset']

/** A world whose engine queues Jobs and JobSets. */
export function queueWorld(options: WorldOptions = {}): World {
  return { ...worldOf({ frameworks: HELD_FRAMEWORKS, ...options }), holds: HELD_FRAMEWORKS }
}

export interface QueuedOptions {
  readonly labels?: StringMap
  readonly annotations?: StringMap
  readonly owners?: readonly OwnerReference[]
  readonly spec?: Readonly<Record<string, unknown>>
  readonly templateLabels?: StringMap
  readonly status?: unknown
  readonly deletionTimestamp?: string
}

/** Keys without a prefix get Kueue's. Four pods in parallel, six completions, as in the cases of the specification. */
export function job(options: QueuedOptions = {}): KubeObject {
  const { templateLabels: labels } = options
  return object(options, 'batch/v1', 'Job', {
    parallelism: 4,
    completions: 6,
    template: { ...(labels && { metadata: { labels: keyed(labels) } }), spec: { containers: [{ name: 'main' }] } },
  })
}

/** One Job of two pods, two Jobs of three. */
export function jobSet(options: QueuedOptions = {}): KubeObject {
  const replicated = (name: string, replicas: number, parallelism: number) => ({
    name,
    replicas,
    template: { spec: { parallelism, template: { spec: { containers: [] } } } },
  })
  const replicatedJobs = [replicated('leader', 1, 2), replicated('workers', 2, 3)]
  return object(options, 'jobset.x-k8s.io/v1alpha2', 'JobSet', { replicatedJobs })
}

function object(options: QueuedOptions, apiVersion: string, kind: string, spec: object): KubeObject {
  const { labels, annotations, owners, status, deletionTimestamp } = options
  const made = {
    apiVersion,
    kind,
    metadata: {
      name: 'train',
      namespace: 'team-a',
      uid: 'uid-of-train',
      ...(labels && { labels: keyed(labels) }),
      ...(annotations && { annotations: keyed(annotations) }),
      ...(owners && { ownerReferences: owners }),
      ...(deletionTimestamp && { deletionTimestamp }),
    },
    spec: { ...spec, ...options.spec },
    ...(status !== undefined && { status }),
  }
  return made
}

const keyed = (map: StringMap): StringMap =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key.includes('/') ? key : K + key, value]))

/** As Muster keeps it while it waits, and as it runs when it was admitted. */
export const waiting = (options: QueuedOptions = {}, make = job): KubeObject =>
  make({
    ...options,
    labels: { 'queue-name': 'q', ...options.labels },
    annotations: { [QUEUED]: 'true', ...options.annotations },
    spec: { suspend: true, ...options.spec },
  })
export const running = (options: QueuedOptions = {}, make = job): KubeObject =>
  waiting({ ...options, spec: { suspend: false, ...options.spec } }, make)

export const JOB_SET_OWNER = controller('jobset.x-k8s.io/v1alpha2', 'JobSet', 'set', 'uid-of-set')
export const queuedSet: KubeObject = {
  apiVersion: 'jobset.x-k8s.io/v1alpha2',
  kind: 'JobSet',
  metadata: { name: 'set', namespace: 'team-a', uid: 'uid-of-set', labels: { [QUEUE]: 'q' } },
}
export const ROOT = 'jobset.x-k8s.io/jobset:set'

export interface Asked {
  readonly old?: KubeObject
  readonly user?: UserInfo
  readonly world?: World
  readonly subResource?: string
}

const requestOf = (made: KubeObject, { old, user = ALICE, subResource }: Asked): AdmissionRequest => ({
  ...jobRequest(made, old ?? null, subResource),
  userInfo: user,
})

export const mutated = (made: KubeObject, asked: Asked = {}): Verdict =>
  reviewJobMutation(requestOf(made, asked), asked.world ?? queueWorld())

export const validated = (made: KubeObject, asked: Asked = {}): Verdict =>
  reviewJobValidation(requestOf(made, asked), asked.world ?? queueWorld())

/** What is stored, and what was said about it: mutation, then validation of the result. */
export function passed(made: KubeObject, asked: Asked = {}): { readonly stored: Stored; readonly verdict: Verdict } {
  const first = mutated(made, asked)
  if (first.kind === 'denied') return { stored: made as Stored, verdict: first }
  const stored = applyPatch(made, first.patch) as Stored
  return { stored, verdict: validated(stored, asked) }
}

export type Stored = KubeObject & { readonly spec: { readonly suspend?: boolean; readonly parallelism?: number } }
