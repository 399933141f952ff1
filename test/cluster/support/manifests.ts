import { ADMISSION_GATE, GROUP_NAME, GROUP_TOTAL_COUNT, QUEUE_NAME } from '../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'

export interface QueuedPodOptions {
  readonly namespace: string
  readonly name: string
  readonly queue?: string
  readonly group?: string
  readonly count?: number
  readonly gates?: readonly string[]
  readonly cpu?: string
  readonly nodeSelector?: Readonly<Record<string, string>>
  /** What KWOK makes of it once it runs; by default it runs for ever. */
  readonly outcome?: 'succeed' | 'fail'
}

/** What a person would write: a queue label, perhaps a group, and nothing that Muster adds. */
export function queuedPod(options: QueuedPodOptions): object {
  const { namespace, name, queue = 'team-a', group, count, gates, outcome, nodeSelector } = options
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: { [QUEUE_NAME]: queue, ...(group && { [GROUP_NAME]: group }) },
      annotations: {
        ...(count && { [GROUP_TOTAL_COUNT]: String(count) }),
        ...(outcome && { 'muster.dev/test-outcome': outcome }),
      },
    },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 1,
      containers: [
        { name: 'main', image: 'registry.example/none:1', resources: { requests: { cpu: options.cpu ?? '100m' } } },
      ],
      ...(nodeSelector && { nodeSelector }),
      ...(gates && { schedulingGates: gates.map(gate => ({ name: gate })) }),
    },
  }
}

/** Nearly as much as etcd takes for one object; with more of these the review would be longer than Muster reads. */
const LARGEST = 1_150_000
/** One byte to send and to store, and six in every answer of the API server: Go escapes it for the sake of HTML. */
const DEAR = '<'

/** The most expensive pod that a tenant can make. */
export function hostilePod(options: QueuedPodOptions): Pod {
  const pod = queuedPod(options) as Pod
  const container = { name: 'main', image: 'registry.example/none:1', command: [DEAR.repeat(LARGEST)] }
  return { ...pod, spec: { ...pod.spec, containers: [container] } }
}

export interface QueuedJobOptions {
  readonly namespace: string
  readonly name: string
  /** Without one nobody queues it. */
  readonly queue?: string
  readonly parallelism?: number
  readonly outcome?: 'succeed' | 'fail'
  /** How long its pods run before that, and how long they take to end when they are deleted; Go durations. */
  readonly runs?: string
  readonly termination?: string
}

/** What a person would write: a Job with a queue label. */
export function queuedJob(options: QueuedJobOptions): object {
  const { namespace, name, queue, parallelism = 1, outcome, runs, termination } = options
  const annotations = {
    ...(outcome && { 'muster.dev/test-outcome': outcome }),
    ...(runs && { 'muster.dev/test-delay': runs }),
    ...(termination && { 'muster.dev/test-termination': termination }),
  }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace, ...(queue !== undefined && { labels: { [QUEUE_NAME]: queue } }) },
    spec: {
      parallelism,
      completions: parallelism,
      template: {
        metadata: { annotations },
        spec: {
          restartPolicy: 'Never',
          containers: [{ name: 'main', image: 'registry.example/none:1', resources: { requests: { cpu: '100m' } } }],
        },
      },
    },
  }
}

/** Three pods of 100m, with these marks on their template. */
export function statefulSet(
  namespace: string,
  name: string,
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>> = {},
): object {
  const container = { name: 'main', image: 'registry.example/none:1', resources: { requests: { cpu: '100m' } } }
  const metadata = { labels: { app: name, ...labels }, annotations }
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace },
    spec: {
      ...{ replicas: 3, serviceName: name, selector: { matchLabels: { app: name } } },
      template: { metadata, spec: { terminationGracePeriodSeconds: 1, containers: [container] } },
    },
  }
}

export function list(items: readonly object[]): object {
  return { apiVersion: 'v1', kind: 'List', items }
}

export const OUR_GATE = { name: ADMISSION_GATE }

export function isGated({ spec }: Pod, by: string = ADMISSION_GATE): boolean {
  return (spec.schedulingGates ?? []).some(({ name }) => name === by)
}
