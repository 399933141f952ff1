import { isDeepStrictEqual } from 'node:util'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { RESOURCE_IN_USE } from '../../kube/vocabulary/names.ts'
import { annotationPath, type FieldError, forbidden, labelPath } from '../../validation/field-error.ts'

/** Nobody but Muster makes one: a Workload without pods would hold quota, and one with the name of another its place. */
export function creationErrors(only: string): readonly FieldError[] {
  return [forbidden('spec', `a Workload is made for pods that wait in a queue: give the pods a queue instead; ${only}`)]
}

/**
 * What a change does to what is Muster's. The rest belongs to whom RBAC lets change it: `spec.active`, by which people
 * take a Workload out of its queue, and labels, annotations and finalizers of theirs.
 */
export function changeErrors(before: unknown, after: unknown, only: string): readonly FieldError[] {
  const [was, is] = [partsOf(before), partsOf(after)]
  return [
    ...keysChanged(was.spec, is.spec)
      .filter(key => key !== 'active')
      .map(key => forbidden(`spec.${key}`, `follows the pods of the Workload; ${only}`)),
    ...(isDeepStrictEqual(was.status, is.status)
      ? []
      : [forbidden('status', `is what the queue has decided; ${only}`)]),
    ...ourKeysChanged(was.metadata.labels, is.metadata.labels).map(key => forbidden(labelPath(key), mark(only))),
    ...ourKeysChanged(was.metadata.annotations, is.metadata.annotations).map(key =>
      forbidden(annotationPath(key), mark(only)),
    ),
    ...finalizerErrors(was.metadata.finalizers, is.metadata.finalizers, only),
  ]
}

/** Owners decide when the Workload goes, and for which pod it stands. */
export function ownerErrors(before: unknown, after: unknown, only: string): readonly FieldError[] {
  const [was, is] = [partsOf(before).metadata.ownerReferences, partsOf(after).metadata.ownerReferences]
  if (isDeepStrictEqual(was ?? [], is ?? [])) return []
  return [forbidden('metadata.ownerReferences', `are the pods of the Workload; ${only}`)]
}

function finalizerErrors(before: unknown, after: unknown, only: string): readonly FieldError[] {
  if (holdsOurs(before) === holdsOurs(after)) return []
  return [forbidden('metadata.finalizers', `'${RESOURCE_IN_USE}' goes when the pods have ended; ${only}`)]
}

const holdsOurs = (finalizers: unknown): boolean => Array.isArray(finalizers) && finalizers.includes(RESOURCE_IN_USE)

const mark = (only: string): string => `is a mark of the queue; ${only}`

const OURS = ['kueue.x-k8s.io/', 'muster.dev/']

function ourKeysChanged(before: unknown, after: unknown): readonly string[] {
  return keysChanged(fieldsOf(before), fieldsOf(after)).filter(key => OURS.some(prefix => key.startsWith(prefix)))
}

function keysChanged(before: Fields, after: Fields): readonly string[] {
  const own = (fields: Fields, key: string): unknown => (Object.hasOwn(fields, key) ? fields[key] : undefined)
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].filter(key => !isDeepStrictEqual(own(before, key), own(after, key)))
}

interface Parts {
  readonly metadata: Fields
  readonly spec: Fields
  readonly status: unknown
}

function partsOf(workload: unknown): Parts {
  const { metadata, spec, status } = fieldsOf(workload)
  return { metadata: fieldsOf(metadata), spec: fieldsOf(spec), status: status ?? {} }
}

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})
