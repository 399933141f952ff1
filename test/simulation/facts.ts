import {
  ADMISSION_GATE,
  GROUP_COUNT,
  GROUP_FAST_ADMISSION,
  GROUP_NAME,
  GROUP_ROLE,
  GROUP_SETS,
  GROUP_TOTAL_COUNT,
  MANAGED,
  QUEUE_NAME,
  ROLE_HASH,
} from '../../src/kube/vocabulary/names.ts'
import type { Pod, PodSpec } from '../../src/kube/vocabulary/objects.ts'
import type { PodSet, QueuedWorkload } from '../../src/workload/queued-workload.ts'
import type { Stored } from './model/server.ts'

/**
 * The judge's own reading of objects. It shares no code with what it judges, but for names: a wrong reading there
 * must not be wrong here in the same way.
 */
export const asPod = (object: Stored): Pod => object as unknown as Pod
export const asWorkload = (object: Stored): QueuedWorkload => object as unknown as QueuedWorkload

export const gatesOf = (pod: Pod): readonly string[] => (pod.spec.schedulingGates ?? []).map(gate => gate.name)
export const isGated = (pod: Pod): boolean => gatesOf(pod).includes(ADMISSION_GATE)
export const isManaged = (pod: Pod): boolean => pod.metadata.labels?.[MANAGED] === 'true'
export const hasOurFinalizer = (pod: Pod): boolean => pod.metadata.finalizers?.includes(MANAGED) ?? false
export const foreignFinalizers = (object: Stored | Pod, ours: string): readonly string[] =>
  (object.metadata.finalizers ?? []).filter(name => name !== ours)
const phases = new Set<string | undefined>(['Succeeded', 'Failed'])
export const saysItIsOver = (pod: Pod): boolean => phases.has(pod.status?.phase)

/**
 * Where the pod really is. Anybody may write a phase; what runs the kubelet says, container by container. Behind the
 * gate nothing has run, so a phase there means nothing either.
 */
export function phaseOf(pod: Pod): string {
  const { phase = 'Pending', containerStatuses = [], conditions = [] } = pod.status ?? {}
  if (!saysItIsOver(pod)) return phase
  if (isGated(pod)) return 'Pending'
  const nodeGone = conditions?.some(({ type, reason }) => type === 'DisruptionTarget' && reason === 'DeletionByPodGC')
  if (nodeGone) return phase
  const states = (containerStatuses ?? []).map(({ state }) => state)
  return states.length > 0 && states.every(state => state?.terminated) ? phase : 'Running'
}

export const isTerminal = (pod: Pod): boolean => phases.has(phaseOf(pod))
/** Nothing more comes of it: it has ended, or says behind its gate that it has. */
export const isOver = (pod: Pod): boolean => (isGated(pod) ? saysItIsOver(pod) : isTerminal(pod))
export const isDeleting = (object: Stored | Pod | QueuedWorkload): boolean => object.metadata.deletionTimestamp != null

/** Its containers may be running now or later. */
export function mayRun(pod: Pod): boolean {
  if (isGated(pod) || isTerminal(pod)) return false
  return !isDeleting(pod) || (Boolean(pod.spec.nodeName) && pod.metadata.deletionGracePeriodSeconds !== 0)
}

/** Takes one of the places of its group: runs, will run, or has run to a good end. A forced deletion is an end. */
export function takesPlace(pod: Pod): boolean {
  if (isGated(pod) && saysItIsOver(pod)) return false
  if (isTerminal(pod)) return phaseOf(pod) === 'Succeeded'
  return !isDeleting(pod) || (Boolean(pod.spec.nodeName) && pod.metadata.deletionGracePeriodSeconds !== 0)
}

export function groupOf(pod: Pod): string | undefined {
  return pod.metadata.annotations?.[GROUP_NAME] || pod.metadata.labels?.[GROUP_NAME] || undefined
}

export function unitOf(pod: Pod): string {
  const group = groupOf(pod)
  return `${pod.metadata.namespace}/${group === undefined ? `pod:${pod.metadata.name}` : `group:${group}`}`
}

/** The unit that a Workload is for: a single pod's has the pod for its controller, and a Job's the Job. */
export function unitOfWorkload({ metadata: { namespace, name, ownerReferences } }: QueuedWorkload): string {
  const owner = ownerReferences?.find(({ controller }) => controller)
  return `${namespace}/${owner === undefined ? `group:${name}` : `${owner.kind.toLowerCase()}:${owner.name}`}`
}

export function roleOf(pod: Pod): string {
  return pod.metadata.labels?.[GROUP_ROLE] ?? pod.metadata.annotations?.[ROLE_HASH] ?? ''
}

export const queueOf = (pod: Pod): string => pod.metadata.labels?.[QUEUE_NAME] ?? ''

/** The size that the pod says its group has, where it says one. */
export function declaredSize(pod: Pod): number | undefined {
  const { annotations = {} } = pod.metadata
  const text = annotations?.[GROUP_TOTAL_COUNT] ?? annotations?.[GROUP_COUNT]
  return text === undefined ? undefined : Number(text)
}

export function comesLater(pod: Pod): boolean {
  const { annotations } = pod.metadata
  return annotations?.[GROUP_FAST_ADMISSION] === 'true' || annotations?.[GROUP_SETS] !== undefined
}

export function conditionOf(workload: QueuedWorkload, type: string): string | undefined {
  return workload.status?.conditions?.find(condition => condition.type === type)?.status
}

export const holdsQuota = (workload: QueuedWorkload): boolean =>
  conditionOf(workload, 'QuotaReserved') === 'True' && conditionOf(workload, 'Finished') !== 'True'

export interface Usage {
  readonly pods: number
  readonly milliCpu: number
}

/** Sidecars run beside the containers; what runs before them needs its share only then. */
export function podUsage({ containers, initContainers }: PodSpec): Usage {
  const cpu = (list: PodSpec['containers']) => (list ?? []).map(({ resources }) => milli(resources?.requests?.cpu))
  const sum = (amounts: readonly number[]) => amounts.reduce((all, one) => all + one, 0)
  const beside = (initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  const before = (initContainers ?? []).filter(({ restartPolicy }) => restartPolicy !== 'Always')
  return { pods: 1, milliCpu: Math.max(sum(cpu(containers)) + sum(cpu(beside)), ...cpu(before)) }
}

/** Asks for no more than is charged for each pod of the podSet. */
export const isCovered = (pod: Pod, { template }: PodSet): boolean =>
  podUsage(pod.spec).milliCpu <= podUsage(template.spec).milliCpu

/** Of a Job, and with Kueue of a group, what succeeded pods do not need again is free. Else a group keeps its places. */
export function workloadUsage({ apiVersion, metadata, spec, status }: QueuedWorkload): Usage {
  const ofJob = metadata.annotations?.['muster.dev/job'] !== undefined || apiVersion === KUEUE
  const free = (podSet: string) => status?.reclaimablePods?.find(({ name }) => name === podSet)?.count ?? 0
  return spec.podSets.reduce<Usage>(
    (sum, { name, count, template }) => plus(sum, podUsage(template.spec), count - (ofJob ? free(name) : 0)),
    { pods: 0, milliCpu: 0 },
  )
}

const KUEUE = 'kueue.x-k8s.io/v1beta2'

export function plus(a: Usage, b: Usage, times = 1): Usage {
  return { pods: a.pods + b.pods * times, milliCpu: a.milliCpu + b.milliCpu * times }
}

function milli(quantity: string | undefined): number {
  if (quantity === undefined) return 0
  return quantity.endsWith('m') ? Number(quantity.slice(0, -1)) : Number(quantity) * 1000
}

export function limitsOf(limits: Readonly<Record<string, string | number>>): Partial<Usage> {
  return {
    ...(limits.pods !== undefined && { pods: Number(limits.pods) }),
    ...(limits.cpu !== undefined && { milliCpu: milli(String(limits.cpu)) }),
  }
}

export function exceeds(usage: Usage, limits: Partial<Usage>): boolean {
  return (
    usage.pods > (limits.pods ?? Number.POSITIVE_INFINITY) ||
    usage.milliCpu > (limits.milliCpu ?? Number.POSITIVE_INFINITY)
  )
}

/** What Muster puts on Workloads, with each engine of the simulator. */
export const OUR_FINALIZERS: ReadonlySet<string> = new Set([
  'muster.dev/resource-in-use',
  'queues.example.com/in-use',
  'kueue.x-k8s.io/resource-in-use',
])
