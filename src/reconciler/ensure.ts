import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../kube/vocabulary/fields.ts'
import { controllerOf, type KubeObject, type ObjectMeta } from '../kube/vocabulary/objects.ts'

/** The part of `wanted` that `known` does not have yet, as a merge patch. */
export interface Change {
  readonly metadata?: Pick<ObjectMeta, 'labels' | 'annotations'>
  readonly [field: string]: unknown
}

/**
 * An object is ours when it has the same controller as the one that we want: that is written by whoever creates it, and
 * another one of the same name has another controller, or none.
 */
export function hasSameController(known: KubeObject, wanted: KubeObject): boolean {
  const uid = controllerUid(wanted)
  return uid !== undefined && uid === controllerUid(known)
}

function controllerUid({ metadata }: KubeObject): string | undefined {
  return controllerOf(metadata.ownerReferences)?.uid
}

/**
 * What has to be patched so that `known` says what `wanted` says. What `wanted` does not mention is somebody else's and
 * stays; so do names, owners and finalizers, which are set at creation. Undefined: nothing.
 */
export function changeTo(known: KubeObject, wanted: KubeObject): Change | undefined {
  const { apiVersion: _, kind: __, metadata, ...fields } = wanted
  const { labels, annotations } = metadata
  const change = difference(known, {
    ...fields,
    metadata: { ...(labels && { labels }), ...(annotations && { annotations }) },
  })
  return change as Change | undefined
}

/** Lists are replaced as a whole, as a merge patch does. */
function difference(known: unknown, wanted: unknown): unknown {
  if (!isObject(wanted) || !isObject(known)) return isDeepStrictEqual(known, wanted) ? undefined : wanted
  const changes: [string, unknown][] = []
  for (const [key, value] of Object.entries(wanted)) {
    const change = difference(Object.hasOwn(known, key) ? known[key] : undefined, value)
    if (change !== undefined) changes.push([key, change])
  }
  return changes.length === 0 ? undefined : Object.fromEntries(changes)
}
