import type { Fields } from '../../kube/vocabulary/fields.ts'
import { type FieldError, required } from '../../validation/field-error.ts'
import { isGang } from '../../validation/jobs/gang.ts'
import { blockFor, defaultOfTheWhole, groupedJobs, jobSetErrors } from '../../validation/jobs/jobset-rules.ts'
import { type JobSetView, viewJobSet } from '../../validation/jobs/jobset-view.ts'
import type { SchedulingBlock } from '../../validation/jobs/scheduling-model.ts'
import type { WrittenBlock } from '../../validation/jobs/scheduling-spelling.ts'
import { MAX_TEMPLATES } from '../builder/check.ts'
import type { WorkloadInput, WorkloadItem } from '../builder/item.ts'
import { controllerReference } from '../builder/objects.ts'
import { objectsOf, sizedGang } from './job.ts'
import {
  ALL_OF_KUBERNETES,
  groupInput,
  type MapOptions,
  type MapResult,
  nothing,
  priorityClassOf,
  sourceOf,
} from './source.ts'

/** A JobSet, after the examples of KEP-6089: a group of groups with one group of pods per replicated job. */
export function mapJobSet(jobSet: Fields, options: MapOptions): MapResult {
  const source = sourceOf(jobSet, options)
  if (source.name === '') return { errors: [required('metadata.name', 'name or generateName is required')] }
  const view = viewJobSet(jobSet)
  const errors = jobSetErrors(undefined, view, ALL_OF_KUBERNETES)
  if (errors.length > 0) return { errors }
  if (source.controller !== undefined) {
    const owner = `${String(source.controller.kind)} ${JSON.stringify(source.controller.name)}`
    return nothing(`${owner} is its controller and speaks for it`)
  }
  const groups = groupedJobs(view).length
  if (groups === 0) return nothing('all of its pods name a group of their own')
  if (groups > MAX_TEMPLATES) return { errors: [tooManyGroups(groups)] }
  const owner = controllerReference(String(jobSet.apiVersion), 'JobSet', source.name, source.uid)
  return objectsOf(jobSetItem(source.name, view), owner, source, options, notesFor(view))
}

/** Said at the field that people know, and before thousands of groups are compiled to find out that eight are allowed. */
const tooManyGroups = (groups: number): FieldError => ({
  field: 'spec.replicatedJobs',
  type: 'TooMany',
  detail: `each becomes a group of pods, and a Workload has at most ${MAX_TEMPLATES}, so its pods would never start`,
  value: groups,
})

function jobSetItem(name: string, view: JobSetView): WorkloadItem {
  const jobs = groupedJobs(view)
  const [first] = jobs
  return {
    name: `${name}-cpgt-0`,
    defaults: { policy: defaultOfTheWhole(view), ...priorityClassOf(first?.podSpec ?? {}) },
    ...(view.root === undefined ? {} : { input: compositeInput(view.root) }),
    callbacks: [sizedGang(jobs.filter(({ pods }) => pods > 0).length)],
    children: jobs.map(job => {
      const block = blockFor(view, job)
      return {
        name: job.name,
        defaults: { policy: { basic: {} }, ...priorityClassOf(job.podSpec) },
        ...(block === undefined ? {} : { input: groupInput(block) }),
        callbacks: [sizedGang(job.pods)],
      }
    }),
  }
}

function compositeInput({ model, paths }: WrittenBlock): WorkloadInput {
  const { schedulingPolicy: policy, schedulingConstraints, disruptionMode } = model as SchedulingBlock
  const minGroupCount = policy?.gang?.minCount
  const gang = policy?.gang === undefined ? {} : { gang: minGroupCount === undefined ? {} : { minGroupCount } }
  return {
    policy: {
      composite: policy === undefined ? undefined : { ...(policy.basic === undefined ? {} : { basic: {} }), ...gang },
      path: [paths.policy],
    },
    constraints: { composite: schedulingConstraints, path: [paths.constraints] },
    disruptionMode: { composite: disruptionMode, path: [paths.disruption] },
  }
}

function notesFor({ jobs, root, isSequenced }: JobSetView): readonly string[] {
  return [
    ...[...jobs.values()]
      .filter(({ bringsGroup }) => bringsGroup)
      .map(({ name }) => `the pods of ${JSON.stringify(name)} name a group of their own and are left out`),
    ...(isSequenced && isGang(root?.model.schedulingPolicy)
      ? ['its jobs start one after the other, and a gang of them waits for all: it may never start']
      : []),
  ]
}
