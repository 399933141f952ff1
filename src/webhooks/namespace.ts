import type { AdmissionRequest } from '../admission/review.ts'
import { isObject } from '../kube/vocabulary/fields.ts'

/** The namespace of the request is the one that counts: the object's own may still be empty, or anything else. */
export function namespaceOf({ namespace, object }: AdmissionRequest): string {
  const metadata: unknown = object?.metadata
  const own = isObject(metadata) && typeof metadata.namespace === 'string' ? metadata.namespace : ''
  return namespace || own || 'default'
}
