import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeClient } from '../src/kube/client/client.ts'
import type { Condition, KubeObject } from '../src/kube/vocabulary/objects.ts'
import { JOBS, PODS } from '../src/kube/vocabulary/resources.ts'
import { queuedJob } from '../test/cluster/support/manifests.ts'
import type { Muster } from '../test/cluster/support/muster.ts'
import { deletePods, inParallel } from './pods.ts'

type Job = KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } }

export const PODS_OF_A_JOB = 4

/** First create to last end, as somebody sees it who watches. The pods end as soon as they run. */
export async function jobSeconds(api: KubeClient, namespace: string, count: number, queue?: string): Promise<number> {
  const started = performance.now()
  const ended = untilComplete(api, namespace, count)
  const wish = { namespace, parallelism: PODS_OF_A_JOB, outcome: 'succeed', ...(queue && { queue }) } as const
  await inParallel(count, index => api.create(JOBS, queuedJob({ ...wish, name: `job-${index}` }) as KubeObject))
  await ended
  const seconds = (performance.now() - started) / 1000
  await deleteJobs(api, namespace)
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

async function deleteJobs(api: KubeClient, namespace: string): Promise<void> {
  const { items } = await api.list<Job>(JOBS, { namespace })
  await inParallel(items.length, async index => {
    await api.delete(JOBS, { namespace, name: items[index]?.metadata.name ?? '' }, {}).catch(() => undefined)
  })
  await deletePods(api, namespace)
  while ((await api.list(PODS, { namespace, limit: 1 })).items.length > 0) await sleep(200)
}

/** What Muster has written so far, Leases and Events apart. */
export async function writesOf(muster: Muster): Promise<{ readonly objects: number; readonly events: number }> {
  const { body } = await muster.health('/metrics')
  let [objects, events] = [0, 0]
  for (const line of body.split('\n')) {
    const [, labels = '', value] = /^muster_api_requests_total\{(.*)\} (\d+)/.exec(line) ?? []
    if (!/verb="(create|patch|update|delete)"/.test(labels)) continue
    if (/resource="events"/.test(labels)) events += Number(value)
    else if (/resource="(jobs|workloads|pods)"/.test(labels)) objects += Number(value)
  }
  return { objects, events }
}
