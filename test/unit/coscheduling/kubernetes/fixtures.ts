import { kubernetesCoScheduler } from '../../../../src/coscheduling/kubernetes/co-scheduler.ts'
import { builtinEngine } from '../../../../src/engines/builtin/builtin.ts'
import { GROUP_ROLE, GROUP_SETS } from '../../../../src/kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { NOTHING_SERVED, type ServedScheduling } from '../../../../src/kube/vocabulary/served-scheduling.ts'
import { decide } from '../../../../src/reconciler/decide.ts'
import type { Decision } from '../../../../src/reconciler/decision.ts'
import { ownerReference } from '../../../../src/workload/compose.ts'
import { podGroupNameFor } from '../../../../src/workload/placement.ts'
import type { PodOptions } from '../../../support/pods.ts'
import { ADMITTED, workloadOf } from '../../../support/workloads.ts'
import { gang, group, member, NOW } from '../../reconciler/decide/fixtures.ts'

export const NAME = podGroupNameFor('ml', 'gang')
const ENGINE = builtinEngine([])
export const served = (version: 'v1beta1' | 'v1alpha2', composites = false): ServedScheduling => ({
  ...NOTHING_SERVED,
  kubernetes: { version, podGroups: true, composites },
})

/** As the webhook leaves it. */
export const named = (pod: Pod, podGroupName = NAME): Pod => ({
  ...pod,
  spec: { ...pod.spec, schedulingGroup: { podGroupName } },
})
export const nodeless = (index: number, options: PodOptions = {}): Pod =>
  named(member(index, { gates: [], ...options }))

export const OWNER = {
  apiVersion: 'muster.dev/v1alpha1',
  kind: 'Workload',
  name: 'gang',
  uid: 'uid-gang',
  controller: true,
}
export const known = (kind: string, more: object = {}, owner: object = OWNER): KubeObject =>
  ({
    kind,
    metadata: { name: NAME, namespace: 'ml', uid: `uid-${kind}`, resourceVersion: '7', ownerReferences: [owner] },
    ...more,
  }) as KubeObject
export const WORKLOAD = known('Workload')
export const podGroup = (minCount: number, more: object = {}): KubeObject =>
  known('PodGroup', { spec: { schedulingPolicy: { gang: { minCount } } }, ...more })
export const says = (message: string) => ({
  status: { conditions: [{ type: 'PodGroupInitiallyScheduled', status: 'False', reason: 'Unschedulable', message }] },
})

export function decided(
  pods: readonly Pod[],
  objects: readonly KubeObject[],
  serves: ServedScheduling = served('v1beta1'),
  founders: readonly Pod[] = gang(3),
): Decision {
  const find = (resource: { readonly kind: string }, namespace: string, name: string) =>
    objects.find(
      ({ kind, metadata }) => kind === resource.kind && metadata.namespace === namespace && metadata.name === name,
    )
  const placement = { schedulers: [kubernetesCoScheduler], known: { served: serves, find, named: () => [] } }
  const workload = workloadOf(founders, ADMITTED)
  const ownerReferences = pods.map(pod => ownerReference(pod, 'group'))
  const owned = { ...workload, metadata: { ...workload.metadata, ownerReferences } }
  return decide(group(pods, owned), ENGINE, NOW, placement)
}

export const kinds = ({ actions }: Decision) =>
  actions.map(action => (action.kind === 'EnsureObject' ? `${action.kind} ${action.resource.kind}` : action.kind))
export const wanted = ({ actions }: Decision): KubeObject & { readonly spec?: unknown } => {
  const ensured = actions.find(action => action.kind === 'EnsureObject')
  if (ensured?.kind !== 'EnsureObject') throw new Error('nothing is wanted')
  return ensured.wanted
}
export const reasons = ({ standings }: Decision) =>
  standings.map(({ pod, reason }) => `${pod.metadata.name}: ${reason}`)

/** A driver that announces its workers, and what is made for them. */
const SETS = JSON.stringify([
  { name: 'driver', count: 1 },
  {
    name: 'worker',
    count: 2,
    template: { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] } },
  },
])
export const inRole = (pod: Pod, role: string, annotations: Readonly<Record<string, string>> = {}): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, [GROUP_ROLE]: role }, annotations },
})
export const DRIVER = podGroupNameFor('ml', 'gang', 'driver')
export const driver = (annotations = {}, options: PodOptions = {}) =>
  named(inRole(member(0, options), 'driver', { [GROUP_SETS]: SETS, ...annotations }), DRIVER)
export const worker = (index: number) => named(inRole(member(index), 'worker'))
const driverGroup = known('PodGroup', { spec: { schedulingPolicy: { basic: {} } } })
export const ofDriver = { ...driverGroup, metadata: { ...driverGroup.metadata, name: DRIVER } }
