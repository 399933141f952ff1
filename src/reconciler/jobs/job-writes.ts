import { HELD, QUEUED, STOPPING } from '../../kube/vocabulary/names.ts'
import type { StringMap } from '../../kube/vocabulary/objects.ts'
import { type Action, targetOf } from '../../workload/actions.ts'
import { isStopping } from '../../workload/job-facts.ts'
import type { JobKind } from '../../workload/jobs/job-kind.ts'
import {
  type Delta,
  type JobChange,
  type JobPodSet,
  type QueuedJob,
  specIn,
  type TemplateChange,
} from '../../workload/jobs/queued-job.ts'
import { workloadAnnotationIn } from '../../workload/pod-facts.ts'
import { additionsTo, conflictWith } from '../../workload/pod-set-update.ts'
import type { PodSet, PodSetUpdate, QueuedWorkload } from '../../workload/queued-workload.ts'

type PatchJob = Extract<Action, { readonly kind: 'PatchJob' }>

/** What a change that stands for itself is bound to: the object, in whatever version it is. */
function write(kind: JobKind, job: QueuedJob, change: JobChange): PatchJob {
  return { kind: 'PatchJob', resource: kind.resource, job: targetOf(job), patch: kind.patch(job, change) }
}

/** What depends on what was looked at is refused when that has changed. */
function bound(kind: JobKind, job: QueuedJob, change: JobChange): PatchJob {
  return {
    ...write(kind, job, change),
    resourceVersion: job.metadata.resourceVersion ?? '',
    ...(!job.progress.seenSuspended && { early: true }),
  }
}

/** Stopped, with a mark: whoever comes after us knows that the rest is to be done. */
export const stopWrite = (kind: JobKind, job: QueuedJob): Action =>
  write(kind, job, { suspend: true, annotations: { [STOPPING]: 'true' } })

export const queuedWrite = (kind: JobKind, job: QueuedJob): Action =>
  write(kind, job, { annotations: { [QUEUED]: 'true' } })

/** In no hurry: with the version that was looked at, for its user may just have changed his mind. */
export const heldWrite = (kind: JobKind, job: QueuedJob): Action =>
  bound(kind, job, { annotations: { [HELD]: 'true' } })

/** Before it is resumed: API servers up to 1.35 change the template of no Job that has a start time. */
export function startTimeWrite(kind: JobKind, job: QueuedJob): Action {
  const patch = { type: 'merge', body: { status: { startTime: null } } } as const
  return { ...write(kind, job, {}), subresource: 'status', patch }
}

/** A template as the rules for pods see it. */
function asPod({ metadata }: QueuedJob, podSet: JobPodSet) {
  const { labels = {}, annotations = {} } = podSet
  return { metadata: { name: metadata.name ?? '', labels, annotations }, spec: specIn(podSet) }
}

export interface Placed {
  readonly podSet: PodSet
  readonly update: PodSetUpdate
  readonly assigned: number
}

/** Why it cannot have what its admission gives: its template says something else already. */
export function startConflict(kind: JobKind, job: QueuedJob, placed: readonly Placed[]): string | undefined {
  for (const { podSet, template, update } of pairs(job, placed)) {
    const who = `${kind.resource.kind} ${job.metadata.name}, podSet ${podSet.name},`
    const conflict = conflictWith(asPod(job, template), update, who)
    if (conflict !== undefined) return conflict
  }
  return undefined
}

/** One write: a Job that could start without the rest of its admission would start in the wrong place, or too large. */
export function startWrite(kind: JobKind, job: QueuedJob, placed: readonly Placed[], admittedAt?: string): Action {
  const templates = pairs(job, placed).map(({ podSet, template, update, assigned }): TemplateChange => {
    const { labels, annotations, nodeSelector, tolerations } = additionsTo(asPod(job, template), update)
    return {
      podSet: template,
      ...(podSet.minCount !== undefined && { count: assigned }),
      ...{ ...(labels && { labels }), ...(annotations && { annotations }) },
      ...{ ...(nodeSelector && { nodeSelector }), ...(tolerations && { tolerations }) },
    }
  })
  return { ...bound(kind, job, { suspend: false, templates }), ...(admittedAt !== undefined && { admittedAt }) }
}

function pairs(job: QueuedJob, placed: readonly Placed[]) {
  return placed.flatMap(place => {
    const template = job.podSets.find(({ name }) => name === place.podSet.name)
    return template === undefined ? [] : [{ ...place, template }]
  })
}

/** What an admission has written in its templates is still there. */
export const isDirty = (job: QueuedJob): boolean =>
  isStopping(job) || job.podSets.some(podSet => Object.keys({ ...podSet.labels, ...podSet.annotations }).length > 0)

/** It was started on this Workload: a copy of a Job that was has the marks, too, and those of another. */
export const wasStartedOn = (job: QueuedJob, { metadata }: QueuedWorkload): boolean =>
  job.podSets.some(({ annotations }) => workloadAnnotationIn(annotations) === metadata.name)

/** The templates as they were charged, and the mark away that says that they are not. */
export function restoreWrite(kind: JobKind, job: QueuedJob, workload: QueuedWorkload | undefined): Action {
  const ours = workload !== undefined && (isStopping(job) || wasStartedOn(job, workload))
  const templates = job.podSets.map(podSet => {
    const charged = ours ? workload.spec.podSets.find(({ name }) => name === podSet.name) : undefined
    return restored(podSet, charged)
  })
  return bound(kind, job, { annotations: { [STOPPING]: null }, templates })
}

function restored(podSet: JobPodSet, charged: PodSet | undefined): TemplateChange {
  const marks = { podSet, labels: nothing(podSet.labels), annotations: nothing(podSet.annotations) }
  if (charged === undefined) return marks
  const { nodeSelector, tolerations } = charged.template.spec
  return {
    ...marks,
    ...(charged.minCount !== undefined && { count: charged.count }),
    nodeSelector: { ...nothing(specIn(podSet).nodeSelector ?? {}), ...nodeSelector },
    tolerations: tolerations ?? null,
  }
}

const nothing = (map: StringMap = {}): Delta => Object.fromEntries(Object.keys(map).map(key => [key, null]))
