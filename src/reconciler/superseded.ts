import type { KubeObject } from '../kube/vocabulary/objects.ts'
import { type Action, targetOf } from '../workload/actions.ts'
import type { Superseded } from './engine.ts'

/** What is read of a Workload by which nobody goes any more. */
export function supersededForCache({ metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, finalizers } = metadata
  return {
    metadata: {
      ...{ name, namespace, uid, resourceVersion },
      ...(deletionTimestamp != null && { deletionTimestamp }),
      ...(finalizers && { finalizers }),
    },
  }
}

export const supersededKeyOf = ({ metadata: { namespace = '', name = '' } }: KubeObject): string =>
  `superseded/${namespace}/${name}`

/**
 * Another engine was in use before. Its pods have Workloads of the new one, or get them; the old ones would only hold
 * on to their finalizer, and with it to their namespace.
 */
export function letGoOf(workload: KubeObject, { workloads, finalizer }: Superseded): readonly Action[] {
  const target = { resource: workloads, workload: targetOf(workload) }
  const finalizerIndex = workload.metadata.finalizers?.indexOf(finalizer) ?? -1
  return [
    ...(finalizerIndex < 0 ? [] : [{ kind: 'ReleaseWorkload' as const, ...target, finalizer, finalizerIndex }]),
    ...(workload.metadata.deletionTimestamp == null ? [{ kind: 'DeleteWorkload' as const, ...target }] : []),
  ]
}
