import type { NamespaceScope } from '../../src/reconciler/loop.ts'

/** Pods are queued in all namespaces. */
export const EVERYWHERE: NamespaceScope = {
  whenKnown: () => Promise.resolve(),
  selects: () => true,
  onChange: () => {},
}
