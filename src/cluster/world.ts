import type { Lookup } from '../admission/verdict.ts'
import type { Configuration } from '../config/configuration.ts'
import { ApiError, type KubeApi } from '../kube/vocabulary/api.ts'
import { ownerResource } from '../kube/vocabulary/frameworks.ts'
import type { KubeObject, StringMap } from '../kube/vocabulary/objects.ts'
import { NAMESPACES } from '../kube/vocabulary/resources.ts'
import type { Found, OwnerFacts, World } from '../webhooks/world.ts'
import { type OwnerCache, ownerFacts } from './owner-cache.ts'

interface Objects {
  get(namespace: string, name: string): KubeObject | undefined
}

export interface ClusterWorldDeps {
  readonly config: Configuration
  readonly self: string
  readonly namespaces: Objects
  readonly owners: Pick<OwnerCache, 'find'>
  /** LocalQueues named `default`. */
  readonly defaultQueues: Objects
}

/** The world of a server that has a cluster: everything from watch caches, nothing from calls. */
export function clusterWorld({ config, self, namespaces, owners, defaultQueues }: ClusterWorldDeps): World {
  return {
    config,
    self,
    namespaceLabels: name => {
      const namespace = namespaces.get('', name)
      return namespace === undefined ? 'unknown' : { found: namespace.metadata.labels ?? {} }
    },
    owner: (namespace, reference) => owners.find(namespace, reference),
    hasDefaultQueue: namespace => defaultQueues.get(namespace, 'default') !== undefined,
  }
}

/**
 * Fetches what no cache holds yet: a namespace or an owner that was created a moment ago. Metadata is enough.
 * The answer is a world that knows a little more, for this one review.
 */
export async function lookUp(
  api: KubeApi,
  lookups: readonly Lookup[],
  world: World,
  signal: AbortSignal,
): Promise<World> {
  const facts = await Promise.all(lookups.map(async lookup => [lookup, await fetchOne(api, lookup, signal)] as const))
  const namespaces = new Map<string, Found<StringMap>>()
  const owners = new Map<string, Found<OwnerFacts>>()
  for (const [lookup, object] of facts) {
    if (lookup.kind === 'namespace') {
      namespaces.set(lookup.name, object === undefined ? 'absent' : { found: object.metadata.labels ?? {} })
    } else {
      owners.set(ownerKey(lookup), object === undefined ? 'absent' : { found: ownerFacts(object) })
    }
  }
  return {
    ...world,
    namespaceLabels: name => namespaces.get(name) ?? world.namespaceLabels(name),
    owner: (namespace, reference) =>
      owners.get(ownerKey({ ...reference, namespace, ownerKind: reference.kind })) ?? world.owner(namespace, reference),
  }
}

async function fetchOne(api: KubeApi, lookup: Lookup, signal: AbortSignal): Promise<KubeObject | undefined> {
  try {
    if (lookup.kind === 'namespace') return await api.get(NAMESPACES, { name: lookup.name }, { signal })
    const { apiVersion, ownerKind: kind, namespace, name } = lookup
    return await api.get(ownerResource({ apiVersion, kind }), { namespace, name }, { signal })
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

function ownerKey(owner: { namespace: string; apiVersion: string; ownerKind: string; name: string }): string {
  return `${owner.namespace}/${owner.apiVersion}/${owner.ownerKind}/${owner.name}`
}
