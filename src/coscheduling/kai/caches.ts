import { type CachePorts, CacheSet } from '../../kube/cache/cache-set.ts'
import { Informer, type InformerOptions } from '../../kube/cache/informer.ts'
import { OptionalInformer } from '../../kube/cache/optional-informer.ts'
import type { Resource } from '../../kube/vocabulary/api.ts'
import { KAI_POD_GROUPS, KAI_TOPOLOGIES } from '../../kube/vocabulary/kai.ts'
import { POD_GROUP } from '../../kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../kube/vocabulary/objects.ts'
import {
  POD_GROUPS,
  PODS,
  PRIORITY_CLASSES,
  SCHEDULING_WORKLOADS,
  SCHEDULING_WORKLOADS_135,
} from '../../kube/vocabulary/resources.ts'
import { groupReferenceOf } from '../../workload/group-reference.ts'
import { podGroupMarkOf } from '../../workload/pod-facts.ts'
import {
  KAI_POD_GROUP_OUTLINE,
  POD_GROUP_OUTLINE,
  PRIORITY_CLASS_OUTLINE,
  slim,
  slimPod,
  slimPodGroup,
  TOPOLOGY_OUTLINE,
  WAITING_POD_OUTLINE,
  WORKLOAD_OUTLINE,
} from './cache-contents.ts'
import { identityOf, type Naming, podGroupName } from './naming.ts'
import type { KaiPodGroup, KaiTopology, SchedulingPodGroup, SchedulingWorkload } from './objects.ts'
import { workloadOf } from './resolve.ts'

interface PriorityClass extends KubeObject {
  readonly globalDefault?: boolean
}

/** Pods by what they need, and what that is. */
export class KaiCaches {
  /** Whoever is marked is watched, also where there is no KAI: somebody has to let them go. */
  readonly pods: Informer<Pod>
  readonly workloads: readonly OptionalInformer<SchedulingWorkload>[]
  readonly podGroups: readonly OptionalInformer<SchedulingPodGroup>[]
  readonly kaiPodGroups: OptionalInformer<KaiPodGroup>
  readonly topologies: OptionalInformer<KaiTopology>
  readonly priorityClasses: OptionalInformer<PriorityClass>
  /** What is watched from when there is a KAI: a cluster without one has no use for it. */
  readonly others: CacheSet

  constructor(ports: CachePorts, naming: Naming) {
    this.pods = new Informer<Pod>({
      ...ports,
      resource: PODS,
      labelSelector: `${POD_GROUP}=reference`,
      accepts: pod => podGroupMarkOf(pod) === 'reference',
      outline: WAITING_POD_OUTLINE,
      transform: slimPod,
      indexes: {
        unit: pod => keysOf(pod, identityOf),
        name: pod => keysOf(pod, (namespace, reference) => podGroupName(namespace, reference, naming)),
        source: pod => keysOf(pod, (namespace, reference) => sourceKey(namespace, sourceOf(reference))),
      },
    })
    const optional = <T extends KubeObject>(resource: Resource, more: Partial<InformerOptions<T>>) =>
      new OptionalInformer<T>({ ...ports, transform: slim, ...more, resource })
    this.workloads = [...Object.values(SCHEDULING_WORKLOADS), SCHEDULING_WORKLOADS_135].map(resource =>
      optional<SchedulingWorkload>(resource, { outline: WORKLOAD_OUTLINE }),
    )
    this.podGroups = Object.values(POD_GROUPS).map(resource =>
      optional<SchedulingPodGroup>(resource, {
        outline: POD_GROUP_OUTLINE,
        indexes: {
          workload: group => {
            const workload = workloadOf(group)?.workload
            return workload === undefined ? [] : [sourceKey(group.metadata.namespace ?? '', `Workload/${workload}`)]
          },
        },
      }),
    )
    this.kaiPodGroups = optional<KaiPodGroup>(KAI_POD_GROUPS, {
      outline: KAI_POD_GROUP_OUTLINE,
      transform: slimPodGroup,
      indexes: { name: ({ metadata }) => [metadata.name ?? ''] },
    })
    this.topologies = optional<KaiTopology>(KAI_TOPOLOGIES, { outline: TOPOLOGY_OUTLINE })
    this.priorityClasses = new OptionalInformer<PriorityClass>({
      ...ports,
      outline: PRIORITY_CLASS_OUTLINE,
      resource: PRIORITY_CLASSES,
    })
    this.others = new CacheSet([
      ...[...this.workloads, ...this.podGroups],
      ...[this.kaiPodGroups, this.topologies, this.priorityClasses],
    ])
  }

  /** Everything that a decision is made on has been seen. */
  get synced(): boolean {
    return this.pods.synced && this.others.synced
  }

  async whenSynced(): Promise<void> {
    await Promise.all([this.pods.whenSynced(), this.others.whenSynced()])
  }

  async refresh(): Promise<void> {
    await Promise.all([this.pods.refresh(), this.others.refresh()])
  }

  async stop(): Promise<void> {
    await Promise.all([this.pods.stop(), this.others.stop()])
  }
}

type Reference = NonNullable<ReturnType<typeof groupReferenceOf>>

function keysOf(pod: Pod, keyOf: (namespace: string, reference: Reference) => string): readonly string[] {
  const reference = groupReferenceOf(pod)
  return [reference === undefined ? '' : keyOf(pod.metadata.namespace ?? '', reference)]
}

const sourceOf = (reference: Reference): string =>
  reference.kind === 'workload' ? `Workload/${reference.workload}` : `PodGroup/${reference.podGroup}`

/** What a pod refers to. */
export const sourceKey = (namespace: string, source: string): string => `${namespace}/${source}`
