import { type PatchOperation, pointer } from '../../admission/patch.ts'
import { isObject } from '../../kube/vocabulary/fields.ts'
import type { StringMap } from '../../kube/vocabulary/objects.ts'

/** Into a map that is not there all keys go at once: each alone would make it anew. `add` also replaces. */
export function put(
  existing: StringMap | null | undefined,
  at: readonly (string | number)[],
  wanted: StringMap,
): readonly PatchOperation[] {
  if (existing === undefined || existing === null) {
    return Object.keys(wanted).length === 0 ? [] : [{ op: 'add', path: pointer(...at), value: wanted }]
  }
  return Object.entries(wanted).map(([key, value]) => ({ op: 'add', path: pointer(...at, key), value }))
}

/** Annotations of a template somewhere in an object. What is no metadata at all is left for others to refuse. */
export function annotateTemplate(
  template: unknown,
  at: readonly (string | number)[],
  annotations: StringMap,
): readonly PatchOperation[] {
  const metadata = isObject(template) ? (template.metadata ?? undefined) : undefined
  if (metadata === undefined) return [{ op: 'add', path: pointer(...at, 'metadata'), value: { annotations } }]
  if (!isObject(metadata)) return []
  const existing = metadata.annotations ?? undefined
  if (existing !== undefined && !isObject(existing)) return []
  return put(existing as StringMap | undefined, [...at, 'metadata', 'annotations'], annotations)
}
