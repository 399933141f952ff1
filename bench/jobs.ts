import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeClient } from '../src/kube/client/client.ts'
import type { Condition, KubeObject } from '../src/kube/vocabulary/objects.ts'
import { JOBS, PODS } from '../src/kube/vocabulary/resources.ts'
import type { Kubectl } from '../test/cluster/support/kubectl.ts'
import { queuedJob } from '../test/cluster/support/manifests.ts'
import type { Muster } from '../test/cluster/support/muster.ts'
import { deletePods, inParallel } from './pods.ts'

type Job = KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } }

export const PODS_OF_A_JOB = 4

interface Access {
  readonly api: KubeClient
  readonly kubectl: Kubectl
}

/** First create to last end, as somebody sees it who watches. The pods end as soon as they run. */
export async function jobSeconds(
  { api, kubectl }: Access,
  namespace: string,
  count: number,
  queue?: string,
): Promise<number> {
  const started = performance.now()
  const wish = { namespace, parallelism: PODS_OF_A_JOB, outcome: 'succeed', ...(queue && { queue }) } as const
  await Promise.all([
    untilComplete(api, namespace, count),
    inParallel(count, index => api.create(JOBS, queuedJob({ ...wish, name: `job-${index}` }) as KubeObject)),
  ])
  const seconds = (performance.now() - started) / 1000
  await deleteJobs(api, kubectl, namespace)
  return seconds
}

async function untilComplete(api: KubeClient, namespace: string, count: number): Promise<void> {
  const complete = new Set<string>()
  const stop = new AbortController()
  for (let tries = 0; tries < 20; tries++) {
    for await (const event of api.watch<Job>(JOBS, { namespace }, stop.signal)) {
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue
      const { metadata, status } = event.object
      if (status?.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True')) {
        complete.add(metadata.uid ?? '')
      }
      if (complete.size >= count) return stop.abort()
    }
  }
  throw new Error(`the watch ended with ${complete.size} of ${count} complete`)
}

/** As people do it: without kubectl a deleted Job leaves its pods and its Workload behind, and Muster deletes the latter. */
async function deleteJobs(api: KubeClient, kubectl: Kubectl, namespace: string): Promise<void> {
  await kubectl(['delete', 'jobs', '--all', '-n', namespace, '--wait=false'], { timeoutMs: 300_000 })
  await deletePods(api, namespace)
  while ((await api.list(PODS, { namespace, limit: 1 })).items.length > 0) await sleep(200)
}

export interface Writes {
  readonly objects: number
  readonly events: number
  /** Tried on an object that had changed, and so not written: a Job's own controller writes at the same time. */
  readonly refused: number
}

/** What Muster has written so far, Leases and Events apart. */
export async function writesOf(muster: Muster): Promise<Writes> {
  const { body } = await muster.health('/metrics')
  let [objects, events, refused] = [0, 0, 0]
  for (const line of body.split('\n')) {
    const [, labels = '', value] = /^muster_api_requests_total\{(.*)\} (\d+)/.exec(line) ?? []
    if (!/verb="(create|patch|update|delete)"/.test(labels)) continue
    if (/resource="events"/.test(labels)) events += Number(value)
    else if (!/resource="(jobs|workloads|pods)"/.test(labels)) continue
    else if (/code="2/.test(labels)) objects += Number(value)
    else refused += Number(value)
  }
  return { objects, events, refused }
}
