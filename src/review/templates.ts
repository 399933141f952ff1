import type { AdmissionRequest, GroupVersionKind, GroupVersionResource, UserInfo } from '../admission/review.ts'
import { ANY_USER, type Configuration } from '../config/configuration.ts'
import type { Path } from '../documents/place.ts'
import { type Fields, isObject } from '../kube/vocabulary/fields.ts'
import { controllerKindOf } from '../kube/vocabulary/frameworks.ts'
import type { KubeObject, OwnerReference, StringMap } from '../kube/vocabulary/objects.ts'
import type { OwnerFacts, World } from '../webhooks/world.ts'
import { nameOf } from './results.ts'
import { decoded, type Subject } from './subjects.ts'
import { podTemplatePaths } from './template-paths.ts'

/** A pod as it would be created from a template, and the world in which its owners exist. */
export interface TemplateSubject {
  readonly subject: Subject
  readonly world: World
}

/**
 * The pods of an object, as its controller will send them: with the object as their owner, under the controller's own
 * name. `made` is the object after its own review: what Muster wrote on it, its pods find there.
 */
export function templateSubjects(subject: Subject, made: unknown, world: World): readonly TemplateSubject[] {
  const { request } = subject
  if (request.operation !== 'CREATE' || !isObject(made)) return []
  return podTemplatesIn(made, request.kind, world.config).map(found =>
    subjectOfTemplate(subject, found, ownersOf(made, found.steps, request), POD, world),
  )
}

/** Where kinds keep the templates of their Jobs. */
const JOB_TEMPLATES: Readonly<Record<string, string | undefined>> = {
  'batch/CronJob': 'spec.jobTemplate',
  'jobset.x-k8s.io/JobSet': 'spec.replicatedJobs[].template',
}

/**
 * The Jobs of an object, in the same way, where their template has marks of its own, or gets those of its pods: the rest
 * is judged with others.
 */
export function jobSubjects(subject: Subject, made: unknown, world: World): readonly TemplateSubject[] {
  const { request } = subject
  const pattern = JOB_TEMPLATES[`${request.kind.group}/${request.kind.kind}`]
  if (pattern === undefined || request.operation !== 'CREATE' || !isObject(made)) return []
  const owners = [rootOwner(made, request)]
  return expanded(made, pattern.split('.'), [])
    .filter(({ template }) => isObject(template.metadata) || request.kind.kind === 'CronJob')
    .map(found => subjectOfTemplate(subject, found, owners, JOB, world))
}

function subjectOfTemplate(
  { request, path, document, source }: Subject,
  { steps, template }: Template,
  owners: readonly Owner[],
  made: MadeKind,
  world: World,
): TemplateSubject {
  const within = [...path, ...steps]
  const line = document.placeOf(within).line
  return {
    world: {
      ...world,
      owner: (namespace, reference) => ownerIn(owners, reference) ?? world.owner(namespace, reference),
    },
    subject: {
      source: { ...source, line, path: pathText(steps) },
      request: madeRequest(template, made, owners[0], request, world.config),
      document,
      path: within,
      isReview: false,
    },
  }
}

export interface Template {
  readonly steps: Path
  readonly template: Fields
}

/** The pod templates of an object that are there, with the way to each. */
export function podTemplatesIn(
  object: Fields,
  kind: { readonly group: string; readonly kind: string },
  config: Configuration,
): readonly Template[] {
  return podTemplatePaths(kind, config).flatMap(pattern => expanded(object, pattern.split('.'), []))
}

/** `a.b[].c` and `a.*.c`: every item of a list, every value of a map. */
function expanded(value: unknown, [step, ...rest]: readonly string[], steps: Path): readonly Template[] {
  if (step === undefined) return isObject(value) ? [{ steps, template: value }] : []
  if (!isObject(value)) return []
  if (step === '*') return Object.keys(value).flatMap(key => expanded(value[key], rest, [...steps, key]))
  const isList = step.endsWith('[]')
  const key = isList ? step.slice(0, -2) : step
  const next = Object.hasOwn(value, key) ? value[key] : undefined
  if (!isList) return expanded(next, rest, [...steps, key])
  if (!Array.isArray(next)) return []
  return next.flatMap((item, index) => expanded(item, rest, [...steps, key, index]))
}

export function pathText(steps: Path): string {
  return steps.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}

interface Owner extends OwnerFacts {
  readonly reference: OwnerReference
}

const ownerIn = (owners: readonly Owner[], { uid }: OwnerReference): OwnerFacts | undefined =>
  owners.find(owner => owner.uid === uid)

/** The controller of the pod first, then what is above it. Between some kinds and their pods stands another. */
function ownersOf(object: Fields, steps: Path, request: AdmissionRequest): readonly Owner[] {
  const { kind } = request
  const root = rootOwner(object, request)
  const between = BETWEEN[`${kind.group}/${kind.kind}`]
  if (between === undefined) return [root]
  const ofPods = labelsOf(valueAt(object, steps))
  // The labels of a Job that a CronJob or JobSet makes stand beside its spec.
  const ofJob = labelsOf(valueAt(object, steps.slice(0, steps.lastIndexOf('spec'))))
  // The API server gives a Job without labels those of its pods. JobSet's have labels of their own.
  const isBare = kind.kind === 'CronJob' && Object.keys(ofJob).length === 0
  const labels = between.kind === 'Job' && !isBare ? ofJob : ofPods
  return [ownerOf(between.apiVersion, between.kind, `${root.reference.name}-x`, labels, [root.reference]), root]
}

function rootOwner(object: Fields, request: AdmissionRequest): Owner {
  const { kind } = request
  const own = nameOf(request).replace(/\*$/, 'x') || 'x'
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
  return ownerOf(apiVersion, kind.kind, own, labelsOf(object), [])
}

const BETWEEN: Readonly<Record<string, { readonly apiVersion: string; readonly kind: string } | undefined>> = {
  'apps/Deployment': { apiVersion: 'apps/v1', kind: 'ReplicaSet' },
  'batch/CronJob': { apiVersion: 'batch/v1', kind: 'Job' },
  'jobset.x-k8s.io/JobSet': { apiVersion: 'batch/v1', kind: 'Job' },
}

function ownerOf(
  apiVersion: string,
  kind: string,
  name: string,
  labels: StringMap,
  ownerReferences: readonly OwnerReference[],
): Owner {
  const uid = `${kind}/${name}`
  return { uid, labels, ownerReferences, reference: { apiVersion, kind, name, uid, controller: true } }
}

const valueAt = (object: unknown, steps: Path): unknown =>
  steps.reduce<unknown>((value, step) => (value as Record<string | number, unknown> | undefined)?.[step], object)

function labelsOf(object: unknown): StringMap {
  const { metadata } = isObject(object) ? object : {}
  const { labels } = isObject(metadata) ? metadata : {}
  if (!isObject(labels)) return {}
  return Object.fromEntries(
    Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

/** What controllers make of templates. */
interface MadeKind {
  readonly apiVersion: string
  readonly kind: GroupVersionKind
  readonly resource: GroupVersionResource
}

const POD: MadeKind = {
  apiVersion: 'v1',
  kind: { group: '', version: 'v1', kind: 'Pod' },
  resource: { group: '', version: 'v1', resource: 'pods' },
}
const JOB: MadeKind = {
  apiVersion: 'batch/v1',
  kind: { group: 'batch', version: 'v1', kind: 'Job' },
  resource: { group: 'batch', version: 'v1', resource: 'jobs' },
}

function madeRequest(
  template: Fields,
  { apiVersion, kind, resource }: MadeKind,
  controller: Owner | undefined,
  request: AdmissionRequest,
  config: Configuration,
): AdmissionRequest {
  const { metadata: given } = decoded(template)
  const metadata = isObject(given) ? given : {}
  const { name: _name, generateName: _generateName, ...kept } = metadata
  const owner = controller?.reference
  const object = {
    apiVersion,
    kind: kind.kind,
    metadata: {
      ...kept,
      generateName: `${nameOf(request).replace(/\*$/, '')}-`,
      ...(request.namespace ? { namespace: request.namespace } : {}),
      ...(owner === undefined ? {} : { ownerReferences: [owner] }),
    },
    spec: template.spec,
  }
  const userInfo = owner === undefined ? undefined : controllerUser(owner, config)
  return {
    uid: request.uid,
    kind,
    resource,
    name: '',
    namespace: request.namespace ?? '',
    operation: 'CREATE',
    ...(userInfo === undefined ? {} : { userInfo }),
    object: object as unknown as KubeObject,
    oldObject: null,
  }
}

/** Whom the configuration names as the creator of such pods. */
function controllerUser(owner: OwnerReference, { guard }: Configuration): UserInfo | undefined {
  const kind = controllerKindOf(owner)
  const [username] = Object.hasOwn(guard.controllers, kind) ? (guard.controllers[kind] ?? []) : []
  return username === undefined || username === ANY_USER ? undefined : { username }
}
