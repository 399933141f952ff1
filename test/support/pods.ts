import {
  ADMISSION_GATE,
  GROUP_NAME,
  GROUP_TOTAL_COUNT,
  MANAGED,
  QUEUE_NAME,
  ROLE_HASH,
} from '../../src/kube/vocabulary/names.ts'
import type { Pod, PodStatus } from '../../src/kube/vocabulary/objects.ts'

export interface PodOptions {
  readonly name?: string
  readonly uid?: string
  readonly queue?: string
  readonly group?: string
  readonly count?: number
  readonly role?: string
  readonly gates?: readonly string[]
  readonly phase?: string
  readonly nodeName?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly created?: string
  readonly version?: string
  readonly cpu?: string
  /** Deleted, with this grace period still to run. */
  readonly deleting?: number
}

/** A pod as the mutating webhook leaves it: gated, labelled, with our finalizer. */
export function managedPod(options: PodOptions = {}): Pod {
  const { name = 'train', group, count, gates = [ADMISSION_GATE] } = options
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'ml',
      uid: options.uid ?? `uid-${name}`,
      resourceVersion: options.version ?? '100',
      creationTimestamp: options.created ?? '2026-11-16T10:00:00Z',
      labels: {
        [QUEUE_NAME]: options.queue ?? 'team-a',
        [MANAGED]: 'true',
        ...(group === undefined ? {} : { [GROUP_NAME]: group }),
      },
      annotations: {
        [ROLE_HASH]: options.role ?? 'dc85db45',
        ...(count === undefined ? {} : { [GROUP_TOTAL_COUNT]: String(count) }),
        ...options.annotations,
      },
      finalizers: options.finalizers ?? [MANAGED],
      ...(options.deleting === undefined
        ? {}
        : { deletionTimestamp: '2026-11-16T10:05:00Z', deletionGracePeriodSeconds: options.deleting }),
    },
    spec: {
      containers: [{ name: 'main', resources: { requests: { cpu: options.cpu ?? '1' } } }],
      schedulingGates: gates.map(gate => ({ name: gate })),
      ...(options.nodeName === undefined ? {} : { nodeName: options.nodeName }),
    },
    status: statusOf(options.phase ?? 'Pending'),
  }
}

/** As a kubelet leaves it: what has ended shows the end of its containers. */
function statusOf(phase: string): PodStatus {
  const over = phase === 'Succeeded' || phase === 'Failed'
  const state = over ? { terminated: { exitCode: phase === 'Failed' ? 1 : 0 } } : { running: {} }
  return { phase, ...(phase !== 'Pending' && { containerStatuses: [{ name: 'main', state }] }) }
}
