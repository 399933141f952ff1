import { dnsLabelProblems, subdomainProblems } from '../../kube/vocabulary/formats.ts'
import { type FieldError, invalid } from '../../validation/field-error.ts'
import { MAX_INT32 } from '../../validation/numbers.ts'
import type { CompositePodGroupTemplate, PodGroupTemplate, SchedulingWorkload } from './objects.ts'

export const MAX_TEMPLATES = 8
const MAX_CLAIMS = 4
/** Groups of groups at three levels, groups of pods below. */
const MAX_DEPTH = 4

/**
 * Why the API server would refuse a Workload that a tree was compiled to, at the fields of the Workload. A controller
 * tries such a Workload again and again and its pods never start, so a person should hear of it before.
 */
export function workloadErrors({ metadata, spec }: SchedulingWorkload): readonly FieldError[] {
  const { podGroupTemplates = [], compositePodGroupTemplates = [] } = spec
  return [
    ...subdomainProblems(metadata.name, 'bytes').map(problem => invalid('metadata.name', metadata.name, problem)),
    ...groupListErrors('spec.podGroupTemplates', podGroupTemplates),
    ...compositeListErrors('spec.compositePodGroupTemplates', compositePodGroupTemplates, 1),
    ...priorityErrors(podGroupTemplates, compositePodGroupTemplates),
  ]
}

function groupListErrors(path: string, templates: readonly PodGroupTemplate[]): readonly FieldError[] {
  return [
    ...tooMany(path, templates, MAX_TEMPLATES),
    ...templates.flatMap(({ name, schedulingPolicy, resourceClaims = [] }, index) => [
      ...nameErrors(`${path}[${index}].name`, name),
      ...('gang' in schedulingPolicy
        ? sizeErrors(`${path}[${index}].schedulingPolicy.gang.minCount`, schedulingPolicy.gang.minCount)
        : []),
      ...tooMany(`${path}[${index}].resourceClaims`, resourceClaims, MAX_CLAIMS),
    ]),
  ]
}

function compositeListErrors(
  path: string,
  templates: readonly CompositePodGroupTemplate[],
  depth: number,
): readonly FieldError[] {
  return [
    ...tooMany(path, templates, MAX_TEMPLATES),
    ...templates.flatMap((template, index) => {
      const { name, schedulingPolicy, podGroupTemplates = [], compositePodGroupTemplates = [] } = template
      const at = `${path}[${index}]`
      const own = [
        ...nameErrors(`${at}.name`, name),
        ...('gang' in schedulingPolicy
          ? sizeErrors(`${at}.schedulingPolicy.gang.minGroupCount`, schedulingPolicy.gang.minGroupCount)
          : []),
      ]
      if (depth === MAX_DEPTH) return [...own, invalid(at, name, `maximum template hierarchy depth is ${MAX_DEPTH}`)]
      return [
        ...own,
        ...groupListErrors(`${at}.podGroupTemplates`, podGroupTemplates),
        ...compositeListErrors(`${at}.compositePodGroupTemplates`, compositePodGroupTemplates, depth + 1),
      ]
    }),
  ]
}

const nameErrors = (path: string, name: string): readonly FieldError[] =>
  dnsLabelProblems(name, 'bytes').map(problem => invalid(path, name, problem))

function sizeErrors(path: string, size: number): readonly FieldError[] {
  if (size < 1) return [invalid(path, size, 'must be greater than or equal to 1')]
  return size > MAX_INT32 ? [invalid(path, size, `must fit 32 bits: at most ${MAX_INT32}`)] : []
}

function tooMany(field: string, list: readonly unknown[], limit: number): readonly FieldError[] {
  if (list.length <= limit) return []
  return [{ field, type: 'TooMany', detail: `must have at most ${limit} items`, value: list.length }]
}

/** One Workload is preempted and served as one, so it has one priority. */
function priorityErrors(
  groups: readonly PodGroupTemplate[],
  composites: readonly CompositePodGroupTemplate[],
): readonly FieldError[] {
  const all = [...groups, ...composites.flatMap(nested)]
  const priorities = new Set(
    all.map(({ priorityClassName = '', priority }) => JSON.stringify([priorityClassName, priority])),
  )
  if (priorities.size <= 1) return []
  const detail =
    composites.length === 0
      ? 'detected multiple priority configurations'
      : 'all priority and priorityClassName values must be identical, detected multiple values'
  return [invalid('spec', null, detail)]
}

function nested(template: CompositePodGroupTemplate): readonly (PodGroupTemplate | CompositePodGroupTemplate)[] {
  const { podGroupTemplates = [], compositePodGroupTemplates = [] } = template
  return [template, ...compositePodGroupTemplates.flatMap(nested), ...podGroupTemplates]
}
