import type { AdmissionRequest } from '../admission/review.ts'
import { type Denied, forbiddenRequest } from '../admission/verdict.ts'
import { isObject } from '../kube/vocabulary/fields.ts'
import { NAMESPACE_NAME_LABEL } from '../kube/vocabulary/names.ts'
import type { StringMap } from '../kube/vocabulary/objects.ts'
import { matchesSelector } from '../kube/vocabulary/selectors.ts'
import { invalid } from '../validation/field-error.ts'
import type { World } from './world.ts'

/** The namespace of the request is the one that counts: the object's own may still be empty, or anything else. */
export function namespaceOf({ namespace, object }: AdmissionRequest): string {
  const metadata: unknown = object?.metadata
  const own = isObject(metadata) && typeof metadata.namespace === 'string' ? metadata.namespace : ''
  return namespace || own || 'default'
}

/** A namespace nobody knows can't be judged: the API server creates nothing in one either. */
export function namespaceSelected(namespace: string, world: World): boolean | Denied {
  const found = world.namespace(namespace)
  if (found === 'absent') {
    const detail = `failed to get namespace: namespace "${namespace}" not found; create it first`
    return forbiddenRequest([invalid('metadata.namespace', namespace, detail)])
  }
  return isSelected(found.labels, world)
}

/** For objects that exist already: a namespace on its way out must not block the updates that empty it. */
export function existingNamespaceSelected(namespace: string, world: World): boolean {
  const found = world.namespace(namespace)
  return isSelected(found === 'absent' ? { [NAMESPACE_NAME_LABEL]: namespace } : found.labels, world)
}

function isSelected(labels: StringMap | null | undefined, world: World): boolean {
  return matchesSelector(world.config.integrations.podOptions.namespaceSelector, labels)
}
