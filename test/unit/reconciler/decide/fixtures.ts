import { builtinEngine } from '../../../../src/engines/builtin/builtin.ts'
import type { Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { decide as decideWith } from '../../../../src/reconciler/decide.ts'
import type { Decision } from '../../../../src/reconciler/decision.ts'
import type { Unit } from '../../../../src/reconciler/unit.ts'
import type { Action } from '../../../../src/workload/actions.ts'
import type { PodSetUpdate, QueuedWorkload } from '../../../../src/workload/queued-workload.ts'
import { managedPod, type PodOptions } from '../../../support/pods.ts'

export const NOW = '2026-11-16T10:10:00Z'

const ENGINE = builtinEngine([])

export const decide = (unit: Unit, now: string): Decision => decideWith(unit, ENGINE, now)

/** The Workload that the action wants to exist. */
export function created(action: Action | undefined): QueuedWorkload {
  if (action?.kind !== 'EnsureObject') throw new Error(`unexpected ${action?.kind}`)
  return action.wanted as QueuedWorkload
}

export const single = (
  pod: Pod | undefined,
  workload?: QueuedWorkload,
  orphans: readonly QueuedWorkload[] = [],
): Unit => ({
  kind: 'single',
  namespace: 'ml',
  name: pod?.metadata.name ?? 'train',
  pods: pod === undefined ? [] : [pod],
  workload,
  orphans,
  elsewhere: new Set(),
  outside: [],
})

export const group = (pods: readonly Pod[], workload?: QueuedWorkload): Unit => ({
  kind: 'group',
  namespace: 'ml',
  name: 'gang',
  pods,
  workload,
  orphans: [],
  elsewhere: new Set(),
  outside: [],
})

export const member = (index: number, options: PodOptions = {}): Pod =>
  managedPod({ name: `gang-${index}`, group: 'gang', count: 3, version: String(100 + index), ...options })
export const gang = (size: number, options: PodOptions = {}) =>
  Array.from({ length: size }, (_, i) => member(i, options))
export const running = (index: number, options: PodOptions = {}) =>
  member(index, { gates: [], phase: 'Running', nodeName: 'node-1', ...options })

export const withNodeSelector = (pod: Pod, nodeSelector: Readonly<Record<string, string>>): Pod => ({
  ...pod,
  spec: { ...pod.spec, nodeSelector },
})
/** Admitted to run where `place` says, all podSets alike. */
export const placed = (workload: QueuedWorkload, place: PodSetUpdate): QueuedWorkload => {
  const podSetAssignments = workload.spec.podSets.map(({ name, count }) => ({ name, count, ...place }))
  return { ...workload, status: { ...workload.status, admission: { clusterQueue: 'team-a', podSetAssignments } } }
}

export const kinds = (unit: Unit) => decide(unit, NOW).actions.map(action => action.kind)
export const reasons = (unit: Unit) =>
  decide(unit, NOW).standings.map(({ pod, reason }) => `${pod.metadata.name}: ${reason}`)
