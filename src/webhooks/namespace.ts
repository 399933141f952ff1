import type { AdmissionRequest } from '../admission/review.ts'
import { isRecord } from '../validation/jobs/scheduling-tree.ts'

/** The namespace of the request is the one that counts: the object's own may still be empty, or anything else. */
export function namespaceOf({ namespace, object }: AdmissionRequest): string {
  const metadata: unknown = object?.metadata
  const own = isRecord(metadata) && typeof metadata.namespace === 'string' ? metadata.namespace : ''
  return namespace || own || 'default'
}
