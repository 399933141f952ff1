import { NOTHING_SERVED } from '../../src/kube/vocabulary/served-scheduling.ts'
import type { NamespaceScope, ServedPort } from '../../src/reconciler/surroundings.ts'

/** Pods are queued in all namespaces. */
export const EVERYWHERE: NamespaceScope = {
  whenKnown: () => Promise.resolve(),
  selects: () => true,
  onChange: () => () => {},
}

/** An API server without PodGroups of any kind. */
export const NOTHING_TO_PLACE_BY: ServedPort = { served: NOTHING_SERVED, onChange: () => () => {} }
