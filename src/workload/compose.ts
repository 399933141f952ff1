import type { OwnerReference, Pod, PodSpec } from '../kube/vocabulary/objects.ts'
import { compareVersions } from '../kube/vocabulary/versions.ts'
import { specOf } from './asked.ts'
import { chargeOf, uncovered } from './charge.ts'
import { type PlannedRole, planGroup, roleNameOf } from './group-plan.ts'
import { queueOf } from './pod-facts.ts'
import type { PodSet } from './queued-workload.ts'

/** As many roles as Kueue's Workload has room for. */
const MAX_POD_SETS = 18

/** Above this the API server may refuse the object, and every later change of it: etcd takes a request of 1.5 MB. */
export const MAX_WORKLOAD_BYTES = 1_000_000

/** How many pods own the Workload of their group: with the longest names a third of a megabyte. */
export const MAX_OWNERS = 1000

/** A pod, a group of pods, or a Job or JobSet, which makes its pods itself. */
export type UnitKind = 'single' | 'group' | 'job'

/** Everything that an engine needs to know to make the Workload of a unit. */
export interface WorkloadPlan {
  readonly kind: UnitKind
  /** For which Job or JobSet. */
  readonly job?: { readonly framework: string; readonly uid: string }
  readonly namespace: string
  readonly name: string
  readonly queueName: string
  readonly podSets: readonly PodSet[]
  readonly priority: number
  readonly ownerReferences: readonly OwnerReference[]
  /** Of pods: the oldest, which speaks for the unit where one has to. */
  readonly first?: Pod
  /** By podSet, the pod whose shape stands for all of it. An announced shape has none. */
  readonly models?: ReadonlyMap<string, Pod>
  /** Resource versions grow with every write in the cluster, so the newest member's tells when the unit was complete. */
  readonly completeAt: string
}

/** Either the Workload of a complete unit, or why there can't be one yet. */
export type Composition =
  | { readonly plan: WorkloadPlan }
  | { readonly reason: 'WaitingForPods' | 'InvalidGroup'; readonly note: string }

/** As the pod is known: how much of that its Workload says is the engine's to decide. */
const podSetOf = (name: string, count: number, pod: Pod): PodSet => ({
  name,
  count,
  template: { spec: specOf(pod) },
})

const waiting = (note: string): Composition => ({ reason: 'WaitingForPods', note })
const invalid = (note: string): Composition => ({ reason: 'InvalidGroup', note })

export function composeSingle(name: string, pod: Pod): Composition {
  if (pod.excess !== undefined) return invalid(pod.excess)
  return { plan: planOf(name, [pod], [podSetOf('main', 1, pod)], 'single') }
}

/**
 * The Workload of a group from the members that count (not failed, not leaving), oldest first.
 * Members that contradict each other make no Workload: which of them is right is for their author to say.
 */
export function composeGroup(name: string, members: readonly Pod[]): Composition {
  const [first] = members
  const beyond = members.find(pod => pod.excess !== undefined)
  if (beyond?.excess !== undefined) return invalid(beyond.excess)
  const plan = planGroup(name, members)
  if (plan.kind === 'waiting') return waiting(plan.note)
  if (plan.kind === 'invalid' || first === undefined) return invalid(plan.kind === 'invalid' ? plan.note : '')
  if (plan.kind === 'roles') return composeRoles(name, members, plan.roles)

  const { total, fastAdmission } = plan
  if (fastAdmission) {
    return planned(name, members, [podSetOf(roleNameOf(first), total, first)])
  }
  if (members.length < total) return waiting(`${members.length} of the ${total} pods of group ${name} exist`)
  const seated = members.slice(0, total)
  const podSets = podSetsByShape(seated)
  if (podSets.length > MAX_POD_SETS) {
    return invalid(`group ${name} has ${podSets.length} different pod shapes; at most ${MAX_POD_SETS} are possible`)
  }
  return planned(name, seated, podSets)
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
    podSets.push({ name: role, count, template: { spec: announcedOr(template, first) } })
    seated.push(...players)
  }
  return planned(name, seated, podSets)
}

/** One shape stands for all pods of a podSet, and they are charged by it: none of them may ask for more. */
function planned(name: string, seated: readonly Pod[], podSets: readonly PodSet[]): Composition {
  for (const podSet of podSets) {
    const charge = chargeOf(podSet)
    if ('problem' in charge) return invalid(`the requests of podSet ${podSet.name} cannot be read: ${charge.problem}`)
    for (const pod of seated) {
      const problem = roleNameOf(pod) === podSet.name ? uncovered(pod, podSet, charge) : undefined
      if (problem === undefined) continue
      return invalid(`pod ${pod.metadata.name} ${problem}; all of them may ask for that at most`)
    }
  }
  return { plan: planOf(name, seated, podSets, 'group') }
}

function announcedOr(template: PodSpec | undefined, first: Pod | undefined): PodSpec {
  return template ?? (first === undefined ? {} : specOf(first))
}

function podSetsByShape(members: readonly Pod[]): readonly PodSet[] {
  const roles = new Map<string, { count: number; first: Pod }>()
  for (const member of members) {
    const role = roleNameOf(member)
    const entry = roles.get(role)
    if (entry === undefined) roles.set(role, { count: 1, first: member })
    else entry.count += 1
  }
  return [...roles].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, { count, first }]) => podSetOf(name, count, first))
}

function planOf(
  name: string,
  pods: readonly Pod[],
  podSets: readonly PodSet[],
  kind: WorkloadPlan['kind'],
): WorkloadPlan {
  const [first] = pods
  return {
    kind,
    namespace: first?.metadata.namespace ?? '',
    name,
    queueName: first === undefined ? '' : queueOf(first),
    podSets,
    ...(first && { first }),
    models: new Map(podSets.flatMap(({ name }) => modelOf(name, kind, pods))),
    priority: first?.spec.priority ?? 0,
    ownerReferences: pods.slice(0, MAX_OWNERS).map(pod => ownerReference(pod, kind)),
    completeAt: newestVersion(pods),
  }
}

function modelOf(podSet: string, kind: UnitKind, pods: readonly Pod[]): readonly (readonly [string, Pod])[] {
  const model = kind === 'single' ? pods[0] : pods.find(pod => roleNameOf(pod) === podSet)
  return model === undefined ? [] : [[podSet, model]]
}

/** The garbage collector removes a Workload when the last of its pods is gone, with or without Muster. */
export function ownerReference(pod: Pod, kind: WorkloadPlan['kind']): OwnerReference {
  const { name = '', uid = '' } = pod.metadata
  const plain = { apiVersion: 'v1', kind: 'Pod', name, uid }
  return kind === 'single' ? { ...plain, controller: true, blockOwnerDeletion: true } : plain
}

export function newestVersion(pods: readonly Pod[]): string {
  const versions = pods.map(pod => pod.metadata.resourceVersion ?? '0')
  return versions.reduce((newest, version) => (compareVersions(version, newest) > 0 ? version : newest), '0')
}
