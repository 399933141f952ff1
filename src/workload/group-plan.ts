import type { Pod, PodSpec } from '../kube/vocabulary/objects.ts'
import { type GroupDeclaration, groupOf, groupRoleOf, requiredTopologyOf } from './group.ts'
import { type GroupSet, MAX_ROLES, type ParsedSets, parseGroupSets, type ReadSets } from './group-sets.ts'
import { isOurPodGroupName, placedIn, podGroupOf, priorityClassOf, schedulerOf } from './placement.ts'
import { queueOf, roleHashOf } from './pod-facts.ts'
import { roleHash } from './role-hash.ts'

/** One role of a group: how many pods it has, and what they look like if that is known before they exist. */
export interface PlannedRole {
  readonly name: string
  readonly count: number
  readonly template?: PodSpec
}

/** What the members of a group say together, or why they do not add up. */
export type GroupPlan =
  | { readonly kind: 'roles'; readonly roles: readonly PlannedRole[] }
  /** Roles are told apart by the shape of the pods, so they are known when all pods are there. */
  | { readonly kind: 'count'; readonly total: number; readonly fastAdmission: boolean }
  | { readonly kind: 'waiting'; readonly note: string }
  | { readonly kind: 'invalid'; readonly note: string }

/** The podSet a member belongs to: the role it names (KEP-976), or the hash of its shape as the webhook stamped it. */
export function roleNameOf(pod: Pod): string {
  return groupRoleOf(pod) ?? (roleHashOf(pod) ?? roleHash(pod.spec)).toLowerCase()
}

/** Each of them is placed by itself, and the others together: a Workload of the scheduler has eight templates. */
const MAX_ANNOUNCING = 7

interface Member {
  readonly pod: Pod
  readonly says: GroupDeclaration
}

/** Reads one plan out of what every member declares. Members that contradict each other make none. */
export function planGroup(name: string, pods: readonly Pod[]): GroupPlan {
  const members: Member[] = []
  const announced = new Announcements()
  for (const pod of pods) {
    const says = groupOf(pod, announced.read)
    if (announced.distinct > MAX_ROLES) return invalid(`the pods of group ${name} announce many different sets`)
    if (says === undefined) return invalid(`what pod ${pod.metadata.name} says about group ${name} cannot be read`)
    members.push({ pod, says })
  }
  const [first] = members
  if (first === undefined) return { kind: 'waiting', note: `group ${name} has no pods` }
  const contradiction =
    difference(members, 'their queue', ({ pod }) => queueOf(pod)) ??
    difference(members, 'the way they declare the group', ({ says }) => (isNamed(says) ? 'by roles' : 'by count')) ??
    difference(members, 'the size of the group', ({ says }) => says.totalCount) ??
    difference(members, 'the number of roles', ({ says }) => says.roles) ??
    difference(members, 'the sets of the group', ({ says }) => announced.written(says.sets)) ??
    difference(members, 'the PodGroup that they name (spec.schedulingGroup)', ({ pod }) => ownPodGroupOf(pod)) ??
    differenceInPlacing(members)
  if (contradiction !== undefined) return invalid(`${contradiction}; all pods of group ${name} must say the same`)

  const announcing = new Set(members.filter(({ says }) => says.sets !== undefined).map(({ says }) => says.role))
  if (announcing.size > MAX_ANNOUNCING) {
    return invalid(`pods of ${announcing.size} roles announce the sets of group ${name}: at most ${MAX_ANNOUNCING} may`)
  }
  if (isNamed(first.says)) return planRoles(name, members)
  const total = first.says.totalCount
  if (total === undefined) return invalid(`group ${name} declares no size`)
  return { kind: 'count', total, fastAdmission: first.says.fastAdmission }
}

/** Those that Muster gave their members may differ by role. */
function ownPodGroupOf(pod: Pod): string | undefined {
  const name = podGroupOf(pod)
  return name !== undefined && name === placedIn(pod, pod.metadata.namespace ?? '') ? "Muster's" : name
}

/**
 * kube-scheduler (1.37.1) looks at no pod of a PodGroup whose pods differ in scheduler or priority, and a PodGroup has
 * room for one topology: such a group would be admitted and never placed.
 */
function differenceInPlacing(members: readonly Member[]): string | undefined {
  const byPodGroup = Map.groupBy(members, ({ pod }) => podGroupOf(pod) ?? '')
  for (const [podGroup, together] of byPodGroup) {
    if (!isOurPodGroupName(podGroup)) continue
    const found =
      difference(together, 'their scheduler (spec.schedulerName)', ({ pod }) => schedulerOf(pod)) ??
      difference(together, 'their priority class', ({ pod }) => priorityClassOf(pod)) ??
      difference(together, 'the topology that they require', ({ pod }) => requiredTopologyOf(pod))
    if (found !== undefined) return found
  }
  return undefined
}

const invalid = (note: string): GroupPlan => ({ kind: 'invalid', note })
const isNamed = (says: GroupDeclaration): boolean => says.role !== undefined

/** Any member may announce, and most announce the same: each text is read once. */
class Announcements {
  readonly #read = new Map<string, ParsedSets>()
  readonly #written = new Map<readonly GroupSet[], string>()

  get distinct(): number {
    return this.#read.size
  }

  readonly read: ReadSets = (text, role) => {
    const key = `${role}/${text}`
    const known = this.#read.get(key)
    if (known !== undefined) return known
    const parsed = parseGroupSets(text, role)
    this.#read.set(key, parsed)
    this.#written.set(parsed.sets, JSON.stringify(parsed.sets))
    return parsed
  }

  /** For comparison: members in different roles read the same text each for itself. */
  written(sets: readonly GroupSet[] | undefined): string | undefined {
    return sets && this.#written.get(sets)
  }
}

/** A member that says nothing about a matter agrees with everybody: workers need not repeat what their driver said. */
function difference(members: readonly Member[], what: string, value: (member: Member) => unknown): string | undefined {
  const spoken = members.filter(member => value(member) !== undefined)
  const [first] = spoken
  const other = spoken.find(member => first !== undefined && value(member) !== value(first))
  if (first === undefined || other === undefined) return undefined
  const [one, two] = [first, other].map(({ pod }) => pod.metadata.name)
  const values = [first, other].map(member => String(value(member)))
  const shown = values.some(text => text.length > 40) ? '' : `: "${values.join('" and "')}"`
  return `pods ${one} and ${two} differ in ${what}${shown}`
}

/** KEP-976: sets that a driver announces, or as many roles as the members say, each seen at least once. */
function planRoles(name: string, members: readonly Member[]): GroupPlan {
  const driver = members.find(({ says }) => says.sets !== undefined)
  if (driver?.says.sets !== undefined) {
    const roles = driver.says.sets.map(({ name, count, template }) => ({
      name,
      count,
      ...(template && { template: template.spec as PodSpec }),
    }))
    return { kind: 'roles', roles }
  }
  const roles = new Map<string, { readonly count: number; readonly pod: Pod }>()
  for (const { pod, says } of members) {
    const known = roles.get(says.role ?? '')
    const count = says.roleCount ?? 1
    if (known !== undefined && known.count !== count) {
      const who = `pods ${known.pod.metadata.name} and ${pod.metadata.name}`
      return invalid(
        `${who} differ in the size of role ${says.role}: ${known.count} and ${count}; both must say the same`,
      )
    }
    roles.set(says.role ?? '', { count, pod })
  }
  const expected = members.find(({ says }) => says.roles !== undefined)?.says.roles
  if (expected === undefined) return { kind: 'waiting', note: `no pod of group ${name} says yet how many roles it has` }
  if (roles.size > expected) {
    return invalid(
      `group ${name} declares ${expected} roles, and its pods name ${roles.size}: ${shown([...roles.keys()])}`,
    )
  }
  if (roles.size < expected) {
    return { kind: 'waiting', note: `${roles.size} of the ${expected} roles of group ${name} have pods` }
  }
  return { kind: 'roles', roles: [...roles].map(([role, { count }]) => ({ name: role, count })) }
}

/** A message is for people: a few names are enough, and a tenant may make up any number of them. */
function shown(roles: readonly string[]): string {
  const more = roles.length - MAX_ROLES
  return `${roles.slice(0, MAX_ROLES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
