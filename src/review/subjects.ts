import type { EnvelopeCheck } from '../admission/envelope.ts'
import type { AdmissionRequest, GroupVersionKind, UserInfo } from '../admission/review.ts'
import type { Configuration } from '../config/configuration.ts'
import type { ReadDocument } from '../documents/documents.ts'
import type { Path, Unreadable } from '../documents/place.ts'
import { type Fields, isObject } from '../kube/vocabulary/fields.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import type { ResultSource } from './report.ts'
import { isServed, kindOf, resourceOf } from './rules.ts'
import { podTemplatePaths } from './template-paths.ts'

/** One object to review, and the request in which the API server would send it. */
export interface Subject {
  readonly source: ResultSource
  readonly request: AdmissionRequest
  readonly document: ReadDocument
  /** From the document to the object. */
  readonly path: Path
  /** It came in an AdmissionReview, and is judged as that says. */
  readonly isReview: boolean
}

export interface SubjectOptions {
  /** It names kinds that make pods, and those live in namespaces. */
  readonly config: Configuration
  /** Of objects that name none. */
  readonly namespace: string
  /** Who asks. It replaces what an AdmissionReview says; undefined leaves that as it is. */
  readonly user: UserInfo | undefined
  /** Leaves out documents that are no Kubernetes objects. */
  readonly skipUnknown?: boolean
}

/** A List in a List is legal; one that goes on like this is not meant to be read. */
const MAX_LISTS = 10
/** The uid of a request that was never sent. */
const NO_UID = '00000000-0000-0000-0000-000000000000'

/** What a document holds. The check of the envelope comes as a promise: most runs never need to load its schema. */
export async function subjectsOf(
  document: ReadDocument,
  options: SubjectOptions,
  envelopeCheck: () => Promise<EnvelopeCheck>,
): Promise<readonly (Subject | Unreadable)[]> {
  const { file, document: index, line: first } = document.source
  const subjects: (Subject | Unreadable)[] = []
  for (const { value, line, path, problem } of objectsOf(document)) {
    const review = isReview(value)
    const read = problem ?? (review ? readReview(value, options, await envelopeCheck()) : requestFor(value, options))
    if (typeof read === 'string') {
      if (options.skipUnknown && !isManifest(value)) continue
      subjects.push({ file, line, column: line === first ? document.column : 1, message: read })
      continue
    }
    const source = { file, document: index, line }
    const within = review ? [...path, 'request', read.object == null ? 'oldObject' : 'object'] : path
    subjects.push({ source, request: read, document, path: within, isReview: review })
  }
  return subjects
}

const isManifest = (value: unknown): boolean => isObject(value) && 'kind' in value && 'apiVersion' in value

export interface Located {
  readonly value: unknown
  readonly line: number
  /** From the document. */
  readonly path: Path
  readonly problem?: string
}

/** The object itself, or what a List holds. Items of a typed list, as PodList, leave out what the list says already. */
export function objectsOf(document: ReadDocument): readonly Located[] {
  return unfolded({ value: document.value, line: document.source.line, path: [] }, document, MAX_LISTS)
}

const NO_ITEMS = 'a List has its objects in items, a list: this one has none'

function unfolded(located: Located, document: ReadDocument, lists: number): readonly Located[] {
  const { value } = located
  if (!isObject(value)) return [located]
  const { kind, apiVersion, items } = value
  if (typeof kind !== 'string' || !kind.endsWith('List')) return [located]
  if (!Array.isArray(items)) {
    if (kind !== 'List') return [located]
    return items === null ? [] : [{ ...located, problem: NO_ITEMS }]
  }
  if (lists === 0) return [{ ...located, problem: `Lists are nested deeper than ${MAX_LISTS} levels` }]
  const itemKind = kind.slice(0, -'List'.length)
  return items.flatMap((item, index) => {
    const full = isObject(item) && itemKind !== '' ? { apiVersion, kind: itemKind, ...item } : item
    const path = [...located.path, 'items', index]
    return unfolded({ value: full, line: document.lineOf(item), path }, document, lists - 1)
  })
}

function isReview(value: unknown): value is Fields {
  return isObject(value) && value.kind === 'AdmissionReview' && String(value.apiVersion).startsWith('admission.k8s.io/')
}

function readReview(value: Fields, { user }: SubjectOptions, check: EnvelopeCheck): AdmissionRequest | string {
  const checked = check(completed(value))
  if ('problem' in checked) return `not a readable AdmissionReview: ${checked.problem}`
  const { request } = checked.ok
  return user === undefined ? request : { ...request, userInfo: user }
}

/**
 * A review that the API server sent is complete and stays as it is. One that a person wrote may leave out what the
 * object says already.
 */
function completed(review: Fields): unknown {
  const { request } = review
  if (!isObject(request)) return review
  const object = isObject(request.object) ? request.object : request.oldObject
  if (!isObject(object)) return review
  const kind = request.kind ?? kindOf(String(object.apiVersion ?? ''), String(object.kind ?? ''))
  const resource = request.resource ?? (isKind(kind) ? resourceOf(kind) : undefined)
  return { ...review, request: { ...request, uid: request.uid ?? NO_UID, kind, resource } }
}

function isKind(kind: unknown): kind is GroupVersionKind {
  return isObject(kind) && [kind.group, kind.version, kind.kind].every(part => typeof part === 'string')
}

function requestFor(value: unknown, { namespace, user, config }: SubjectOptions): AdmissionRequest | string {
  if (!isObject(value)) return 'is no object: a manifest has apiVersion, kind and metadata'
  const { apiVersion, kind, metadata } = value
  if (typeof kind !== 'string' || kind === '') return 'the object has no kind: add it, as "kind: Pod"'
  if (typeof apiVersion !== 'string' || apiVersion === '') {
    return 'the object has no apiVersion: add it, as "apiVersion: v1"'
  }
  const gvk = kindOf(apiVersion, kind)
  const given = isObject(metadata) ? metadata : {}
  // Whether a kind that is not ours lives in a namespace at all is not known here.
  const fallback = isServed(gvk) || podTemplatePaths(gvk, config).length > 0 ? namespace : ''
  return {
    uid: NO_UID,
    kind: gvk,
    resource: resourceOf(gvk),
    name: textOr(given.name, ''),
    namespace: textOr(given.namespace, fallback),
    operation: 'CREATE',
    ...(user === undefined ? {} : { userInfo: user }),
    object: decodedWithin(decoded(value), podTemplatePaths(gvk, config)) as unknown as KubeObject,
    oldObject: null,
  }
}

/** As the API server reads it, where labels and annotations that are null are empty texts. */
export function decoded(value: Fields): Fields {
  const { metadata } = value
  if (!isObject(metadata)) return value
  const texts = TEXTS.filter(key => hasNull(metadata[key]))
  if (texts.length === 0) return value
  const filled = texts.map(key => [key, withoutNull(metadata[key] as Fields)])
  return { ...value, metadata: { ...metadata, ...Object.fromEntries(filled) } }
}

/** And so in the templates of its pods. */
function decodedWithin(value: Fields, patterns: readonly string[]): Fields {
  return patterns.reduce<unknown>((object, pattern) => decodedAt(object, pattern.split('.')), value) as Fields
}

function decodedAt(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (!isObject(value)) return value
  if (step === undefined) return decoded(value)
  const isList = step.endsWith('[]')
  const keys = step === '*' ? Object.keys(value) : [isList ? step.slice(0, -2) : step]
  const changed = keys.flatMap(key => {
    const was = Object.hasOwn(value, key) ? value[key] : undefined
    const is = isList && Array.isArray(was) ? decodedItems(was, rest) : decodedAt(was, rest)
    return is === was ? [] : [[key, is] as const]
  })
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) }
}

function decodedItems(items: readonly unknown[], rest: readonly string[]): readonly unknown[] {
  const decodedOnes = items.map(item => decodedAt(item, rest))
  return decodedOnes.every((item, index) => item === items[index]) ? items : decodedOnes
}

const TEXTS = ['labels', 'annotations'] as const

function hasNull(map: unknown): boolean {
  if (!isObject(map)) return false
  for (const key in map) if (map[key] === null) return true
  return false
}

const withoutNull = (map: Fields): Fields =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, value ?? '']))

function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' && value !== '' ? value : fallback
}
