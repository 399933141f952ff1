import type { CacheObserver } from '../kube/cache/observer.ts'
import { OptionalInformer } from '../kube/cache/optional-informer.ts'
import type { KubeApi } from '../kube/vocabulary/api.ts'
import type { Clock, Random } from '../kube/vocabulary/clock.ts'
import { kindKey, ownerKindKey, watchedOwners } from '../kube/vocabulary/frameworks.ts'
import type { Log } from '../kube/vocabulary/log.ts'
import { QUEUE_NAME } from '../kube/vocabulary/names.ts'
import { controllerOf, type KubeObject, type OwnerReference } from '../kube/vocabulary/objects.ts'
import type { Known } from '../server/asking-world.ts'
import type { OwnerFacts } from '../webhooks/world.ts'
import { queueLabelIn } from '../workload/pod-facts.ts'

export interface CacheDeps {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly observer: CacheObserver
}

/**
 * Metadata of the objects that own pods, for the kinds of the enabled frameworks. An owner that is not here may have
 * been created a moment ago, or be of a kind that nobody enabled: the review then asks for it once.
 */
export class OwnerCache {
  readonly #informers = new Map<string, OptionalInformer<KubeObject>>()

  constructor(deps: CacheDeps, frameworks: readonly string[]) {
    for (const resource of watchedOwners(frameworks)) {
      const informer = new OptionalInformer<KubeObject>({
        ...deps,
        resource,
        metadataOnly: true,
        transform: ownerForCache,
      })
      this.#informers.set(kindKey(resource.group, resource.kind), informer)
    }
  }

  get synced(): boolean {
    return [...this.#informers.values()].every(informer => informer.synced)
  }

  start(): void {
    for (const informer of this.#informers.values()) informer.start()
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#informers.values()].map(informer => informer.stop()))
  }

  find(namespace: string, reference: OwnerReference): Known<OwnerFacts> {
    return knownOwner(this.#informers.get(ownerKindKey(reference))?.get(namespace, reference.name), reference)
  }
}

/**
 * One with another uid may be what has gone before the one that is meant, which a watch that lags does not show yet: its
 * pods would be told that their owner does not hold them back, and would wait beside it for what it holds already.
 */
export function knownOwner(cached: KubeObject | undefined, { uid }: Pick<OwnerReference, 'uid'>): Known<OwnerFacts> {
  return cached?.metadata.uid === uid ? ownerFacts(cached) : 'unknown'
}

/** Longer than any reference to something that exists: names have at most 253 characters. */
const MAX_REFERENCE = 1024

/** Clusters have many owners and the walk reads little of each; and whoever owns one may write on it what he likes. */
export function ownerForCache({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, labels } = metadata
  const queue = queueLabelIn(labels)
  const controller = controllerOf(metadata.ownerReferences)
  const leads = controller !== undefined && JSON.stringify(controller).length <= MAX_REFERENCE
  return {
    apiVersion,
    kind,
    metadata: {
      ...{ name, namespace, uid, resourceVersion },
      ...(queue !== undefined && { labels: { [QUEUE_NAME]: queue } }),
      ...(leads && { ownerReferences: [controller] }),
    },
  }
}

export function ownerFacts({ metadata }: KubeObject): OwnerFacts {
  const { uid = '', labels, ownerReferences } = metadata
  return { uid, labels: labels ?? {}, ownerReferences: ownerReferences ?? [] }
}
