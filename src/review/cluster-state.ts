import type { Configuration } from '../config/configuration.ts'
import type { ReadDocument } from '../documents/documents.ts'
import type { Unreadable } from '../documents/place.ts'
import { type Fields, isObject } from '../kube/vocabulary/fields.ts'
import { DEFAULT_QUEUE, NAMESPACE_NAME_LABEL } from '../kube/vocabulary/names.ts'
import type { OwnerReference, StringMap } from '../kube/vocabulary/objects.ts'
import { localWorld } from '../webhooks/local-world.ts'
import type { NamespaceFacts, OwnerFacts, World } from '../webhooks/world.ts'
import { kindOf } from './rules.ts'
import { ServedApis } from './served-apis.ts'
import { objectsOf } from './subjects.ts'

const KUEUE_GROUP = 'kueue.x-k8s.io'
/** Of an object that names none. As an owner it is then found from every namespace. */
const ANY_NAMESPACE = ''

/** The objects that exist in the cluster, as far as files tell. Filled document by document, then read as a World. */
export class ClusterState {
  readonly #namespaces = new Map<string, NamespaceFacts>()
  readonly #owners = new Map<string, OwnerFacts>()
  readonly #defaultQueues = new Set<string>()
  readonly #apis = new ServedApis()

  /** Takes in the objects of a document and returns what is wrong with them. */
  add(document: ReadDocument): readonly Unreadable[] {
    const { file, line: first } = document.source
    return objectsOf(document).flatMap(({ value, line, problem }) => {
      const message = problem ?? this.#addObject(value)
      return message === undefined ? [] : [{ file, line, column: line === first ? document.column : 1, message }]
    })
  }

  world(config: Configuration): World {
    const offline = localWorld(config)
    return {
      ...offline,
      namespace: name => this.#namespaces.get(name) ?? offline.namespace(name),
      owner: (namespace, reference) => {
        const { group, kind } = kindOf(reference.apiVersion, reference.kind)
        const facts =
          this.#owners.get(ownerKey(group, kind, namespace, reference.name)) ??
          this.#owners.get(ownerKey(group, kind, ANY_NAMESPACE, reference.name))
        if (facts === undefined) return 'absent'
        // State that was written by hand seldom has uids; then the name decides.
        return facts.uid === '' ? { ...facts, uid: reference.uid } : facts
      },
      hasDefaultQueue: namespace => this.#defaultQueues.has(namespace) || this.#defaultQueues.has(ANY_NAMESPACE),
      scheduling: () => this.#apis.scheduling,
    }
  }

  #addObject(object: unknown): string | undefined {
    if (!isObject(object)) return 'is no object: one that exists has apiVersion, kind and metadata'
    if (this.#apis.add(object)) return undefined
    const { apiVersion, kind, metadata } = object
    if (typeof apiVersion !== 'string' || typeof kind !== 'string') return 'the object has no apiVersion or no kind'
    if (!isObject(metadata) || typeof metadata.name !== 'string' || metadata.name === '') {
      return 'the object has no metadata.name: one that exists has a name'
    }
    const { name } = metadata
    const facts = factsOf(metadata)
    if (typeof facts === 'string') return facts
    const { group } = kindOf(apiVersion, kind)
    if (group === '' && kind === 'Namespace') {
      // The API server sets this label itself and allows no other value.
      const labels = { ...facts.labels, [NAMESPACE_NAME_LABEL]: name }
      this.#namespaces.set(name, { uid: facts.uid || name, labels })
      return undefined
    }
    const namespace = typeof metadata.namespace === 'string' ? metadata.namespace : ANY_NAMESPACE
    if (group === KUEUE_GROUP && kind === 'LocalQueue' && name === DEFAULT_QUEUE) this.#defaultQueues.add(namespace)
    this.#owners.set(ownerKey(group, kind, namespace, name), facts)
    return undefined
  }
}

/** Without the version: the API server serves an object in each of its versions, whichever the reference names. */
function ownerKey(group: string, kind: string, namespace: string, name: string): string {
  return [group, kind, namespace, name].join('\n')
}

function factsOf({ uid, labels, ownerReferences }: Fields): OwnerFacts | string {
  if (!isAbsent(uid) && typeof uid !== 'string') return 'metadata.uid must be a text: put it in quotes'
  if (!isAbsent(labels) && !isStringMap(labels)) {
    return 'metadata.labels must be a map of texts: put the values in quotes'
  }
  if (!isAbsent(ownerReferences) && !isReferences(ownerReferences)) {
    return 'metadata.ownerReferences must be a list of objects with apiVersion, kind, name and uid'
  }
  return { uid: uid ?? '', labels: labels ?? {}, ownerReferences: ownerReferences ?? [] }
}

const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null

function isStringMap(value: unknown): value is StringMap {
  return isObject(value) && Object.values(value).every(each => typeof each === 'string')
}

function isReferences(value: unknown): value is readonly OwnerReference[] {
  const isReference = (each: unknown): boolean =>
    isObject(each) && [each.apiVersion, each.kind, each.name, each.uid].every(part => typeof part === 'string')
  return Array.isArray(value) && value.every(isReference)
}
