import type { ServedScheduling } from '../kube/vocabulary/served-scheduling.ts'

/** What the API server serves for placing pods together, now. */
export interface ServedPort {
  readonly served: ServedScheduling
  /** Returns how to hear of it no more. */
  onChange(changed: () => void): () => void
}

/** Which namespaces' pods are queued. */
export interface NamespaceScope {
  /** What is asked before has no meaning. */
  whenKnown(): Promise<unknown>
  /** Undefined: the namespace has not been seen yet. */
  selects(namespace: string): boolean | undefined
  /** Calls when a namespace is seen for the first time, comes in or goes out. Returns how to hear of it no more. */
  onChange(changed: (namespace: string) => void): () => void
}
