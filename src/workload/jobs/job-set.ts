import type { Patch } from '../../kube/vocabulary/api.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import type { KubeObject } from '../../kube/vocabulary/objects.ts'
import { fields } from '../../kube/vocabulary/outline.ts'
import { JOB_SETS } from '../../kube/vocabulary/resources.ts'
import { podsOf, priorityOf, selectsItself } from './batch-job.ts'
import { isForeign, type JobKind } from './job-kind.ts'
import {
  type Delta,
  type JobChange,
  type JobPodSet,
  type Progress,
  type QueuedJob,
  specIn,
  type TemplateChange,
} from './queued-job.ts'
import {
  bounded,
  CONDITIONS,
  countIn,
  fieldsOf,
  JOB_METADATA,
  jobMetadata,
  POD_TEMPLATE,
  templateFacts,
  trueCondition,
  uncounted,
} from './templates.ts'

export const JOB_SET: JobKind = {
  framework: 'jobset.x-k8s.io/jobset',
  word: 'jobset',
  resource: JOB_SETS,
  controller: 'jobset.sigs.k8s.io/jobset-controller',
  podLabel: 'jobset.sigs.k8s.io/jobset-uid',
  // When one of its Jobs has failed it has, and only then are the others deleted.
  endsEarly: true,
  outline: {
    ...fields('apiVersion', 'kind'),
    metadata: JOB_METADATA,
    spec: {
      ...fields('suspend', 'managedBy'),
      failurePolicy: { ...fields('maxRestarts'), rules: fields('action') },
      replicatedJobs: {
        ...fields('name', 'replicas'),
        template: { spec: { ...fields('parallelism', 'completions', 'manualSelector'), template: POD_TEMPLATE } },
      },
    },
    status: {
      conditions: CONDITIONS,
      replicatedJobsStatus: fields('name', 'active', 'succeeded'),
    },
  },
  forCache,
  patch,
}

function forCache(object: KubeObject): QueuedJob {
  const { spec: written, status: known } = object as { spec?: unknown; status?: unknown }
  const [spec, status] = [fieldsOf(written), fieldsOf(known)]
  const jobs = listIn(spec.replicatedJobs)
  const states = listIn(status.replicatedJobsStatus)
  const suspend = spec.suspend === true
  const stateOf = ({ name }: Fields) => (mayRestart(spec) ? {} : (states.find(state => state.name === name) ?? {}))
  const hidden = jobs.some(({ template }) => selectsItself(fieldsOf(fieldsOf(template).spec), undefined))
  return {
    metadata: jobMetadata(object),
    spec: { suspend },
    ...(hidden
      ? uncounted(JOB_SETS.kind, object)
      : bounded(
          { ...object, kind: JOB_SETS.kind },
          jobs.map(job => podSetOf(job, stateOf(job))),
        )),
    priority: priorityOf(fieldsOf(fieldsOf(fieldsOf(jobs[0]).template).spec).template),
    foreign: isForeign(JOB_SET, spec.managedBy),
    progress: progressOf(suspend, status, states),
  }
}

const listIn = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isObject) : [])

/**
 * Whether a failure may start all its Jobs anew, those that have succeeded among them: then what they had is needed
 * again, and others must not have it (kueue#14811, #14609).
 */
function mayRestart({ failurePolicy }: Fields): boolean {
  const { maxRestarts, rules } = fieldsOf(failurePolicy)
  return (countIn(maxRestarts) ?? 0) > 0 || listIn(rules).some(({ action }) => String(action).startsWith('Restart'))
}

/** Jobs that have succeeded start no pods any more. */
function podSetOf({ name, replicas, template }: Fields, state: Fields): JobPodSet {
  const { spec } = fieldsOf(template)
  const each = podsOf(fieldsOf(spec))
  const count = (countIn(replicas) ?? 1) * each
  const done = (countIn(state.succeeded) ?? 0) * each
  return {
    name: String(name),
    count,
    needed: Math.max(count - done, 0),
    ...templateFacts(fieldsOf(spec).template),
  }
}

/** Its own status counts Jobs, not pods: that none is active does not say that no pod is left. */
function progressOf(suspended: boolean, status: Fields, states: readonly Fields[]): Progress {
  const complete = trueCondition(status, 'Completed')
  const failed = trueCondition(status, 'Failed')
  const end = complete
    ? { reason: 'Succeeded', message: complete.message || 'jobset completed successfully' }
    : failed && { reason: 'Failed', message: failed.message || 'jobset failed' }
  return {
    startTime: false,
    seenSuspended: trueCondition(status, 'Suspended') !== undefined,
    stopped: suspended && states.every(({ active }) => (countIn(active) ?? 0) === 0),
    ...(end && { end }),
  }
}

/**
 * What concerns templates is a JSON patch, since a merge patch would have to bring the whole list of replicated jobs, of which only an outline is
 * here. Lists keep their order: they cannot change, and the write has the resource version that was looked at.
 */
function patch(job: QueuedJob, { suspend, annotations, templates = [] }: JobChange): Patch {
  if (templates.length === 0) {
    const metadata = { ...(annotations && { annotations }) }
    return { type: 'merge', body: { metadata, spec: { ...(suspend !== undefined && { suspend }) } } }
  }
  return {
    type: 'json',
    body: [
      ...mapChanges('/metadata/annotations', job.metadata.annotations ?? {}, annotations ?? {}),
      ...(suspend === undefined ? [] : [{ op: 'add', path: '/spec/suspend', value: suspend }]),
      ...templates.flatMap(change => templateChanges(job.podSets.indexOf(change.podSet), change)),
    ],
  }
}

interface Operation {
  readonly op: 'add' | 'remove'
  readonly path: string
  readonly value?: unknown
}

function templateChanges(index: number, change: TemplateChange): readonly Operation[] {
  const { podSet, labels = {}, annotations = {}, nodeSelector = {}, tolerations } = change
  const path = `/spec/replicatedJobs/${index}/template/spec/template`
  const spec = specIn(podSet)
  const marked = Object.values({ ...labels, ...annotations }).some(value => value !== null)
  return [
    ...(podSet.hasMetadata || !marked ? [] : [{ op: 'add' as const, path: `${path}/metadata`, value: {} }]),
    ...mapChanges(`${path}/metadata/labels`, podSet.labels, labels),
    ...mapChanges(`${path}/metadata/annotations`, podSet.annotations, annotations),
    ...mapChanges(`${path}/spec/nodeSelector`, spec.nodeSelector ?? undefined, nodeSelector),
    ...tolerationChange(`${path}/spec/tolerations`, spec.tolerations, tolerations),
  ]
}

function tolerationChange(
  path: string,
  known: TemplateChange['tolerations'],
  wanted: TemplateChange['tolerations'],
): readonly Operation[] {
  if (wanted === undefined) return []
  if (wanted !== null) return [{ op: 'add', path, value: wanted }]
  return known == null ? [] : [{ op: 'remove', path }]
}

/** What is not there cannot be added to, nor taken away. */
function mapChanges(
  path: string,
  known: Readonly<Record<string, string>> | undefined,
  delta: Delta,
): readonly Operation[] {
  const added = Object.entries(delta).filter(([, value]) => value !== null)
  if (known === undefined) return added.length === 0 ? [] : [{ op: 'add', path, value: Object.fromEntries(added) }]
  return Object.entries(delta).flatMap(([key, value]): readonly Operation[] => {
    const at = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (value !== null) return [{ op: 'add', path: at, value }]
    return Object.hasOwn(known, key) ? [{ op: 'remove', path: at }] : []
  })
}
