import type { Container, OwnerReference } from '../../../src/kube/vocabulary/objects.ts'
import { type FieldError, invalid } from '../../../src/validation/field-error.ts'
import { equal } from './patches.ts'
import type { Stored } from './server.ts'

interface Template {
  readonly metadata?: { readonly labels?: Marks; readonly annotations?: Marks }
  readonly spec: Readonly<Record<string, unknown>> & {
    readonly containers: readonly Container[]
    readonly initContainers?: readonly Container[]
    readonly nodeSelector?: Marks
    readonly tolerations?: readonly { readonly key?: string }[]
    readonly affinity?: Readonly<Record<string, unknown>>
  }
}

type Marks = Readonly<Record<string, string>>

/** A Job, as far as the rules of the API server and its controller read it. */
export interface Job extends Stored {
  readonly spec: {
    readonly parallelism: number
    readonly completions?: number
    readonly backoffLimit: number
    readonly suspend: boolean
    readonly completionMode: string
    readonly ttlSecondsAfterFinished?: number
    readonly template: Template
  }
  readonly status?: {
    readonly startTime?: string
    readonly active?: number
    readonly terminating?: number
    readonly succeeded?: number
    readonly failed?: number
    readonly conditions?: readonly JobCondition[]
  }
}

export interface JobCondition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime?: string
}

export const asJob = (object: Stored): Job => object as Job
export const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid'
export const JOB_NAME = 'batch.kubernetes.io/job-name'

export const jobSays = ({ status }: Job, type: string): boolean =>
  status?.conditions?.some(condition => condition.type === type && condition.status === 'True') ?? false
export const hasEnded = (job: Job): boolean => jobSays(job, 'Complete') || jobSays(job, 'Failed')
/** The Job that controls the object, if one does. */
export const jobOf = ({ metadata }: Pick<Stored, 'metadata'>): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller, kind }) => controller && kind === 'Job')

/**
 * What defaulting adds. Without any count a Job is one pod; with only a parallelism it ends with its first success. A
 * Job without labels has those of its template, so a queue that the template names is the Job's.
 */
export function withJobDefaults(object: Stored): Stored {
  const inherited = asJob(object).spec.template.metadata?.labels
  const labels = object.metadata.labels ?? inherited
  const spec = object.spec as Partial<Job['spec']>
  const one = spec.completions == null && spec.parallelism == null ? { completions: 1 } : {}
  const defaults = { parallelism: 1, backoffLimit: 6, suspend: false, completionMode: 'NonIndexed' }
  const given = Object.fromEntries(Object.entries(spec).filter(([, value]) => value != null))
  const metadata = { ...object.metadata, ...(labels && { labels }) }
  const template = tidy(asJob(object).spec.template)
  return { ...object, metadata, spec: { ...defaults, ...one, ...given, template } }
}

/** An empty list or map is stored as none. */
function tidy({ metadata, spec }: Template): Template {
  const full = <T extends object>(fields: T): T =>
    Object.fromEntries(
      Object.entries(fields).filter(([, value]) => typeof value !== 'object' || Object.keys(value ?? {}).length > 0),
    ) as T
  return full({ metadata: metadata && full(metadata), spec: full(spec) }) as Template
}

/** The selector is the uid, and the template carries it: so nobody else's pods are ever taken for the Job's. */
export function withSelector(object: Stored): Stored {
  const { uid = '', name = '' } = object.metadata
  const { template, ...spec } = asJob(object).spec
  const own = { [CONTROLLER_UID]: uid, [JOB_NAME]: name, 'controller-uid': uid, 'job-name': name }
  const metadata = { ...template.metadata, labels: { ...template.metadata?.labels, ...own } }
  const selector = { matchLabels: { [CONTROLLER_UID]: uid } }
  return withJobDefaults({ ...object, spec: { ...spec, selector, template: { ...template, metadata } } })
}

/** What may change of a Job (ValidateJobUpdate and ValidateJobUpdateStatus of 1.37), as far as anybody here tries. */
export function jobUpdateProblem(before: Stored, after: Stored): FieldError | undefined {
  return specProblem(asJob(before), asJob(after)) ?? startTimeProblem(asJob(before), asJob(after))
}

function specProblem(before: Job, after: Job): FieldError | undefined {
  const [was, is] = [before.spec, after.spec]
  if (equal(was, is)) return undefined
  if (is.completions !== was.completions) {
    const problem = 'field is immutable'
    if (was.completionMode !== 'Indexed') return invalid('spec.completions', is.completions, problem)
    if (is.completions !== is.parallelism) {
      const why = 'can only be modified in tandem with spec.parallelism'
      return invalid('spec.completions', is.completions, `${problem}; ${why}`)
    }
  }
  if (is.completionMode !== was.completionMode) {
    return invalid('spec.completionMode', is.completionMode, 'field is immutable')
  }
  const loose = isLoose(before)
  if (equal(fixed(was.template, loose), fixed(is.template, loose))) return undefined
  return invalid(loose ? 'spec.template.spec' : 'spec.template', '', 'field is immutable')
}

/** Judged on the Job as it was, so one write may change the template and start it; none may once pods are made of it. */
function isLoose(job: Job): boolean {
  const { startTime, active = 0 } = job.status ?? {}
  return job.spec.suspend && (startTime == null || jobSays(job, 'Suspended')) && active === 0
}

function fixed(template: Template, loose: boolean): unknown {
  if (!loose) return template
  const {
    nodeSelector: _,
    tolerations: __,
    schedulingGates: ___,
    containers,
    initContainers,
    affinity,
    ...spec
  } = template.spec
  const shape = (list: readonly Container[] = []) => list.map(({ resources: _, ...container }) => container)
  const { nodeAffinity: ____, ...otherAffinity } = affinity ?? {}
  return { ...spec, otherAffinity, containers: shape(containers), initContainers: shape(initContainers) }
}

/** When it began is a fact: it changes only while the Job is suspended, or in the moment in which it goes on. */
function startTimeProblem(before: Job, after: Job): FieldError | undefined {
  const [was, is] = [before.status?.startTime, after.status?.startTime]
  if (was == null || was === is || after.spec.suspend) return undefined
  if (jobSays(before, 'Suspended') && !jobSays(after, 'Suspended')) return undefined
  return invalid('status.startTime', is, 'field is immutable for unsuspended job once set')
}
