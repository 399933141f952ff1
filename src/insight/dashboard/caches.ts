import { coSchedulers } from '../../cluster/co-schedulers.ts'
import { type CachePorts, CacheSet } from '../../kube/cache/cache-set.ts'
import { Informer } from '../../kube/cache/informer.ts'
import type { Discovery, KubeApi, Resource } from '../../kube/vocabulary/api.ts'
import { MANAGED, NAMESPACE_NAME_LABEL } from '../../kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../kube/vocabulary/objects.ts'
import { EVENTS, NAMESPACES, PODS } from '../../kube/vocabulary/resources.ts'
import { matchesSelector } from '../../kube/vocabulary/selectors.ts'
import { POD_OUTLINE, podForCache } from '../../reconciler/cache-contents.ts'
import { NOBODY, objectKey, type Placement } from '../../reconciler/co-scheduler.ts'
import type { Records } from '../../reconciler/unit.ts'
import { unitKeyOf, unitKeyOfWorkload } from '../../reconciler/unit.ts'
import { isMarkedManaged } from '../../workload/pod-facts.ts'
import type { QueuedWorkload } from '../../workload/queued-workload.ts'
import type { Installation } from '../installation.ts'
import type { Scope } from '../scope.ts'
import { LAST_WORD_FIELDS, LAST_WORD_OUTLINE, type LastWord, lastWordIn, wordForCache } from './last-words.ts'
import type { Sights } from './sights.ts'
import type { Known } from './waiting.ts'

type Ports = CachePorts & { readonly api: KubeApi & Discovery }

/** Who is told what changes. */
export interface Listeners {
  pod(pod: Pod): void
  workload(workload: QueuedWorkload, gone: boolean): void
  /** A unit may stand elsewhere. */
  unit(id: string): void
  any(): void
}

/**
 * What the caller may read of a cluster, kept up to date by watches: the Workloads, the pods that Muster manages, what
 * schedulers place them by, and Muster's own Events. Of each as little is kept as the reconciler itself keeps.
 */
export class Caches {
  readonly api: KubeApi & Discovery
  readonly workloads: Informer<QueuedWorkload>
  readonly #pods: Informer<Pod> | undefined
  readonly #namespaces: Informer<KubeObject> | undefined
  readonly #words: Informer<LastWord> | undefined
  readonly #scheduling: ReadonlyMap<Resource, Informer<KubeObject>>
  readonly #whole: CacheSet
  readonly scope: Scope
  readonly known: Known

  constructor(ports: Ports, installation: Installation, sights: Sights) {
    const { engine } = installation
    this.api = ports.api
    this.scope = sights.workloads
    const schedulers = sights.scheduling.size === 0 ? [] : coSchedulers()
    this.workloads = new Informer<QueuedWorkload>({
      ...ports,
      ...sights.workloads,
      resource: engine.workloads,
      indexes: {
        unit: workload => [unitKeyOfWorkload(workload)],
        owner: ({ metadata }) => (metadata.ownerReferences ?? []).map(owner => owner.uid),
      },
      transform: workload => engine.forCache(workload),
    })
    this.#pods =
      sights.pods &&
      new Informer<Pod>({
        ...{ ...ports, ...sights.pods, resource: PODS, labelSelector: `${MANAGED}=true`, accepts: isMarkedManaged },
        indexes: {
          unit: pod => [unitKeyOf(pod)],
          uid: ({ metadata }) => [metadata.uid ?? ''],
          placed: pod => schedulers.flatMap(scheduler => scheduler.objectsOf(pod)),
        },
        outline: POD_OUTLINE,
        transform: pod => podForCache(pod, engine.shapeOf),
      })
    this.#namespaces = sights.namespaces && new Informer({ ...ports, resource: NAMESPACES, metadataOnly: true })
    this.#words =
      sights.words &&
      new Informer<LastWord>({
        ...{ ...ports, ...sights.words, resource: EVENTS, fieldSelector: LAST_WORD_FIELDS },
        ...{ outline: LAST_WORD_OUTLINE, transform: wordForCache, accepts: () => true },
        indexes: { about: ({ regarding }) => [regarding?.uid ?? ''] },
      })
    const kinds = schedulers.flatMap(scheduler => scheduler.kinds)
    this.#scheduling = new Map(
      kinds.flatMap(({ resource, outline, forCache }) => {
        const scope = sights.scheduling.get(resource)
        if (scope === undefined) return []
        const indexes = { name: ({ metadata }: KubeObject) => [metadata.name ?? ''] }
        return [
          [resource, new Informer<KubeObject>({ ...ports, ...scope, resource, outline, transform: forCache, indexes })],
        ]
      }),
    )
    const optional = [this.#pods, this.#namespaces, this.#words].filter(cache => cache !== undefined)
    this.#whole = new CacheSet([this.workloads, ...optional, ...this.#scheduling.values()])
    this.known = {
      engine,
      records: this.#records(installation),
      placement: this.#placement(schedulers, sights.served),
      told: found => lastWordIn(found, uid => this.#words?.byIndex('about', uid) ?? []),
    }
  }

  /** Where all that is read lies; empty for the whole cluster. */
  get namespace(): string {
    return this.scope.namespace ?? ''
  }

  subscribe({ pod, workload, unit, any }: Listeners): void {
    const units = (pods: readonly Pod[]): void => {
      for (const each of pods) unit(unitKeyOf(each))
    }
    this.#pods?.subscribe(({ object, previous }) => {
      pod(object)
      if (previous !== undefined && unitKeyOf(previous) !== unitKeyOf(object)) unit(unitKeyOf(previous))
    })
    this.workloads.subscribe(({ type, object }) => workload(object, type === 'deleted'))
    this.#words?.subscribe(({ object }) => units(this.#pods?.byIndex('uid', object.regarding?.uid ?? '') ?? []))
    this.#namespaces?.subscribe(({ object, previous }) => {
      if (previous === undefined || JSON.stringify(previous.metadata.labels) === JSON.stringify(object.metadata.labels))
        return
      units([...(this.#pods?.values() ?? [])].filter(({ metadata }) => metadata.namespace === object.metadata.name))
    })
    for (const [resource, cache] of this.#scheduling) {
      cache.subscribe(({ object: { metadata } }) => {
        const key = objectKey(resource, metadata.namespace ?? '', metadata.name ?? '')
        units(this.#pods?.byIndex('placed', key) ?? [])
      })
    }
    for (const cache of [this.workloads, this.#pods, this.#words, this.#namespaces, ...this.#scheduling.values()]) {
      cache?.subscribe(any)
    }
  }

  start(): void {
    this.#whole.start()
  }

  get synced(): boolean {
    return this.#whole.synced
  }

  whenSynced(): Promise<void> {
    return this.#whole.whenSynced()
  }

  stop(): Promise<void> {
    return this.#whole.stop()
  }

  #records({ config, engine }: Installation): Records {
    const { workloads } = this
    const selector = config?.integrations.podOptions.namespaceSelector
    return {
      podsOf: key => this.#pods?.byIndex('unit', key) ?? [],
      workloadsOf: key => workloads.byIndex('unit', key),
      workload: (namespace, name) => workloads.get(namespace, name),
      ownedBy: uid => workloads.byIndex('owner', uid),
      pod: (namespace, name) => this.#pods?.get(namespace, name),
      // What nobody here can judge was judged by Muster, which has marked the pod as its own.
      selects: name => {
        const known = this.#namespaces?.get('', name)
        if (known === undefined || selector === undefined) return true
        return matchesSelector(selector, { ...known.metadata.labels, [NAMESPACE_NAME_LABEL]: name })
      },
      owns: pod => engine.owns?.(pod) ?? true,
      prebuiltOf: pod => engine.prebuiltOf?.(pod),
    }
  }

  #placement(schedulers: Placement['schedulers'], served: Placement['known']['served']): Placement {
    if (schedulers.length === 0) return NOBODY
    return {
      schedulers,
      known: {
        served,
        find: (resource, namespace, name) => this.#scheduling.get(resource)?.get(namespace, name),
        named: (resource, name) => this.#scheduling.get(resource)?.byIndex('name', name) ?? [],
      },
    }
  }
}
