import type { Pod } from '../../kube/vocabulary/objects.ts'
import type { Admission } from '../../reconciler/co-scheduler.ts'
import type { Standing } from '../../reconciler/decision.ts'
import { shortHash } from '../../workload/builder/names.ts'
import { announces, forbidsRetries, promisesAll } from '../../workload/group.ts'
import { roleNameOf } from '../../workload/group-plan.ts'
import { isOurPodGroupName, placedIn, podGroupNameFor, podGroupOf } from '../../workload/placement.ts'
import { isGated, isTerminal } from '../../workload/pod-facts.ts'
import { isUnplaced } from '../waiting.ts'
import { differenceTo, type Terms, termsOf } from './terms.ts'

/** Pods of a unit that share a PodGroup of Muster's. */
export interface Gang {
  readonly podGroup: string
  /** Its template in the group's Workload. */
  readonly template: string
  /** How many have to be placed together; undefined: each as it comes. */
  readonly minCount: number | undefined
  readonly terms: Terms
  /** Behind the gate. */
  readonly waiting: readonly Pod[]
  /** Lifted, and on no node yet. */
  readonly unplaced: readonly Pod[]
}

export interface Gangs {
  readonly gangs: readonly Gang[]
  /** Members that name no PodGroup, or not that of the others. */
  readonly nameless: readonly Pod[]
  readonly misplaced: readonly Standing[]
  /** Of those that a driver has announced and that are not there yet; undefined where nobody announces any. */
  readonly expected: Expected | undefined
}

export type Expected = Pick<Gang, 'template' | 'minCount'>

/** The template of those that no role of their own sets apart. */
export const ALL = 'pods'
/** A template's name is a label. */
const MAX_TEMPLATE = 63

/** Who is placed with whom, from what the seated pods name. */
export function gangsOf({ unit, workload, seating }: Admission): Gangs {
  const seated = [...seating.taken, ...seating.lift.map(({ pod }) => pod)]
  const waiting = new Set(seating.lift.map(({ pod }) => pod))
  const gangs: Gang[] = []
  const nameless: Pod[] = []
  const misplaced: Standing[] = []
  const byPlace = Map.groupBy(seated, pod => placedIn(pod, unit.namespace))
  for (const [place, pods] of byPlace) {
    if (place === undefined) continue
    const named = pods.map(podGroupOf).find(name => name !== undefined)
    if (named === undefined) continue
    const { fitting = [], none = [], other = [] } = Object.groupBy(pods, pod => fits(podGroupOf(pod), named))
    misplaced.push(...other.filter(pod => waiting.has(pod)).map(pod => wrongGroup(pod, named)))
    if (named !== place) {
      // Its author's own: he makes it, and says how many it wants.
      if (isOurPodGroupName(named)) misplaced.push(...fitting.filter(pod => waiting.has(pod)).map(notItsGroup))
      continue
    }
    nameless.push(...none)
    const terms = termsOf(fitting)
    const odd = fitting.filter(pod => waiting.has(pod)).flatMap(pod => oddOne(pod, terms) ?? [])
    misplaced.push(...odd)
    const kept = new Set(odd.map(({ pod }) => pod))
    gangs.push({
      podGroup: place,
      template: templateOf(fitting),
      minCount: sizeOf({ workload, seating, unit }, seated, pods, fitting),
      terms,
      waiting: fitting.filter(pod => waiting.has(pod) && !kept.has(pod)),
      unplaced: fitting.filter(pod => !waiting.has(pod) && isUnplaced(pod)),
    })
  }
  return { gangs, nameless, misplaced, expected: expectedIn({ unit, workload, seating }, seated) }
}

/** The others of an announcement are placed apart from those who announce them: mostly they are made by these. */
function expectedIn(admission: Pick<Admission, 'unit' | 'workload' | 'seating'>, seated: readonly Pod[]) {
  const announced = new Set(seated.filter(announces).map(roleNameOf))
  if (announced.size === 0 || admission.workload.spec.podSets.every(({ name }) => announced.has(name))) return undefined
  return { template: ALL, minCount: sizeOf(admission, seated, [], []) }
}

function fits(name: string | undefined, named: string): 'fitting' | 'none' | 'other' {
  if (name === undefined) return 'none'
  return name === named ? 'fitting' : 'other'
}

const wrongGroup = (pod: Pod, named: string): Standing => ({
  pod,
  reason: 'InvalidGroup',
  note: `it names PodGroup ${podGroupOf(pod)} (spec.schedulingGroup) and the others ${named}: create it anew with theirs`,
})

const notItsGroup = (pod: Pod): Standing => ({
  pod,
  reason: 'InvalidGroup',
  note: `PodGroup ${podGroupOf(pod)} is of another group (spec.schedulingGroup): create the pod without it`,
})

/** One that differs would keep all the others from being placed: it waits, and its place waits with it. */
function oddOne(pod: Pod, terms: Terms): Standing | undefined {
  const what = differenceTo(pod, terms)
  if (what === undefined) return undefined
  const note =
    `it differs from the others of its PodGroup ${podGroupOf(pod)} in ${what}, and kube-scheduler would place none of ` +
    'them: create it anew with theirs'
  return { pod, reason: 'InvalidGroup', note }
}

function templateOf([first]: readonly Pod[]): string {
  if (first === undefined || !announces(first)) return ALL
  const name = `role-${roleNameOf(first)}`
  if (name.length <= MAX_TEMPLATE) return name
  // Two roles may be alike as far as there is room.
  const hash = shortHash(name)
  return `${name.slice(0, MAX_TEMPLATE - hash.length - 1).replace(/-+$/, '')}-${hash}`
}

/**
 * All pods that are still to come or to run: who has succeeded is not there any more, and who names no PodGroup does not
 * count in it. A place that waits for a replacement counts, unless the group wants none.
 */
function sizeOf(
  { unit, workload, seating }: Pick<Admission, 'unit' | 'workload' | 'seating'>,
  seated: readonly Pod[],
  here: readonly Pod[],
  members: readonly Pod[],
): number | undefined {
  if (!seated.some(announces)) {
    const left = members.filter(pod => !isTerminal(pod)).length
    return left + replacementsIn({ unit, seating })
  }
  // A gang over pods that may never be made could never start.
  if (!seated.some(promisesAll)) return undefined
  const roles = rolesOf(seated, here)
  if (roles === undefined) return undefined
  const places = workload.spec.podSets.filter(({ name }) => roles(name)).reduce((sum, { count }) => sum + count, 0)
  const own = new Set(members)
  const others = here.filter(pod => !own.has(pod) || isTerminal(pod)).length
  return places - others
}

/** Places that wait for a replacement. What a pod says that has not started does not count: its author may change it. */
export const replacementsIn = ({ unit, seating }: Pick<Admission, 'unit' | 'seating'>): number =>
  unit.pods.some(pod => !isGated(pod) && forbidsRetries(pod)) ? 0 : seating.vacant

/** Which roles are placed here: those of the announcers, or all the others. Undefined where a role is on both sides. */
function rolesOf(seated: readonly Pod[], here: readonly Pod[]): ((role: string) => boolean) | undefined {
  const announced = new Set(seated.filter(announces).map(roleNameOf))
  if (seated.some(pod => !announces(pod) && announced.has(roleNameOf(pod)))) return undefined
  if (!here.some(announces)) return role => !announced.has(role)
  const own = new Set(here.map(roleNameOf))
  return role => own.has(role)
}

/** Of the Workload in which the group's PodGroups have their templates. */
export const schedulingWorkloadName = ({ unit }: Pick<Admission, 'unit'>): string =>
  podGroupNameFor(unit.namespace, unit.name)
