import { type FieldError, invalid, required } from '../../validation/field-error.ts'
import { blockOf, viewJob } from '../../validation/jobs/job-view.ts'
import type { WrittenBlock } from '../../validation/jobs/scheduling-spelling.ts'
import { type Fields, isRecord } from '../../validation/jobs/scheduling-tree.ts'
import { jobErrors } from './job.ts'
import { podSpecOf, priorityClassOf } from './source.ts'

/** What counts of a replicated job of a JobSet. */
export interface Replicated {
  readonly name: string
  /** Of all its replicas together. */
  readonly pods: number
  readonly priorityClassName?: string
  /** The block in its template. */
  readonly block?: WrittenBlock
  /** Its pods name a group that somebody else makes. */
  readonly bringsGroup: boolean
}

export function readReplicatedJobs(spec: Fields): {
  readonly jobs: readonly Replicated[]
  /** Of all of them, also of those with errors. */
  readonly names: ReadonlySet<string>
  readonly errors: readonly FieldError[]
} {
  const path = 'spec.replicatedJobs'
  const { replicatedJobs: list } = spec
  if (!Array.isArray(list) || list.length === 0) {
    return { jobs: [], names: new Set(), errors: [required(path, 'a JobSet has at least one replicated job')] }
  }
  const jobs: Replicated[] = []
  const names = new Set<string>()
  const errors: FieldError[] = []
  for (const [index, value] of list.entries()) {
    const { name } = isRecord(value) ? value : {}
    if (typeof name === 'string' && names.has(name)) {
      errors.push({ field: `${path}[${index}].name`, type: 'Duplicate', detail: '', value: name })
      continue
    }
    if (typeof name === 'string') names.add(name)
    const read = readReplicatedJob(value, `${path}[${index}]`)
    if ('errors' in read) errors.push(...read.errors)
    else jobs.push(read)
  }
  return { jobs, names, errors }
}

function readReplicatedJob(value: unknown, path: string): Replicated | { readonly errors: readonly FieldError[] } {
  if (!isRecord(value)) return { errors: [invalid(path, value, 'must be an object with name and template')] }
  const { name, template } = value
  const replicas = value.replicas ?? 1
  if (typeof name !== 'string' || name === '') return { errors: [required(`${path}.name`, '')] }
  const view = viewJob(template, `${path}.template.`, name)
  if (!('prefix' in view)) return { errors: view }
  // Its Jobs carry the block of the template, so it is judged as theirs will be.
  const errors: FieldError[] = [...jobErrors(view)]
  if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0) {
    errors.push(invalid(`${path}.replicas`, replicas, 'must be a whole number that is not negative, without quotes'))
  }
  if (errors.length > 0) return { errors }
  const podSpec = podSpecOf(isRecord(template) ? template.spec : undefined)
  const { schedulingGroup } = podSpec
  return {
    name,
    pods: Number(replicas) * view.parallelism,
    ...priorityClassOf(podSpec),
    ...(blockOf(view) === undefined ? {} : { block: blockOf(view) }),
    bringsGroup: schedulingGroup !== undefined && schedulingGroup !== null,
  }
}
