import type { Configuration } from '../config/configuration.ts'
import { ApiError, type KubeApi } from '../kube/vocabulary/api.ts'
import { ownerResource } from '../kube/vocabulary/frameworks.ts'
import { DEFAULT_QUEUE } from '../kube/vocabulary/names.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import { NAMESPACES } from '../kube/vocabulary/resources.ts'
import type { ServedScheduling } from '../kube/vocabulary/served-scheduling.ts'
import { Lanes } from '../reconciler/lanes.ts'
import type { CachedWorld, Fact, Lookup } from '../server/asking-world.ts'
import type { LookUp } from '../server/inquiry.ts'
import { type OwnerCache, ownerFacts } from './owner-cache.ts'

interface Objects {
  get(namespace: string, name: string): KubeObject | undefined
}

export interface ClusterWorldDeps {
  readonly config: Configuration
  readonly self: string
  readonly holds: readonly string[]
  readonly namespaces: Objects
  readonly owners: Pick<OwnerCache, 'find'>
  /** LocalQueues named `default`. */
  readonly defaultQueues: Objects
  readonly scheduling: () => ServedScheduling
}

/** The world of a server that has a cluster: everything from watch caches, nothing from calls. */
export function clusterWorld(deps: ClusterWorldDeps): CachedWorld {
  const { config, self, holds, namespaces, owners, defaultQueues, scheduling } = deps
  return {
    config,
    self,
    holds,
    scheduling,
    namespace: name => namespaces.get('', name)?.metadata ?? 'unknown',
    owner: (namespace, reference) => owners.find(namespace, reference),
    hasDefaultQueue: namespace => defaultQueues.get(namespace, DEFAULT_QUEUE) !== undefined,
  }
}

/** What the cache keeps of a namespace. */
export function slimNamespace({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, uid, resourceVersion, labels } = metadata
  return { apiVersion, kind, metadata: { ...{ name, uid, resourceVersion }, labels: labels ?? {} } }
}

/** And of a queue: that it is there. */
export function slimQueue({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } }
}

/** Fetches what no cache holds yet: a namespace or an owner that was created a moment ago. Metadata is enough. */
export async function lookUp(
  api: KubeApi,
  lookups: readonly Lookup[],
  signal: AbortSignal,
  turns = new Lanes(),
): Promise<readonly Fact[]> {
  return await Promise.all(
    lookups.map(async question => {
      const object = await turns.run(0, () => fetchOne(api, question, signal))
      if (object === undefined) return { question, answer: 'absent' as const }
      return { question, answer: question.kind === 'owner' ? ownerFacts(object) : slimNamespace(object).metadata }
    }),
  )
}

/**
 * Each review that waits for a look-up is held in memory, and whoever reaches the port can make as many as he likes:
 * beyond so many the review fails at once, and the API server tells whoever asked to try again.
 */
export function boundedLookUp(ask: LookUp, most: number): LookUp {
  let open = 0
  return async (lookups, signal) => {
    if (open + lookups.length > most) throw new Error('too many objects are being looked up at the moment: try again')
    open += lookups.length
    try {
      return await ask(lookups, signal)
    } finally {
      open -= lookups.length
    }
  }
}

async function fetchOne(api: KubeApi, lookup: Lookup, signal: AbortSignal): Promise<KubeObject | undefined> {
  const options = { signal, metadataOnly: true }
  try {
    const { namespace } = lookup
    if (lookup.kind === 'namespace') return await api.get(NAMESPACES, { name: namespace }, options)
    const { reference } = lookup
    return await api.get(ownerResource(reference), { namespace, name: reference.name }, options)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}
