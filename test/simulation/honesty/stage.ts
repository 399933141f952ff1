import type { KubeApi, ObjectRef, Resource } from '../../../src/kube/vocabulary/api.ts'
import type { DeleteOptions } from '../model/server.ts'

/** An API server that the script can be played on, with the few things beside it that the script needs done. */
export interface Stage {
  readonly api: KubeApi
  /** `KubeApi` asks for no grace period, since the reconciler never does; users and kubelets do. */
  delete(resource: Resource, ref: ObjectRef, options: DeleteOptions): Promise<void>
  /** The scheduler's Binding. */
  bind(ref: ObjectRef, nodeName: string): Promise<void>
  createNamespace(name: string): Promise<void>
  sleep(ms: number): Promise<void>
  /** History up to now is compacted in storage. Watches may still be served from memory. */
  compact(): Promise<void>
  /** The server comes back without anything that it kept in memory. */
  restart(): Promise<void>
}
