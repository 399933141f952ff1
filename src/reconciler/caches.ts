import { Informer, type InformerOptions } from '../kube/cache/informer.ts'
import type { CacheObserver } from '../kube/cache/observer.ts'
import { OptionalInformer } from '../kube/cache/optional-informer.ts'
import type { KubeApi, Resource } from '../kube/vocabulary/api.ts'
import type { Clock, Random } from '../kube/vocabulary/clock.ts'
import type { Log } from '../kube/vocabulary/log.ts'
import { MANAGED, QUEUE_NAME } from '../kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../kube/vocabulary/objects.ts'
import { LIMIT_RANGES, PODS, RUNTIME_CLASSES } from '../kube/vocabulary/resources.ts'
import type { JobKind } from '../workload/jobs/job-kind.ts'
import { JOB_KINDS } from '../workload/jobs/job-kinds.ts'
import { defaultRequests, type LimitRange, type PodDefaults, type RuntimeClass } from '../workload/jobs/pod-defaults.ts'
import type { QueuedJob } from '../workload/jobs/queued-job.ts'
import { isMarkedManaged, queueLabelOf } from '../workload/pod-facts.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'
import {
  LIMIT_RANGE_OUTLINE,
  limitRangeForCache,
  POD_OUTLINE,
  podForCache,
  RUNTIME_CLASS_OUTLINE,
} from './cache-contents.ts'
import type { Engine } from './engine.ts'
import { unitKeyOf, unitKeyOfWorkload } from './unit.ts'

export interface CachePorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly observer: CacheObserver
}

interface Cache {
  readonly synced: boolean
  start(): void
  stop(): Promise<void>
  whenSynced(): Promise<void>
  refresh(): Promise<void>
}

/** Everything that decisions are made on. What the engine does not hold back is not looked at. */
export class Caches {
  readonly pods: Informer<Pod>
  readonly workloads: Informer<QueuedWorkload>
  readonly jobs: ReadonlyMap<JobKind, OptionalInformer<QueuedJob>>
  readonly limitRanges: OptionalInformer<LimitRange>
  readonly #runtimeClasses: OptionalInformer<RuntimeClass>
  readonly #all: readonly Cache[]

  constructor(ports: CachePorts, engine: Engine) {
    this.pods = new Informer<Pod>({
      ...ports,
      resource: PODS,
      labelSelector: `${MANAGED}=true`,
      accepts: isMarkedManaged,
      indexes: { unit: pod => [unitKeyOf(pod)] },
      outline: POD_OUTLINE,
      transform: podForCache,
    })
    this.workloads = new Informer<QueuedWorkload>({
      ...ports,
      resource: engine.workloads,
      indexes: {
        unit: workload => [unitKeyOfWorkload(workload)],
        owner: ({ metadata }) => (metadata.ownerReferences ?? []).map(owner => owner.uid),
      },
      transform: workload => engine.forCache(workload),
    })
    const held = JOB_KINDS.filter(({ framework }) => engine.holds.includes(framework))
    this.jobs = new Map(held.map(kind => [kind, new OptionalInformer<QueuedJob>(jobOptions(ports, kind))]))
    // An API server may serve neither, and then nobody adds to pods by them.
    this.limitRanges = new OptionalInformer<LimitRange>({
      ...ports,
      resource: LIMIT_RANGES,
      indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''] },
      outline: LIMIT_RANGE_OUTLINE,
      transform: limitRangeForCache,
    })
    this.#runtimeClasses = new OptionalInformer<RuntimeClass>({
      ...ports,
      resource: RUNTIME_CLASSES,
      outline: RUNTIME_CLASS_OUTLINE,
    })
    const forJobs = held.length === 0 ? [] : [...this.jobs.values(), this.limitRanges, this.#runtimeClasses]
    this.#all = [this.pods, this.workloads, ...forJobs]
  }

  get synced(): boolean {
    return this.#all.every(cache => cache.synced)
  }

  start(): void {
    for (const cache of this.#all) cache.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map(cache => cache.stop()))
  }

  async whenSynced(): Promise<void> {
    await Promise.all(this.#all.map(cache => cache.whenSynced()))
  }

  async refresh(): Promise<void> {
    await Promise.all(this.#all.map(cache => cache.refresh()))
  }

  /** Read your writes: what the API server answered is known before it comes through a watch. */
  offer(resource: Resource, object: KubeObject): void {
    if (resource === PODS) this.pods.offer(object as Pod)
    if (resource === this.workloads.resource) this.workloads.offer(object as QueuedWorkload)
    for (const [kind, informer] of this.jobs) if (resource === kind.resource) informer.offer(object as QueuedJob)
  }

  defaultsIn(namespace: string): PodDefaults {
    return {
      requests: defaultRequests(this.limitRanges.byIndex('namespace', namespace)),
      overheadOf: name => this.#runtimeClasses.get('', name)?.overhead?.podFixed ?? undefined,
    }
  }
}

function jobOptions(ports: CachePorts, kind: JobKind): InformerOptions<QueuedJob> {
  return {
    ...ports,
    resource: kind.resource,
    labelSelector: QUEUE_NAME,
    accepts: job => queueLabelOf(job) !== undefined,
    outline: kind.outline,
    transform: kind.forCache,
  }
}
