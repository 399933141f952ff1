import type { AdmissionRequest } from '../../admission/review.ts'
import { allowed, forbiddenRequest, type Verdict } from '../../admission/verdict.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { GROUPED, ROOT_GROUP } from '../../kube/vocabulary/names.ts'
import { annotationPath, type FieldError, forbidden, labelPath, required } from '../../validation/field-error.ts'
import { viewJobSet } from '../../validation/jobs/jobset-view.ts'
import { isOwnGroupName } from '../../workload/grouped/group-name.ts'
import { excessOf, GROUPED_JOB, GROUPED_JOB_SET } from '../../workload/grouped/grouped-object.ts'
import {
  groupedMarkOf,
  isGrouped,
  type JobToGroup,
  jobToGroup,
  rootGroupOf,
} from '../../workload/grouped/job-to-group.ts'
import { isJobSet, jobSetMakerOf, makerOf } from '../../workload/grouped/maker.ts'
import { createsFor } from '../creators.ts'
import { guardVerdict, whoMay } from '../exemption.ts'
import type { World } from '../world.ts'
import { rootGroupName } from './grouping.ts'

/**
 * The marks by which Muster knows for whom it makes the scheduler's objects, and which group the Jobs of a JobSet share.
 * Who could write them would have Muster make objects of a name that he chooses, or his pods count in a gang of others;
 * who could take them away would leave pods that wait for a group for ever.
 */
export function reviewGroupMarks(request: AdmissionRequest, kind: 'Job' | 'JobSet', world: World): Verdict {
  const { operation, object, oldObject } = request
  if (!isObject(object)) return allowed('NotAJob')
  if (operation === 'UPDATE') {
    const only = whoMay(world)
    const changed = changedMarks(fieldsOf(oldObject), object)
    const grown = sizeErrors(fieldsOf(oldObject), kind).length > 0 ? [] : sizeErrors(object, kind)
    return guardVerdict(
      [...changed.map(path => forbidden(path, `is written by Muster when it is created; ${only}`)), ...grown],
      [],
      request,
      world,
    )
  }
  const claims = kind === 'Job' ? jobClaims(request, object, world) : jobSetClaims(object, world)
  const errors = [...claims, ...sizeErrors(object, kind)]
  return errors.length === 0 ? allowed('Valid') : forbiddenRequest(errors)
}

/** Its pods would wait for PodGroups that are never made. */
function sizeErrors(object: Fields, kind: 'Job' | 'JobSet'): readonly FieldError[] {
  if (!isGrouped(object)) return []
  const excess = excessOf(kind === 'Job' ? GROUPED_JOB : GROUPED_JOB_SET, object)
  return excess === undefined ? [] : [forbidden('spec', `${excess}, so its PodGroups could not be made`)]
}

const TO_REMOVE = 'is written by Muster: remove it from the manifest'

function jobClaims(request: AdmissionRequest, object: Fields, world: World): readonly FieldError[] {
  if (groupedMarkOf(object) === undefined && rootGroupOf(object) === undefined) return []
  const job = jobToGroup(object)
  if (job === undefined) return []
  const maker = makerOf({ ...job, bringsGroup: false }, world.scheduling(), world.config)
  const errors: FieldError[] = []
  const isOwn = maker.who === 'muster' && maker.of !== 'root' && isOwnGroupName(job.groupName, job)
  if (job.isMarked && !isOwn) errors.push(forbidden(labelPath(GROUPED), TO_REMOVE))
  if (job.rootGroup !== undefined) errors.push(...rootErrors(request, job, maker.who === 'muster', world))
  return errors
}

/** Only its root's controller brings a Job into the groups of its root, and then it is in them. */
function rootErrors(
  { userInfo }: AdmissionRequest,
  job: JobToGroup,
  isMade: boolean,
  { config }: World,
): readonly FieldError[] {
  const { controller, rootGroup = '', groupName } = job
  if (controller === undefined || !isJobSet(controller) || !createsFor(controller, userInfo, config)) {
    return [forbidden(annotationPath(ROOT_GROUP), TO_REMOVE)]
  }
  if (!isMade || groupName === rootGroupName(controller, rootGroup)) return []
  const detail = `JobSet ${controller.name} shares a group with this Job: another admission webhook removed its name`
  return [required('spec.template.spec.schedulingGroup', detail)]
}

function jobSetClaims(object: Fields, world: World): readonly FieldError[] {
  const marks = marksIn(object)
  if (marks.size === 0) return []
  const { who } = jobSetMakerOf(object, viewJobSet(object), world.scheduling(), world.config)
  return who === 'muster' ? [] : [...marks.keys()].map(path => forbidden(path, TO_REMOVE))
}

function changedMarks(before: Fields, after: Fields): readonly string[] {
  const [was, is] = [marksIn(before), marksIn(after)]
  return [...new Set([...was.keys(), ...is.keys()])].filter(path => was.get(path) !== is.get(path))
}

/** Every mark of grouping that an object has, by its path. */
function marksIn(object: Fields): ReadonlyMap<string, string> {
  const { replicatedJobs } = fieldsOf(object.spec)
  const templates = Array.isArray(replicatedJobs) ? replicatedJobs.map(job => fieldsOf(job).template) : []
  const found: readonly (readonly [string, string | undefined])[] = [
    [labelPath(GROUPED), groupedMarkOf(object)],
    [annotationPath(ROOT_GROUP), rootGroupOf(object)],
    ...templates.map((template, index): readonly [string, string | undefined] => [
      `spec.replicatedJobs[${index}].template.${annotationPath(ROOT_GROUP)}`,
      rootGroupOf(template),
    ]),
  ]
  return new Map(found.flatMap(([path, mark]) => (mark === undefined ? [] : [[path, mark] as const])))
}

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})
