import type { AdmissionRequest } from '../../admission/review.ts'
import type { Configuration } from '../../config/configuration.ts'
import { neverFits } from '../../engines/builtin/messages.ts'
import { least, workloadRequests } from '../../engines/builtin/requests.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { frameworkOf } from '../../kube/vocabulary/frameworks.ts'
import { QUEUE_NAME } from '../../kube/vocabulary/names.ts'
import { nearest } from '../../kube/vocabulary/nearest.ts'
import type { KubeObject, Pod, PodSpec } from '../../kube/vocabulary/objects.ts'
import { labelPath } from '../../validation/field-error.ts'
import type { World } from '../../webhooks/world.ts'
import { composeSingle } from '../../workload/compose.ts'
import { groupNameOf } from '../../workload/group.ts'
import { frameworkKind } from '../../workload/jobs/job-kinds.ts'
import { queueIn } from '../../workload/pod-facts.ts'
import type { PodSet, QueuedWorkload } from '../../workload/queued-workload.ts'
import { amounts } from '../../workload/requests.ts'
import { podTemplatesIn } from '../templates.ts'
import type { Found } from './catalog.ts'
import { conflictFindings } from './conflicts.ts'
import { isTexts } from './metadata.ts'
import { replicasOf } from './pods-made.ts'

const FIELD = labelPath(QUEUE_NAME)

/** What is wrong with the queue that an object names. Rules of the webhooks are not said twice. */
export function queueFindings(given: Fields, request: AdmissionRequest, world: World): readonly Found[] {
  const { kind } = request
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
  const framework = frameworkOf({ apiVersion, kind: kind.kind })
  const object = framework === 'batch/job' ? labelledJob(given) : given
  const queue = queueOf(object)
  if (queue === '') return []
  const found = foundInQueue(object, queue, framework, request, world)
  if (object === given) return found
  return found.map(each => (each.field === FIELD ? { ...each, field: `spec.template.${FIELD}` } : each))
}

/** The API server gives a Job without labels those of its pods. */
function labelledJob(object: Fields): Fields {
  const { metadata, spec } = object
  const { labels, ...rest } = isObject(metadata) ? metadata : ({} as Fields)
  const template = isObject(spec) && isObject(spec.template) ? spec.template : {}
  const isBare = !isObject(labels) || Object.keys(labels).length === 0
  if (!isBare || !isObject(template.metadata)) return object
  return { ...object, metadata: { ...rest, labels: template.metadata.labels } }
}

function foundInQueue(
  object: Fields,
  queue: string,
  framework: string | undefined,
  request: AdmissionRequest,
  world: World,
): readonly Found[] {
  if (!isQueued(framework, world)) return labelFindings(object, request, world)
  const conflicts = conflictFindings(object, request.kind, queue, world.config)
  // What it asks for counts only where there is a limit.
  if (limitsOf(queue, world.config) === undefined) return [...unlisted(queue, world.config), ...conflicts]
  const podSets = podSetsIn(object, framework)
  return [
    ...unlisted(queue, world.config),
    ...conflicts,
    ...tooSmall(queue, podSets, world.config),
    ...unlimited(queue, podSets, world.config),
  ]
}

/** What waits for its owner names a queue in vain; the same one does no harm. */
export function ownerFindings(object: KubeObject, world: World): readonly Found[] {
  const queue = queueOf(object)
  const { namespace = '', ownerReferences } = object.metadata
  const queues = (ownerReferences ?? []).map(reference => {
    const owner = world.owner(namespace, reference)
    return typeof owner === 'string' ? '' : queueIn(owner.labels)
  })
  const [first] = queues
  if (queue === '' || !first || queues.includes(queue)) return []
  const message = `it waits in queue "${first}", with the object that makes it: queue "${queue}" has no effect here`
  return [{ code: 'LabelWithoutEffect', message, field: FIELD }]
}

/** Pods that wait one by one, and of which the queue never lets in all at once. */
export function replicaFindings(
  object: Fields,
  kind: { readonly group: string; readonly kind: string },
  config: Configuration,
): readonly Found[] {
  const count = replicasOf(object, kind)
  if (count === undefined || count < 2 || queueOf(object) !== '') return []
  return podTemplatesIn(object, kind, config).flatMap(({ template }) => {
    const podSets = podSetsIn(template, 'pod').map(podSet => ({ ...podSet, count }))
    return tooSmall(queueOf(template), podSets, config).map(({ code, message }) => ({
      code,
      severity: 'warning' as const,
      message: `not all of its ${count} pods start: ${message}`,
      field: 'spec.replicas',
    }))
  })
}

function queueOf(object: unknown): string {
  const { metadata } = isObject(object) ? object : {}
  const { labels } = isObject(metadata) ? metadata : {}
  return isObject(labels) && isTexts(labels) ? queueIn(labels) : ''
}

const isQueued = (framework: string | undefined, { holds, config }: World): boolean =>
  framework !== undefined && holds.includes(framework) && config.integrations.frameworks.includes(framework)

/** Kinds that carry the label because an engine has written it there. */
const ENGINE_GROUPS = ['kueue.x-k8s.io', 'workloads.muster.dev']

function labelFindings(object: Fields, { kind }: AdmissionRequest, { config }: World): readonly Found[] {
  if (ENGINE_GROUPS.includes(kind.group)) return []
  const { spec } = object
  const jobTemplate = isObject(spec) ? spec.jobTemplate : undefined
  const templates = podTemplatesIn(object, kind, config).map(({ template }) => template)
  // Who writes the label where it counts may write it here, too.
  if ([jobTemplate, ...templates].some(template => queueOf(template) !== '')) return []
  const message = `nothing queues a ${kind.kind} here, so its queue label holds nothing back; pods wait that have it themselves`
  return [{ code: 'LabelWithoutEffect', message, field: FIELD }]
}

/** Where any name is a queue, one that is nearly a listed one is hardly meant. */
function unlisted(queue: string, { engine, queues, unlistedQueues }: Configuration): readonly Found[] {
  const listed = queues.map(({ name }) => name)
  if (engine !== 'builtin' || unlistedQueues === 'refuse' || listed.includes(queue)) return []
  const close = nearest(queue, listed)
  if (close === undefined) return []
  const message = `queue "${queue}" is not listed, so it has no limits; did you mean "${close}"?`
  return [{ code: 'QueueUnlisted', message, field: FIELD }]
}

function limitsOf(
  queue: string,
  { engine, queues }: Configuration,
): Configuration['queues'][number]['limits'] | undefined {
  return engine === 'builtin' ? queues.find(({ name }) => name === queue)?.limits : undefined
}

/** Why a queue can never hold these podSets, by the engine's own reckoning. */
export function tooSmall(queue: string, podSets: readonly PodSet[], config: Configuration): readonly Found[] {
  const limits = limitsOf(queue, config)
  if (limits === undefined || podSets.length === 0) return []
  const workload: QueuedWorkload = { metadata: {}, spec: { queueName: queue, podSets } }
  const found = (message: string): readonly Found[] => [{ code: 'QueueTooSmall', message, field: FIELD }]
  try {
    const problem = neverFits(queue, workloadRequests(workload, least), amounts(limits))
    return problem === undefined ? [] : found(problem)
  } catch (error) {
    return found(`what it asks for cannot be counted: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** A resource by a name that is not that of the limit passes the limit. */
function unlimited(queue: string, podSets: readonly PodSet[], config: Configuration): readonly Found[] {
  const limits = limitsOf(queue, config)
  if (limits === undefined || podSets.length === 0) return []
  const limited = Object.keys(limits)
  const asked = new Set(podSets.flatMap(({ template }) => resourcesIn(template.spec)))
  return [...asked].flatMap(resource => {
    const close = limited.includes(resource) ? undefined : limited.find(each => isSlipOf(resource, each))
    if (close === undefined) return []
    const message = `queue ${queue} does not limit ${resource}; did you mean ${close}?`
    return [{ code: 'ResourceUnlisted' as const, message, field: FIELD }]
  })
}

const resourcesIn = (spec: PodSpec): readonly string[] =>
  (spec.containers ?? []).flatMap(({ resources }) => [
    ...Object.keys(resources?.requests ?? {}),
    ...Object.keys(resources?.limits ?? {}),
  ])

/** In number, in case, or without its domain. Names of resources are alike otherwise, too: mig-1g.5gb and mig-2g.10gb. */
function isSlipOf(resource: string, limited: string): boolean {
  const [given, meant] = [resource.toLowerCase(), limited.toLowerCase()]
  return given === meant || given === `${meant}s` || meant === `${given}s` || meant.endsWith(`/${given}`)
}

/** What one object asks for by itself. The pods of a group are counted together, elsewhere. */
function podSetsIn(object: Fields, framework: string | undefined): readonly PodSet[] {
  if (framework === 'pod') {
    // A template may be without either.
    if (!isObject(object.metadata) || !isObject(object.spec)) return []
    const pod = object as unknown as Pod
    if (groupNameOf(pod) !== undefined) return []
    const composed = composeSingle('', pod)
    return 'plan' in composed ? composed.plan.podSets : []
  }
  const kind = frameworkKind(framework ?? '')
  if (kind === undefined) return []
  return kind
    .forCache(object as unknown as KubeObject)
    .podSets.filter(({ count }) => count > 0)
    .map(({ name, count, minCount, asks }) => ({
      name,
      count,
      ...(minCount === undefined ? {} : { minCount }),
      template: { spec: JSON.parse(asks) },
    }))
}
