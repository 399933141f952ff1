import { type CachePorts, CacheSet } from '../kube/cache/cache-set.ts'
import { Informer, type InformerOptions } from '../kube/cache/informer.ts'
import { OptionalInformer } from '../kube/cache/optional-informer.ts'
import type { Resource } from '../kube/vocabulary/api.ts'
import { MANAGED, QUEUE_NAME } from '../kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../kube/vocabulary/objects.ts'
import { LIMIT_RANGES, PODS, RUNTIME_CLASSES } from '../kube/vocabulary/resources.ts'
import {
  GROUPED_KINDS,
  type GroupedKind,
  type GroupedObject,
  groupedForCache,
  parentOf,
} from '../workload/grouped/grouped-object.ts'
import { GROUPED_SELECTOR } from '../workload/grouped/job-to-group.ts'
import type { JobKind } from '../workload/jobs/job-kind.ts'
import { JOB_KINDS } from '../workload/jobs/job-kinds.ts'
import { defaultRequests, type LimitRange, type PodDefaults, type RuntimeClass } from '../workload/jobs/pod-defaults.ts'
import type { QueuedJob } from '../workload/jobs/queued-job.ts'
import { parentIn } from '../workload/mappers/parent.ts'
import { isMarkedManaged, queueLabelOf } from '../workload/pod-facts.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'
import {
  LIMIT_RANGE_OUTLINE,
  limitRangeForCache,
  POD_OUTLINE,
  podForCache,
  RUNTIME_CLASS_OUTLINE,
} from './cache-contents.ts'
import type { CoScheduler } from './co-scheduler.ts'
import type { Background, Engine } from './engine.ts'
import { supersededForCache } from './superseded.ts'
import { unitKeyOf, unitKeyOfWorkload } from './unit.ts'

/** Everything that decisions are made on. What the engine does not hold back is not looked at. */
export class Caches {
  readonly pods: Informer<Pod>
  readonly workloads: Informer<QueuedWorkload>
  readonly jobs: ReadonlyMap<JobKind, OptionalInformer<QueuedJob>>
  readonly limitRanges: OptionalInformer<LimitRange>
  readonly #runtimeClasses: OptionalInformer<RuntimeClass>
  /** What schedulers place by. */
  readonly scheduling: ReadonlyMap<Resource, OptionalInformer<KubeObject>>
  /** For whom the scheduler's objects are made. */
  readonly grouped: ReadonlyMap<GroupedKind, OptionalInformer<GroupedObject>>
  /** What the engine's answers depend on. */
  readonly background: ReadonlyMap<Background, OptionalInformer<KubeObject>>
  /** What an earlier engine left behind. */
  readonly superseded: OptionalInformer<KubeObject> | undefined
  /** All of them. */
  readonly whole: CacheSet

  constructor(ports: CachePorts, engine: Engine, schedulers: readonly CoScheduler[] = []) {
    this.pods = new Informer<Pod>({
      ...ports,
      resource: PODS,
      labelSelector: `${MANAGED}=true`,
      accepts: isMarkedManaged,
      indexes: {
        unit: pod => [unitKeyOf(pod)],
        prebuilt: pod => prebuiltKeys(pod, engine),
        placed: pod => schedulers.flatMap(scheduler => scheduler.objectsOf(pod)),
      },
      outline: POD_OUTLINE,
      transform: pod => podForCache(pod, engine.shapeOf),
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
    this.scheduling = new Map(
      schedulers
        .flatMap(({ kinds }) => kinds)
        .map(({ resource, outline, forCache }) => [
          resource,
          new OptionalInformer<KubeObject>({
            ...ports,
            resource,
            outline,
            transform: forCache,
            indexes: { parent: forParent, name: ({ metadata }) => [metadata.name ?? ''] },
          }),
        ]),
    )
    this.grouped = new Map(GROUPED_KINDS.map(kind => [kind, new OptionalInformer(groupedOptions(ports, kind))]))
    this.background = new Map(
      (engine.background ?? []).map(kind => {
        const { resource, outline } = kind
        return [kind, new OptionalInformer<KubeObject>({ ...ports, resource, outline })]
      }),
    )
    this.superseded =
      engine.superseded &&
      new OptionalInformer<KubeObject>({
        ...ports,
        resource: engine.superseded.workloads,
        metadataOnly: true,
        transform: supersededForCache,
      })
    const forEngine = [...this.background.values(), ...(this.superseded === undefined ? [] : [this.superseded])]
    const ofSchedulers = [...this.scheduling.values(), ...this.grouped.values()]
    this.whole = new CacheSet([this.pods, this.workloads, ...forEngine, ...forJobs, ...ofSchedulers])
  }

  /** Read your writes: what the API server answered is known before it comes through a watch. */
  offer(resource: Resource, object: KubeObject): void {
    if (resource === PODS) this.pods.offer(object as Pod)
    if (resource === this.workloads.resource) this.workloads.offer(object as QueuedWorkload)
    this.scheduling.get(resource)?.offer(object)
    for (const [kind, informer] of this.jobs) if (resource === kind.resource) informer.offer(object as QueuedJob)
  }

  defaultsIn(namespace: string): PodDefaults {
    return {
      ...defaultRequests(this.limitRanges.byIndex('namespace', namespace)),
      overheadOf: name => this.#runtimeClasses.get('', name)?.overhead?.podFixed ?? undefined,
    }
  }
}

function prebuiltKeys(pod: Pod, engine: Engine): readonly string[] {
  const name = engine.prebuiltOf?.(pod)
  return name ? [`${pod.metadata.namespace}/${name}`] : []
}

function forParent(object: KubeObject): readonly string[] {
  const parent = parentIn(object)
  return parent === undefined ? [] : [`${object.metadata.namespace}/${parent}`]
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

function groupedOptions(ports: CachePorts, kind: GroupedKind): InformerOptions<GroupedObject> {
  return {
    ...ports,
    resource: kind.resource,
    labelSelector: GROUPED_SELECTOR,
    outline: kind.outline,
    transform: object => groupedForCache(kind, object),
    indexes: { parent: object => [`${object.metadata.namespace}/${parentOf(object)}`] },
  }
}
