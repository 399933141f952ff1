import { ApiError, type KubeApi } from '../../kube/vocabulary/api.ts'
import type { Clock } from '../../kube/vocabulary/clock.ts'
import { ownerResource } from '../../kube/vocabulary/frameworks.ts'
import type { OwnerReference } from '../../kube/vocabulary/objects.ts'
import { slimOwner } from './cache-contents.ts'
import { type Owner, ownerOf } from './objects.ts'
import { type Lookup, referenceKey } from './owners.ts'

/** As long as the pods of one owner come, one after the other, it need not be asked for again. */
const FRESH_MS = 5000
const MOST_KEPT = 2000

type Found = Owner | 'absent' | 'unreadable'

/**
 * The objects above pods, of whatever kind: they are not watched, since nobody knows which kinds there are. One that
 * Muster has no right to read is as if it were not there, and the rights are given in a ClusterRole of the cluster's own.
 */
export class OwnerLookups {
  readonly #api: KubeApi
  readonly #clock: Clock
  readonly #kept = new Map<string, { readonly found: Found; readonly at: number }>()

  constructor(api: KubeApi, clock: Clock) {
    this.#api = api
    this.#clock = clock
  }

  find(namespace: string, reference: OwnerReference): Found | undefined {
    const kept = this.#kept.get(keyOf(namespace, reference))
    return kept === undefined || this.#clock.monotonic() - kept.at > FRESH_MS ? undefined : kept.found
  }

  /** What one decision has learnt it knows to its end, however long it takes and however much others ask meanwhile. */
  forDecision(namespace: string): { readonly find: Lookup; readonly lookUp: (of: OwnerReference) => Promise<void> } {
    const learnt = new Map<string, Found>()
    return {
      find: reference => learnt.get(referenceKey(reference)) ?? this.find(namespace, reference),
      lookUp: async reference => {
        learnt.set(referenceKey(reference), await this.lookUp(namespace, reference))
      },
    }
  }

  async lookUp(namespace: string, reference: OwnerReference): Promise<Found> {
    const found = await this.#ask(namespace, reference)
    if (this.#kept.size >= MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value ?? '')
    this.#kept.set(keyOf(namespace, reference), { found, at: this.#clock.monotonic() })
    return found
  }

  async #ask(namespace: string, reference: OwnerReference): Promise<Found> {
    const { apiVersion, kind, name } = reference
    try {
      const object = await this.#api.get(ownerResource(reference), { namespace, name }, { metadataOnly: true })
      return slimOwner(ownerOf(object, apiVersion, kind))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status === 404) return 'absent'
      // A name that no object can have is answered with 400.
      if (error.status === 403 || error.status === 400) return 'unreadable'
      throw error
    }
  }
}

const keyOf = (namespace: string, reference: OwnerReference): string => `${namespace}/${referenceKey(reference)}`
