import type { AdmissionRequest } from '../../../../src/admission/review.ts'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import { type Configuration, DEFAULT_CONFIGURATION } from '../../../../src/config/configuration.ts'
import { SCHEDULING } from '../../../../src/kube/vocabulary/names.ts'
import type { KubeObject, StringMap } from '../../../../src/kube/vocabulary/objects.ts'
import { reviewJobValidation } from '../../../../src/webhooks/jobs/jobs.ts'
import type { Found, World } from '../../../../src/webhooks/world.ts'
import { worldOf } from '../pods/fixtures.ts'

export interface JobOptions {
  readonly name?: string
  readonly spec?: Readonly<Record<string, unknown>>
  readonly scheduling?: unknown
  readonly metadata?: Readonly<Record<string, unknown>>
}

export type Job = KubeObject & { readonly spec: Readonly<Record<string, unknown>> }

/** Eight pods in parallel, eight completions. */
export function jobOf({ name = 'train', spec, scheduling, metadata }: JobOptions = {}): Job {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'team-a', ...metadata },
    spec: {
      parallelism: 8,
      completions: 8,
      completionMode: 'Indexed',
      ...spec,
      ...(scheduling === undefined ? {} : { scheduling }),
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'train:1' }] } },
    },
  }
}

const PLURALS: Readonly<Record<string, string>> = {
  Job: 'jobs',
  CronJob: 'cronjobs',
  JobSet: 'jobsets',
  Deployment: 'deployments',
  StatefulSet: 'statefulsets',
}

export function jobRequest(object: KubeObject, old: KubeObject | null = null, subResource?: string): AdmissionRequest {
  const kind = object.kind ?? 'Job'
  const [group = '', version = ''] = (object.apiVersion ?? 'batch/v1').split('/')
  return {
    uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
    kind: { group, version, kind },
    resource: { group, version, resource: PLURALS[kind] ?? '' },
    operation: old === null ? 'CREATE' : 'UPDATE',
    namespace: object.metadata.namespace ?? 'team-a',
    name: object.metadata.name ?? '',
    object,
    oldObject: old,
    ...(subResource === undefined ? {} : { subResource }),
  }
}

type Jobs = Configuration['jobs']

export function jobWorld(
  options: {
    readonly allow?: Partial<Jobs['scheduling']['allow']>
    readonly namespaces?: Jobs['scheduling']['namespaces']
    readonly parallelism?: Partial<Jobs['parallelism']>
    readonly namespaceLabels?: Found<StringMap>
    readonly controllers?: Configuration['guard']['controllers']
  } = {},
): World {
  const { scheduling, parallelism } = DEFAULT_CONFIGURATION.jobs
  const { namespaceLabels } = options
  return {
    ...worldOf(namespaceLabels === undefined ? {} : { namespaceLabels }),
    config: {
      ...DEFAULT_CONFIGURATION,
      guard: {
        ...DEFAULT_CONFIGURATION.guard,
        controllers: { ...DEFAULT_CONFIGURATION.guard.controllers, ...options.controllers },
      },
      jobs: {
        scheduling: { allow: { ...scheduling.allow, ...options.allow }, namespaces: options.namespaces ?? [] },
        parallelism: { ...parallelism, ...options.parallelism },
      },
    },
  }
}

export const created = (options: JobOptions, world: World = jobWorld()): Verdict =>
  reviewJobValidation(jobRequest(jobOf(options)), world)

export const updated = (was: JobOptions, is: JobOptions, world: World = jobWorld()): Verdict =>
  reviewJobValidation(jobRequest(jobOf(is), jobOf(was)), world)

/** The path of the annotation. */
export const A = `metadata.annotations[${SCHEDULING}]`
export const annotated = (text: string): JobOptions => ({ metadata: { annotations: { [SCHEDULING]: text } } })
export const gang = (minCount?: number) => ({ schedulingPolicy: { gang: minCount === undefined ? {} : { minCount } } })
export const BASIC = { schedulingPolicy: { basic: {} } }
export const ZONE = { schedulingConstraints: { topology: [{ key: 'topology.kubernetes.io/zone' }] } }
