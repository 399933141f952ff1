import type { Pod } from '../../../src/kube/vocabulary/objects.ts'

const API = 'kueue.x-k8s.io/v1beta2'

export interface Flavor {
  readonly name: string
  /** How much of each resource a ClusterQueue may hand out from it. */
  readonly quota: Readonly<Record<string, string | number>>
}

export interface ClusterQueueOptions {
  readonly name: string
  readonly flavors: readonly Flavor[]
  readonly checks?: readonly string[]
  /** Whether a workload of a higher priority takes the place of lower ones. */
  readonly preempts?: boolean
}

/** Open to every namespace. */
export function clusterQueue({ name, flavors, checks = [], preempts = false }: ClusterQueueOptions): object {
  const resources = Object.keys(flavors[0]?.quota ?? {})
  return {
    apiVersion: API,
    kind: 'ClusterQueue',
    metadata: { name },
    spec: {
      namespaceSelector: {},
      resourceGroups: [
        {
          coveredResources: resources,
          flavors: flavors.map(flavor => ({
            name: flavor.name,
            resources: resources.map(resource => ({ name: resource, nominalQuota: flavor.quota[resource] ?? 0 })),
          })),
        },
      ],
      ...(preempts && { preemption: { withinClusterQueue: 'LowerPriority' } }),
      ...(checks.length > 0 && {
        admissionChecksStrategy: { admissionChecks: checks.map(check => ({ name: check })) },
      }),
    },
  }
}

export function localQueue(namespace: string, name: string, of = name): object {
  return { apiVersion: API, kind: 'LocalQueue', metadata: { name, namespace }, spec: { clusterQueue: of } }
}

export function resourceFlavor(name: string, spec: object = {}): object {
  return { apiVersion: API, kind: 'ResourceFlavor', metadata: { name }, spec }
}

/** Levels by labels of nodes, the widest first. */
export function topology(name: string, levels: readonly string[]): object {
  const spec = { levels: levels.map(nodeLabel => ({ nodeLabel })) }
  return { apiVersion: API, kind: 'Topology', metadata: { name }, spec }
}

export function workloadPriorityClass(name: string, value: number): object {
  return { apiVersion: API, kind: 'WorkloadPriorityClass', metadata: { name }, value }
}

/** A check whose controller is the test. */
export function admissionCheck(name: string): object {
  return { apiVersion: API, kind: 'AdmissionCheck', metadata: { name }, spec: { controllerName: 'example.com/test' } }
}

/** As somebody makes it ahead of its pods, and without owner. */
export function prebuiltWorkload(options: {
  readonly namespace: string
  readonly name: string
  readonly queue: string
  readonly podSet: string
  readonly count: number
  readonly cpu: string
}): object {
  const { namespace, name, queue: queueName, podSet, count, cpu } = options
  const container = { name: 'main', image: 'registry.example/none:1', resources: { requests: { cpu } } }
  const template = { spec: { restartPolicy: 'Never', containers: [container] } }
  const spec = { queueName, podSets: [{ name: podSet, count, template }] }
  return { apiVersion: API, kind: 'Workload', metadata: { name, namespace }, spec }
}

/** With labels besides those that a helper gave it. */
export function labelled(pod: object, labels: Readonly<Record<string, string>>): object {
  const { metadata, ...rest } = pod as Pod
  return { ...rest, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } }
}

export function annotated(pod: object, annotations: Readonly<Record<string, string>>): object {
  const { metadata, ...rest } = pod as Pod
  return { ...rest, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } }
}
