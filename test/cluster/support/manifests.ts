import { ADMISSION_GATE, GROUP_NAME, GROUP_TOTAL_COUNT, QUEUE_NAME } from '../../../src/kube/vocabulary/names.ts'

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

export function list(items: readonly object[]): object {
  return { apiVersion: 'v1', kind: 'List', items }
}

export const OUR_GATE = { name: ADMISSION_GATE }
