import { expect } from 'vitest'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import type { ControlPlane } from './control-plane.ts'
import { isGated, list, type QueuedPodOptions, queuedPod } from './manifests.ts'
import { eventually } from './wait.ts'

/** On a machine with other work: a control plane with Kueue, and what happens in it. */
export const SETUP_MS = 300_000
const PATIENCE = { timeoutMs: 90_000 }
export const KUEUE_WORKLOADS = 'workloads.kueue.x-k8s.io'
/** Of the built-in engine. */
export const OWN_WORKLOADS = 'workloads.muster.dev'

type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed'

export type Scene = ReturnType<typeof sceneOn>

type PodOptions = Partial<Omit<QueuedPodOptions, 'namespace' | 'name'>>

/** What happens to pods in one namespace where Kueue admits. They ask for the queue, if they ask for no other. */
export function sceneOn(plane: ControlPlane, namespace: string, queue = 'team-a') {
  const { kubectl } = plane
  const pods = async (): Promise<readonly Pod[]> =>
    (await kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', namespace])).items
  const workloads = async (kind = KUEUE_WORKLOADS): Promise<readonly QueuedWorkload[]> =>
    (await kubectl.json<{ items: QueuedWorkload[] }>(['get', kind, '-n', namespace])).items
  const until = async (what: string, check: () => Promise<void>): Promise<void> => {
    await eventually(`${namespace}: ${what}`, () => check().then(() => true), PATIENCE)
  }
  const names = (chosen: readonly Pod[]): string[] => chosen.map(({ metadata }) => metadata.name ?? '').sort()
  const workload = (name: string): Promise<QueuedWorkload> =>
    kubectl.json<QueuedWorkload>(['get', KUEUE_WORKLOADS, name, '-n', namespace])
  const pod = (name: string, options: PodOptions = {}): object => queuedPod({ namespace, queue, name, ...options })

  return {
    namespace,
    pod,
    gang: (group: string, count: number, options: PodOptions = {}) =>
      Array.from({ length: count }, (_, index) => pod(`${group}-${index}`, { ...options, group, count })),
    pods,
    workloads,
    workload,
    until,
    nameOfWorkloadOf: async (pod: string): Promise<string> =>
      (await workloads()).find(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === pod))?.metadata
        .name ?? '',
    change: (kind: string, name: string, change: object) =>
      kubectl(['patch', kind, name, '-n', namespace, '--type=merge', '-p', JSON.stringify(change)]),
    /** What was said about a pod for one reason. */
    told: (name: string, reason: string, message: string) =>
      until(`${name} is told ${message}`, async () => {
        const selector = `involvedObject.name=${name},reason=${reason}`
        const { stdout } = await kubectl(['get', 'events', '-n', namespace, '--field-selector', selector])
        expect(stdout).toContain(message)
      }),
    create: (objects: readonly object[]) => kubectl(['create', '-f', '-'], { stdin: list(objects) }),
    /** The names of the pods behind the gate. */
    gated: async () => names((await pods()).filter(pod => isGated(pod))),
    lifted: async () => names((await pods()).filter(pod => !isGated(pod))),
    inPhase: async (phase: Phase) => names((await pods()).filter(({ status }) => status?.phase === phase)),
    untilRunning: (...expected: readonly string[]) =>
      until(`${expected} run, and nobody else`, async () => {
        expect(names((await pods()).filter(({ status }) => status?.phase === 'Running'))).toEqual(expected)
      }),
    /** KWOK lets it run so long. */
    end: (name: string, outcome: 'succeed' | 'fail' = 'succeed') =>
      kubectl(['annotate', 'pod', name, '-n', namespace, `muster.dev/test-outcome=${outcome}`]),
    endAll: () =>
      kubectl(['annotate', 'pods', '--all', '--overwrite', '-n', namespace, 'muster.dev/test-outcome=succeed']),
    untilPhase: (name: string, phase: Phase) =>
      until(`${name} is ${phase}`, async () => {
        const found = (await pods()).find(({ metadata }) => metadata.name === name)
        expect(found?.status?.phase).toBe(phase)
      }),
    untilCondition: (name: string, type: string, expected: object) =>
      until(`${name} is ${type}`, async () => {
        const found = (await workload(name)).status?.conditions?.find(condition => condition.type === type)
        expect(found).toMatchObject(expected)
      }),
    /** The namespace and all in it: what a finalizer held back would hold this back, too. */
    remove: () => kubectl(['delete', 'namespace', namespace, '--timeout=90s'], { timeoutMs: 100_000 }),
  }
}
