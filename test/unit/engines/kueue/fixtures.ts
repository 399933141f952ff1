import { kueueEngine } from '../../../../src/engines/kueue/kueue.ts'
import type { AdmissionCheckState, KueueStatus, KueueWorkload } from '../../../../src/engines/kueue/objects.ts'
import { KUEUE_KINDS, type KueueVersion } from '../../../../src/kube/vocabulary/kueue.ts'
import type { Condition, KubeObject, Pod } from '../../../../src/kube/vocabulary/objects.ts'
import type { Engine } from '../../../../src/reconciler/engine.ts'
import { composeGroup, composeSingle, type WorkloadPlan } from '../../../../src/workload/compose.ts'
import { singlePodWorkloadName } from '../../../../src/workload/names.ts'

export const NOW = '2026-11-16T10:10:00Z'

export const FLAVORS: Readonly<Record<string, object>> = {
  spot: { nodeLabels: { pool: 'spot' }, tolerations: [{ key: 'spot', operator: 'Exists' }] },
  gpu: { nodeLabels: { accelerator: 'a100' } },
  elsewhere: { nodeLabels: { pool: 'elsewhere' } },
}

/** An engine that has seen what Kueue's administrator set up. */
export function engineWith(version: KueueVersion = 'v1beta2'): Engine {
  const engine = kueueEngine(version)
  const { flavors, priorityClasses } = KUEUE_KINDS[version]
  for (const { resource, see } of engine.background ?? []) {
    if (resource === flavors)
      for (const [name, spec] of Object.entries(FLAVORS)) see({ metadata: { name }, spec } as KubeObject, false)
    if (resource === priorityClasses) see({ metadata: { name: 'urgent' }, value: 100 } as KubeObject, false)
  }
  return engine
}

export function planOf(pods: readonly Pod[]): WorkloadPlan {
  const [pod] = pods
  if (pod === undefined) throw new Error('a plan needs a pod')
  const group = pod.metadata.labels?.['kueue.x-k8s.io/pod-group-name']
  const { name = '', uid = '' } = pod.metadata
  const composition =
    group === undefined ? composeSingle(singlePodWorkloadName(name, uid), pod) : composeGroup(group, pods)
  if (!('plan' in composition)) throw new Error(composition.note)
  return composition.plan
}

/** As the API server has it, and the cache keeps it. */
export function stored(engine: Engine, pods: readonly Pod[], status: KueueStatus = {}): KueueWorkload {
  const { metadata, ...workload } = engine.compose(planOf(pods))
  const identity = { uid: `uid-${metadata.name}`, resourceVersion: '200', creationTimestamp: '2026-11-16T10:00:01Z' }
  return engine.forCache({ ...workload, metadata: { ...metadata, ...identity }, status }) as KueueWorkload
}

export function is(type: string, status: Condition['status'], reason = 'Because', message = 'because'): Condition {
  return { type, status, reason, message, lastTransitionTime: '2026-11-16T10:00:02Z' }
}

/** Admitted to the given flavors, one per resource, all podSets alike. */
export function admission(
  workload: KueueWorkload,
  flavors: Readonly<Record<string, string>>,
  admissionChecks: readonly AdmissionCheckState[] = [],
): KueueWorkload {
  const podSetAssignments = workload.spec.podSets.map(({ name, count }) => ({ name, count, flavors }))
  return {
    ...workload,
    status: {
      ...workload.status,
      conditions: [is('QuotaReserved', 'True'), is('Admitted', 'True')],
      admission: { clusterQueue: 'cluster-a', podSetAssignments },
      admissionChecks,
    },
  }
}
