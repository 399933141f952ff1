import type { Patch, Resource } from '../kube/vocabulary/api.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import type { Choice } from './remains.ts'

/**
 * One write. Each is safe to do twice, and to lose: whoever looks again decides it again, so a leave that was cut short
 * goes on where it was.
 */
export type Step = {
  readonly resource: Resource
  /** Of somebody who waits: what becomes of him. */
  readonly waiter?: Choice
} & (
  | { readonly kind: 'create'; readonly object: KubeObject }
  | { readonly kind: 'patch'; readonly object: KubeObject; readonly patch: Pick<Patch, 'type' | 'body'> }
  /** `awaited`: over when it is gone, and not when it is marked to go. */
  | { readonly kind: 'delete'; readonly object: KubeObject; readonly awaited?: boolean }
)

/** What is done together; what it is about is said in docs/uninstall.md. */
export const PHASES = {
  TakeRights: "bindings that give Muster's account its rights, deleted",
  StopServer: 'Deployment, deleted',
  RemoveWebhooks: 'webhook configurations, deleted',
  RemovePolicyBindings: 'bindings of admission policies, deleted',
  RemovePolicies: 'admission policies, deleted',
  SettleGroups: 'scheduling objects, made harmless or deleted',
  FreePods: 'pods, rid of gate, marks and finalizer',
  DeletePods: 'pods that waited, deleted',
  FreeJobs: 'Jobs and JobSets, rid of marks',
  DeleteJobs: 'Jobs and JobSets that waited, deleted',
  FreeWorkloads: 'Workloads, rid of the finalizer',
  DeleteKueueWorkloads: "Kueue's Workloads that Muster has made, deleted",
  RemoveCrd: 'CustomResourceDefinition with all its Workloads, deleted',
  RemoveRoles: 'ClusterRoles, deleted',
  RemoveObjects: "objects in Muster's namespace, deleted",
  RemoveNamespace: 'Namespace, deleted',
} as const
export type PhaseName = keyof typeof PHASES

export const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp != null

export interface Phase {
  readonly name: PhaseName
  readonly steps: readonly Step[]
}

/** What was told to go and is still there is waited for: to tell it again changes nothing. */
export const remove = (resource: Resource, object: KubeObject): Step =>
  isGoing(object) ? removed(resource, object) : { kind: 'delete', resource, object }
export const removed = (resource: Resource, object: KubeObject): Step => ({
  ...{ kind: 'delete', resource, object },
  awaited: true,
})

/** By its uid: a successor of the same name is somebody else. */
export const merged = (resource: Resource, object: KubeObject, metadata: object, spec?: object): Step => ({
  ...{ kind: 'patch', resource, object },
  patch: { type: 'merge', body: { metadata: { uid: object.metadata.uid, ...metadata }, ...(spec && { spec }) } },
})

export const nulled = (keys: readonly string[]): Readonly<Record<string, null>> =>
  Object.fromEntries(keys.map(key => [key, null]))
