import type { Configuration } from '../../config/configuration.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { ROLE_HASH } from '../../kube/vocabulary/names.ts'
import type { Pod, PodSpec } from '../../kube/vocabulary/objects.ts'
import { askedOf } from '../../workload/asked.ts'
import { composeGroup } from '../../workload/compose.ts'
import {
  GROUP_MARKS,
  groupNameOf,
  groupNamePath,
  groupOf,
  isAdmittedAhead,
  MEMBER_MARKS,
} from '../../workload/group.ts'
import { POD_MARKS, queueOf } from '../../workload/pod-facts.ts'
import { roleHash } from '../../workload/role-hash.ts'
import type { Found } from './catalog.ts'
import { hasTexts } from './metadata.ts'
import type { Later } from './pods-later.ts'
import { tooSmall } from './queues.ts'

/** Whether the pods of the template are of that group. */
function isOf(group: string, { metadata }: Fields): boolean {
  return isObject(metadata) && hasTexts(metadata) && groupNameOf({ metadata } as unknown as Pod) === group
}

/** So many pods of a group are counted one by one: more are too many, or nobody can say whether they are too few. */
const MAX_MEMBERS = 20_000
/** Pods of so many shapes are told apart; a group has room for fewer. */
const MAX_SHAPES = 32

const MARKS = [...new Map([...POD_MARKS, ...GROUP_MARKS, ...MEMBER_MARKS].map(mark => [mark.path, mark])).values()]

interface Shape {
  readonly text: string
  /** The first of its pods, which stands for the others. */
  readonly pod: Pod
}

interface Group {
  readonly name: string
  readonly first: string
  readonly field: string
  readonly shapes: Shape[]
  readonly members: Pod[]
  total: number
  /** Nobody knows how many of its pods a controller makes. */
  isOpen: boolean
  /** How many of them wait for others of the group before they are made, and why the first of these do. */
  late: number
  later: Later | undefined
}

/** A pod, or the pods of a template, on their way into their group. */
export interface Joining {
  readonly given: Fields
  readonly namespace: string
  /** By which the review asks. */
  readonly key: string
  /** Undefined where nobody knows how many will be made. */
  readonly count: number | undefined
  readonly name: string
  /** If some of them are made only when others run. */
  readonly later?: Later
}

/** The groups of all inputs, with what decides about each: their pods are kept as shapes, since most are alike. */
export class Grouped {
  readonly #config: Configuration
  readonly #texts = new Map<string, string>()
  #groups = new Map<string, Group>()

  constructor(config: Configuration) {
    this.#config = config
  }

  join({ given, namespace, key, count, name, later }: Joining): void {
    const { metadata, spec } = given
    if (!isObject(metadata) || !isObject(spec)) return
    const pod = { metadata, spec } as unknown as Pod
    const group = hasTexts(metadata) ? groupNameOf(pod) : undefined
    if (group === undefined || groupOf(pod) === undefined) return
    const joined = this.#groupOf(`${namespace}\n${group}`, group, key, groupNamePath(pod))
    const { member, isNew } = this.#memberOf(joined, pod, namespace, name)
    if (count === undefined) joined.isOpen = true
    joined.total += count ?? 1
    if (later?.behind.some(template => isOf(group, template))) {
      joined.late += Math.max((count ?? 1) - later.atOnce, 0)
      joined.later ??= later
    }
    const room = Math.max(MAX_MEMBERS - joined.members.length, isNew ? 1 : 0)
    for (let each = 0; each < Math.min(count ?? 1, room); each++) joined.members.push(member)
  }

  /** When all are known: from now on they are asked for by the key of their first pod. */
  close(): void {
    this.#groups = new Map([...this.#groups.values()].map(group => [group.first, group]))
    this.#texts.clear()
  }

  find(key: string): readonly Found[] {
    const group = this.#groups.get(key)
    return group === undefined ? [] : this.#judge(group)
  }

  #groupOf(id: string, name: string, first: string, field: string): Group {
    const known = this.#groups.get(id)
    if (known !== undefined) return known
    const group: Group = {
      name,
      first,
      field,
      shapes: [],
      members: [],
      total: 0,
      isOpen: false,
      late: 0,
      later: undefined,
    }
    this.#groups.set(id, group)
    return group
  }

  #memberOf(
    { name: group, shapes }: Group,
    pod: Pod,
    namespace: string,
    name: string,
  ): { readonly member: Pod; readonly isNew: boolean } {
    const marks = { labels: {} as Record<string, string>, annotations: {} as Record<string, string> }
    for (const mark of MARKS) {
      const value = mark.of(pod)
      if (value !== undefined) marks[mark.in][mark.key] = this.#shared(value)
    }
    marks.annotations[ROLE_HASH] ??= this.#shared(roleHash(pod.spec))
    const { schedulerName, priorityClassName, schedulingGroup } = pod.spec
    const spec = { schedulerName, priorityClassName, schedulingGroup } as PodSpec
    const asks = this.#shared(JSON.stringify(askedOf(pod.spec)))
    // Without the name of the group, so that groups that are alike share the text.
    const says = MARKS.map(({ in: map, key }) => (marks[map][key] === group ? 0 : marks[map][key]))
    const text = this.#shared(JSON.stringify([says, spec, asks]))
    const known = shapes.find(shape => shape.text === text)
    if (known !== undefined) return { member: known.pod, isNew: false }
    const member = { metadata: { name, namespace, ...marks }, spec, asks } as Pod
    const isNew = shapes.length < MAX_SHAPES
    if (isNew) shapes.push({ text, pod: member })
    return { member, isNew }
  }

  #shared(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    this.#texts.set(text, text)
    return text
  }

  /** What Muster would say of the group, if these were its pods. */
  #judge({ name, members, total, isOpen, field, late, later }: Group): readonly Found[] {
    const [pod] = members
    if (pod === undefined) return []
    const composed = composeGroup(name, members)
    if (!('plan' in composed) && composed.reason === 'InvalidGroup') {
      return [{ code: 'GroupInvalid', message: composed.note, field }]
    }
    // Whether its pods contradict each other could be said, but not whether they are too few or too many.
    if (isOpen) return []
    if (!('plan' in composed)) {
      if (total > members.length) return []
      const message = `${composed.note}: it waits for the others (${composed.reason})`
      return [{ code: 'GroupIncomplete', message, field }]
    }
    const small = tooSmall(queueOf(pod), composed.plan.podSets, this.#config)
    const seats = composed.plan.podSets.reduce((sum, { count }) => sum + count, 0)
    if (isAdmittedAhead(pod)) return small
    if (later !== undefined && total - late < seats) {
      const message = `group ${name} never starts: ${later.why}, and none runs before all ${seats} are there; ${later.remedy}`
      return [...small, { code: 'GroupDeadlock', message, field }]
    }
    if (total <= seats) return small
    const message = `group ${name} has ${total} pods here and declares ${seats}: what is too many never starts`
    return [...small, { code: 'GroupExcess', message, field }]
  }
}
