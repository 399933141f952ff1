import { hash } from 'node:crypto'
import type { Resource } from '../kube/vocabulary/api.ts'
import { MAX_NAME_LENGTH } from '../kube/vocabulary/formats.ts'
import { PODS } from '../kube/vocabulary/resources.ts'

/** Less the dash and the five digits that make it unique. */
const MAX_PREFIX = MAX_NAME_LENGTH - 6

/**
 * The Workload of one object, named as Kueue names it: the uid is in the hash, so an object that is deleted and created
 * again under its old name never meets the Workload of its predecessor.
 */
export function workloadName({ group, kind }: Pick<Resource, 'group' | 'kind'>, name: string, uid: string): string {
  const suffix = hash('sha1', `${kind}\n${group}\n${name}\n${uid}`).slice(0, 5)
  const prefix = Buffer.from(`${kind.toLowerCase()}-${name}`).subarray(0, MAX_PREFIX).toString()
  // A dot at the cut would have a dash behind it, which is no name.
  return `${prefix.replace(/\.+$/, '')}-${suffix}`
}

export const singlePodWorkloadName = (podName: string, podUid: string): string => workloadName(PODS, podName, podUid)
