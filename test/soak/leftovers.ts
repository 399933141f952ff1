import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'
import type { Api } from './api.ts'
import { NAMESPACE } from './clients.ts'

const KINDS: readonly (readonly [string, string])[] = [
  ['Pod', `/api/v1/namespaces/${NAMESPACE}/pods`],
  ['Job', `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`],
  ['Workload', `/apis/muster.dev/v1alpha1/namespaces/${NAMESPACE}/workloads`],
]
const NAMESPACE_PATH = `/api/v1/namespaces/${NAMESPACE}`

/** Everything has been deleted by whoever made it: what Muster made for it goes, too, within this time. */
const PATIENCE_MS = 300_000

/** What is left when all clients have deleted what was theirs, and whether the namespace itself can go. */
export async function remains(api: Api, now: () => number): Promise<readonly string[]> {
  const left = await settled(() => listed(api), now)
  await api.send('DELETE', NAMESPACE_PATH)
  const namespace = await settled(async () => {
    const { status } = await api.send('GET', NAMESPACE_PATH)
    return status === 404 ? [] : [`namespace ${NAMESPACE} is still there (${status})`]
  }, now)
  return [...left, ...namespace]
}

/** Of everything that is there, what tells why it waits. */
export async function statesOf(api: Api): Promise<string> {
  const lines: string[] = []
  for (const [kind, path] of KINDS) {
    const { object } = await api.send('GET', path)
    const { items = [] } = (object ?? {}) as { readonly items?: readonly (KubeObject & { readonly status?: object })[] }
    lines.push(
      ...items.map(({ metadata, status }) => `${kind} ${metadata.name} ${JSON.stringify({ metadata, status })}`),
    )
  }
  return lines.join('\n')
}

async function listed(api: Api): Promise<readonly string[]> {
  const found: string[] = []
  for (const [kind, path] of KINDS) {
    const { status, message, object } = await api.send('GET', path)
    if (status !== 200) return [`${path} cannot be listed: ${status} ${message}`]
    const { items = [] } = (object ?? {}) as { readonly items?: readonly KubeObject[] }
    found.push(...items.map(({ metadata }) => `${kind} ${metadata.name} is left`))
  }
  return found
}

async function settled(check: () => Promise<readonly string[]>, now: () => number): Promise<readonly string[]> {
  const until = now() + PATIENCE_MS
  for (;;) {
    const left = await check()
    if (left.length === 0 || now() > until) return left
    await sleep(500)
  }
}
