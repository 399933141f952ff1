import { hash } from 'node:crypto'
import { isSubdomain } from '../kube/vocabulary/formats.ts'
import type { Pod } from '../kube/vocabulary/objects.ts'
import { DEFAULT_SCHEDULER } from '../kube/vocabulary/served-scheduling.ts'
import { announces, groupNameOf, groupRoleOf, isFast, serves } from './group.ts'

/**
 * Which PodGroup of kube-scheduler a pod belongs to. A pod names it when it is created and can never change it, before
 * the group's Workload, or even its other pods, are there: so the name follows from what the pod itself says.
 */
const PREFIX = 'muster-group-'
/** Of the group's name in the PodGroup's, for people; the hash tells them apart. */
const MAX_SHOWN = 60
const HASH_LENGTH = 20

/** The PodGroup of a group, or of one role in it. No part of a Kubernetes name has a line break. */
export function podGroupNameFor(namespace: string, group: string, role = ''): string {
  const digest = hash('sha256', `${namespace}\n${group}\n${role}`).slice(0, HASH_LENGTH)
  return `${PREFIX}${shownOf(group)}-${digest}`
}

/**
 * A group whose name is none is refused by the validator, which says why. It is asked last: a PodGroup with such a name
 * would be refused before, by the API server, at a field that nobody has written.
 */
function shownOf(group: string): string {
  const shown = group.slice(0, MAX_SHOWN).replace(/[-.]+$/, '')
  return isSubdomain(shown)
    ? shown
    : shown
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-|-$/g, '') || 'group'
}

/** Whether only Muster gives out the name. */
export const isOurPodGroupName = (name: string): boolean => name.startsWith(PREFIX)

/** The PodGroup that the pod names, be it ours or its author's. */
export function podGroupOf(pod: Pod): string | undefined {
  const name: unknown = pod.spec.schedulingGroup?.podGroupName
  return typeof name === 'string' && name !== '' ? name : undefined
}

/**
 * The PodGroup that Muster puts the pod into; undefined for one that is placed by itself:
 * - a pod without a group: a gang of one is what every scheduler makes of it;
 * - a member of a group with fast admission, whose other pods may be made only when this one runs;
 * - a member of a group that serves: its pods come and go, and one that comes back must not wait for the others.
 *
 * A pod that announces others, as a driver does its workers, is placed before they are made, so its role has a PodGroup
 * of its own.
 */
export function placedIn(pod: Pod, namespace: string): string | undefined {
  const group = groupNameOf(pod)
  if (group === undefined || isFast(pod) || serves(pod)) return undefined
  return podGroupNameFor(namespace, group, announces(pod) ? groupRoleOf(pod) : undefined)
}

export const schedulerOf = ({ spec }: Pod): string => spec.schedulerName || DEFAULT_SCHEDULER
/** Empty: none. */
export const priorityClassOf = ({ spec }: Pod): string => spec.priorityClassName ?? ''
