import { type PatchOperation, pointer } from '../../admission/patch.ts'
import type { AdmissionRequest } from '../../admission/review.ts'
import { allowed, patched, type Verdict } from '../../admission/verdict.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { GROUPED, ROOT_GROUP } from '../../kube/vocabulary/names.ts'
import type { StringMap } from '../../kube/vocabulary/objects.ts'
import { podSpecOf } from '../../validation/jobs/job-view.ts'
import { groupedJobs } from '../../validation/jobs/jobset-rules.ts'
import { viewJobSet } from '../../validation/jobs/jobset-view.ts'
import { podGroupName, workloadName } from '../../workload/builder/names.ts'
import { groupNameFor } from '../../workload/grouped/group-name.ts'
import { isGrouped, type JobToGroup, jobToGroup, rootGroupOf } from '../../workload/grouped/job-to-group.ts'
import { jobSetMakerOf, makerOf } from '../../workload/grouped/maker.ts'
import { mapJobSet } from '../../workload/mappers/jobset.ts'
import { createsFor } from '../creators.ts'
import type { World } from '../world.ts'
import { CRON_JOBS, JOB_SETS, JOBS } from './kinds.ts'
import { moveBlock } from './moved-block.ts'
import { annotateTemplate, put } from './put.ts'

/**
 * A Job that Muster groups names its PodGroup when it is created: the field cannot be set later, and the Job controller
 * leaves a Job alone that has it. The objects themselves the reconciler makes, of those that have the mark.
 */
export function reviewGrouping(request: AdmissionRequest, world: World): Verdict {
  const { operation, subResource, object } = request
  if (subResource || (operation !== 'CREATE' && operation !== 'UPDATE')) return allowed('NotOurs')
  if (!isObject(object) || !hasPlainLabels(object)) return allowed('NotAJob')
  const { group, kind } = request.kind
  const isKind = (of: { readonly group: string; readonly kind: string }) => of.group === group && of.kind === kind
  if (isKind(CRON_JOBS)) return moveBlock(request, 'CronJob', world)
  if (isKind(JOB_SETS)) return operation === 'CREATE' ? groupJobSet(object, world) : allowed('Valid')
  if (!isKind(JOBS)) return allowed('NotAJob')
  return operation === 'CREATE' ? groupJob(request, object, world) : moveBlock(request, 'Job', world)
}

/** The API server has seen to it; files come from anywhere. */
function hasPlainLabels({ metadata }: Fields): boolean {
  if (!isObject(metadata)) return false
  const { labels } = metadata
  return labels === undefined || labels === null || isObject(labels)
}

function groupJob(request: AdmissionRequest, object: Fields, world: World): Verdict {
  const job = jobToGroup(object)
  if (job === undefined || Object.keys(podSpecOf(object.spec)).length === 0) return allowed('NotAJob')
  const maker = makerOf(job, world.scheduling(), world.config)
  if (maker.who !== 'muster') return allowed('NotGrouped')
  if (maker.of === 'root') return joinRoot(request, job, world)
  const moved = maker.of === 'block' ? moveBlock(request, 'Job', world) : allowed('Valid')
  if (moved.kind === 'denied') return moved
  // A name that is there already is one that an earlier review of the same request gave, or that of the Job from which
  // this one was copied, and nothing tells which: the last review names the group, and nobody has seen the name before.
  const name = groupNameFor(job, request.uid)
  const naming = job.groupName === name ? [] : named(name)
  return patched('Grouped', [...moved.patch, ...marked(object), ...naming])
}

function marked(object: Fields): readonly PatchOperation[] {
  const { metadata } = object as { readonly metadata: { readonly labels?: StringMap | null } }
  return isGrouped(object) ? [] : put(metadata.labels, ['metadata', 'labels'], { [GROUPED]: 'true' })
}

const named = (podGroupName: string): readonly PatchOperation[] => [
  { op: 'add', path: pointer('spec', 'template', 'spec', 'schedulingGroup'), value: { podGroupName } },
]

/** The Jobs of a JobSet share the groups of their root, whose names follow from its uid. */
function joinRoot({ userInfo }: AdmissionRequest, job: JobToGroup, { config }: World): Verdict {
  const { controller, rootGroup = '' } = job
  // A stranger who claims the root would fill its gang. The validator says so.
  if (controller === undefined || !createsFor(controller, userInfo, config)) return allowed('NotGrouped')
  return patched('Grouped', named(rootGroupName(controller, rootGroup)))
}

export const rootGroupName = ({ name, uid }: { readonly name: string; readonly uid: string }, group: string): string =>
  podGroupName(workloadName(name, uid), group)

/** Each template says which group of the root its Jobs belong to; JobSet copies annotations of templates to the Jobs. */
function groupJobSet(object: Fields, world: World): Verdict {
  const view = viewJobSet(object)
  const maker = jobSetMakerOf(object, view, world.scheduling(), world.config)
  if (maker.who !== 'muster') return allowed('NotGrouped')
  // What does not compile would wait for a group that never comes: it starts without one, and the validator warns.
  const compiled = mapJobSet(object, { version: '1.37' })
  if ('errors' in compiled) return allowed('NotGrouped')
  const { spec } = object as {
    readonly spec: { readonly replicatedJobs: readonly { readonly name: string; readonly template: unknown }[] }
  }
  const grouped = new Set(groupedJobs(view).map(({ name }) => name))
  const patch = [
    ...marked(object),
    ...spec.replicatedJobs.flatMap(({ name, template }, index) =>
      grouped.has(name) && rootGroupOf(template) !== name
        ? annotateTemplate(template, ['spec', 'replicatedJobs', index, 'template'], { [ROOT_GROUP]: name })
        : [],
    ),
  ]
  return patch.length === 0 ? allowed('AlreadyGrouped') : patched('Grouped', patch)
}
