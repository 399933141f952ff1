import { FifoQueues } from '../../../src/engines/builtin/fifo.ts'
import { WORKLOADS } from '../../../src/engines/builtin/workloads.ts'
import { CONFIG_MAPS } from '../../../src/insight/installation.ts'
import type { Resource } from '../../../src/kube/vocabulary/api.ts'
import type { KubeObject, Pod } from '../../../src/kube/vocabulary/objects.ts'
import { NAMESPACES, PODS } from '../../../src/kube/vocabulary/resources.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { managedPod, type PodOptions } from '../../support/pods.ts'
import { ADMITTED, workloadOf } from '../../support/workloads.ts'

export const NOW = '2026-11-16T10:14:00Z'

export const CONFIGURATION = `apiVersion: config.muster.dev/v1alpha1
kind: Configuration
queues:
  - {name: team-a, limits: {cpu: 16}}
  - {name: team-b, limits: {cpu: 8}}
  - {name: small, limits: {cpu: 2}}
  - {name: private, limits: {cpu: 64}, namespaces: {matchLabels: {team: infra}}}
`

type Stored = readonly (readonly [Resource, KubeObject])[]

/** A pod that runs on an admitted Workload. */
export function holder(name: string, cpu: string, options: PodOptions = {}): readonly [Pod, QueuedWorkload] {
  const pod = managedPod({ name, cpu, gates: [], phase: 'Running', nodeName: 'node-1', ...options })
  return [pod, workloadOf([managedPod({ name, cpu, ...options })], ADMITTED)]
}

/** A pod that waits, with its Workload as the engine has not yet told it. */
export function waiter(name: string, cpu: string, options: PodOptions = {}): readonly [Pod, QueuedWorkload] {
  const pod = managedPod({ name, cpu, ...options })
  return [pod, workloadOf([pod])]
}

/** What the engine would write on those who wait, by its own decision. */
export function told(workloads: readonly QueuedWorkload[], queue: string, limits: Readonly<Record<string, number>>) {
  const fifo = new FifoQueues([{ name: queue, limits }])
  for (const workload of workloads) fifo.observe(workload, false)
  const actions = fifo.decide(queue, '2026-11-16T10:01:00Z')
  return workloads.map(workload => {
    const action = actions.find(each => each.kind === 'SetStatus' && each.workload.name === workload.metadata.name)
    return action?.kind === 'SetStatus' ? { ...workload, status: { ...workload.status, ...action.status } } : workload
  })
}

/** A cluster: two hold 13 of the 16 CPUs of team-a, `train` wants 8 and is the first, `eval` wants 1 and is behind it. */
export function cluster(configuration = CONFIGURATION): Stored {
  const all = [
    holder('running', '8', { version: '90' }),
    holder('longer', '5', { version: '80' }),
    waiter('train', '8', { version: '110' }),
    waiter('eval', '1', { version: '120' }),
    waiter('huge', '64', { version: '130' }),
  ]
  const workloads = told(
    all.map(([, workload]) => workload),
    'team-a',
    { cpu: 16 },
  )
  const namespace = { metadata: { name: 'ml', labels: { 'kubernetes.io/metadata.name': 'ml' } } }
  const config = { metadata: { name: 'muster', namespace: 'muster-system' }, data: { 'config.yaml': configuration } }
  return [
    ...all.map(([pod]) => [PODS, pod] as const),
    ...workloads.map(workload => [WORKLOADS, workload] as const),
    [NAMESPACES, namespace],
    [CONFIG_MAPS, config],
  ]
}
