import { hash } from 'node:crypto'
import { MAX_NAME_LENGTH } from '../kube/vocabulary/formats.ts'

/** Less the dash and the five digits that make it unique. */
const MAX_PREFIX = MAX_NAME_LENGTH - 6

/**
 * The Workload of a single pod, named as Kueue names it: the pod's uid is in the hash, so a pod that is
 * deleted and created again under its old name never meets the Workload of its predecessor.
 */
export function singlePodWorkloadName(podName: string, podUid: string): string {
  const suffix = hash('sha1', `Pod\n\n${podName}\n${podUid}`).slice(0, 5)
  const prefix = Buffer.from(`pod-${podName}`).subarray(0, MAX_PREFIX).toString()
  return `${prefix}-${suffix}`
}
