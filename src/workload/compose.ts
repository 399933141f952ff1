import { QUEUE_NAME } from '../kube/vocabulary/names.ts'
import { type OwnerReference, type Pod, wholeSpecOf } from '../kube/vocabulary/objects.ts'
import { compareVersions } from '../kube/vocabulary/versions.ts'
import { type PlannedRole, planGroup, roleNameOf } from './group-plan.ts'
import {
  IS_GROUP_WORKLOAD,
  type PodSet,
  QUEUE_ORDER,
  type QueuedWorkload,
  RESOURCE_IN_USE,
  WORKLOAD_API_VERSION,
} from './queued-workload.ts'

/** As many roles as Kueue's Workload has room for. */
export const MAX_POD_SETS = 18

/** Either the Workload of a complete group, or why there can't be one yet. */
export type Composition =
  | { readonly workload: QueuedWorkload }
  | { readonly reason: 'WaitingForPods' | 'InvalidGroup'; readonly note: string }

const waiting = (note: string): Composition => ({ reason: 'WaitingForPods', note })
const invalid = (note: string): Composition => ({ reason: 'InvalidGroup', note })

export function composeSingle(name: string, pod: Pod): QueuedWorkload {
  return workloadObject(name, [pod], [{ name: 'main', count: 1, template: { spec: wholeSpecOf(pod) } }], true)
}

/**
 * The Workload of a group from the members that count (not failed, not leaving), oldest first.
 * Members that contradict each other make no Workload: which of them is right is for their author to say.
 */
export function composeGroup(name: string, members: readonly Pod[]): Composition {
  const [first] = members
  const plan = planGroup(name, members)
  if (plan.kind === 'waiting') return waiting(plan.note)
  if (plan.kind === 'invalid' || first === undefined) return invalid(plan.kind === 'invalid' ? plan.note : '')
  if (plan.kind === 'roles') return composeRoles(name, members, plan.roles)

  const { total, fastAdmission } = plan
  if (fastAdmission) {
    const only: PodSet = { name: roleNameOf(first), count: total, template: { spec: wholeSpecOf(first) } }
    return { workload: workloadObject(name, members, [only], false) }
  }
  if (members.length < total) return waiting(`${members.length} of the ${total} pods of group ${name} exist`)
  const seated = members.slice(0, total)
  const podSets = podSetsByShape(seated)
  if (podSets.length > MAX_POD_SETS) {
    return invalid(`group ${name} has ${podSets.length} different pod shapes; at most ${MAX_POD_SETS} are possible`)
  }
  return { workload: workloadObject(name, seated, podSets, false) }
}

/** A role whose shape was announced may come later, as a driver's workers do; every other role must be there in full. */
function composeRoles(name: string, members: readonly Pod[], roles: readonly PlannedRole[]): Composition {
  const podSets: PodSet[] = []
  const seated: Pod[] = []
  for (const { name: role, count, template } of roles) {
    const players = members.filter(pod => roleNameOf(pod) === role).slice(0, count)
    const [first] = players
    if (template === undefined && players.length < count) {
      return waiting(`${players.length} of the ${count} pods of role ${role} of group ${name} exist`)
    }
    podSets.push({ name: role, count, template: { spec: template ?? (first ? wholeSpecOf(first) : {}) } })
    seated.push(...players)
  }
  return { workload: workloadObject(name, seated, podSets, false) }
}

function podSetsByShape(members: readonly Pod[]): readonly PodSet[] {
  const roles = new Map<string, { count: number; first: Pod }>()
  for (const member of members) {
    const role = roleNameOf(member)
    const entry = roles.get(role)
    if (entry === undefined) roles.set(role, { count: 1, first: member })
    else entry.count += 1
  }
  return [...roles]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { count, first }]) => ({ name, count, template: { spec: wholeSpecOf(first) } }))
}

function workloadObject(
  name: string,
  pods: readonly Pod[],
  podSets: readonly PodSet[],
  single: boolean,
): QueuedWorkload {
  const [first] = pods
  return {
    apiVersion: WORKLOAD_API_VERSION,
    kind: 'Workload',
    metadata: {
      name,
      namespace: first?.metadata.namespace ?? '',
      annotations: {
        [QUEUE_ORDER]: newestVersion(pods),
        ...(single ? {} : { [IS_GROUP_WORKLOAD]: 'true' }),
      },
      finalizers: [RESOURCE_IN_USE],
      ownerReferences: pods.map(pod => ownerReference(pod, single)),
    },
    spec: {
      queueName: first?.metadata.labels?.[QUEUE_NAME] ?? '',
      podSets,
      priority: first?.spec.priority ?? 0,
    },
  }
}

/** The garbage collector removes a Workload when the last of its pods is gone, with or without Muster. */
export function ownerReference(pod: Pod, single: boolean): OwnerReference {
  const { name = '', uid = '' } = pod.metadata
  const plain = { apiVersion: 'v1', kind: 'Pod', name, uid }
  return single ? { ...plain, controller: true, blockOwnerDeletion: true } : plain
}

/** Resource versions grow with every write in the cluster, so the newest member's tells when the unit was complete. */
function newestVersion(pods: readonly Pod[]): string {
  const versions = pods.map(pod => pod.metadata.resourceVersion ?? '0')
  return versions.reduce((newest, version) => (compareVersions(version, newest) > 0 ? version : newest), '0')
}
