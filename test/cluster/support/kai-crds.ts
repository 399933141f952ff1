import { GROUP_NAME, GROUP_TOTAL_COUNT, QUEUE_NAME } from '../../../src/kube/vocabulary/names.ts'

/**
 * KAI's kinds as far as the API server has to know them: what Muster does with them can be tried without KAI's programs,
 * which take long to build. With them, `npm run test:kai` installs KAI's own.
 */
export function kaiKinds(): readonly object[] {
  return [
    kind('scheduling.run.ai', 'v2alpha2', 'PodGroup', 'podgroups', 'Namespaced'),
    kind('kai.scheduler', 'v1alpha1', 'Topology', 'topologies', 'Cluster'),
  ]
}

function kind(group: string, version: string, name: string, plural: string, scope: string): object {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind: name, plural, singular: name.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
        },
      ],
    },
  }
}

/** The classes that KAI ships. */
export function kaiPriorities(): readonly object[] {
  return Object.entries({ train: 50, build: 100, inference: 125 }).map(([name, value]) => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value,
  }))
}

export interface KaiPodOptions {
  readonly namespace: string
  readonly name: string
  readonly group: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly cpu?: string
}

/** What a person would write: KAI's scheduler, and a group of Kubernetes. */
export function kaiPod({ namespace, name, group, annotations, labels, cpu = '100m' }: KaiPodOptions): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: { ...podSpec(cpu), schedulingGroup: { podGroupName: group } },
  }
}

export const podSpec = (cpu: string) => ({
  schedulerName: 'kai-scheduler',
  restartPolicy: 'Never',
  terminationGracePeriodSeconds: 1,
  containers: [{ name: 'main', image: 'registry.example/none:1', resources: { requests: { cpu } } }],
})

export interface GangOptions {
  readonly namespace: string
  readonly name: string
  readonly minCount: number
  readonly labels?: Readonly<Record<string, string>>
}

export function gang({ namespace, name, minCount, labels }: GangOptions): object {
  return {
    apiVersion: 'scheduling.k8s.io/v1beta1',
    kind: 'PodGroup',
    metadata: { name, namespace, ...(labels && { labels }) },
    spec: { schedulingPolicy: { gang: { minCount } } },
  }
}

/** A Job whose pods name a group. */
export function kaiJob(options: {
  readonly namespace: string
  readonly name: string
  readonly group: string
  readonly parallelism: number
  readonly cpu?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}): object {
  const { namespace, name, group, parallelism, cpu = '100m', labels, annotations } = options
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: {
      parallelism,
      completions: parallelism,
      template: { spec: { ...podSpec(cpu), schedulingGroup: { podGroupName: group } } },
    },
  }
}

/** A member of a group that waits in a queue and names no group of Kubernetes. */
export function queuedKaiPod(options: {
  readonly namespace: string
  readonly name: string
  readonly group: string
  readonly count: number
  readonly cpu?: string
}): object {
  const { namespace, name, group, count, cpu = '100m' } = options
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name, namespace },
      labels: { [QUEUE_NAME]: 'team-a', [GROUP_NAME]: group },
      annotations: { [GROUP_TOTAL_COUNT]: String(count) },
    },
    spec: podSpec(cpu),
  }
}
