import { isOurs as isMadeByMuster } from '../../engines/kueue/workloads.ts'
import { NAMESPACE_NAME_LABEL } from '../../kube/vocabulary/names.ts'
import type { Pod } from '../../kube/vocabulary/objects.ts'
import { matchesSelector } from '../../kube/vocabulary/selectors.ts'
import { hasOurFinalizer, isDeleting, isGated, isMarkedManaged, isWaiting, uidOf } from '../../workload/pod-facts.ts'
import { condition, isTrue, type QueuedWorkload, WORKLOAD_JOB } from '../../workload/queued-workload.ts'
import type { Code } from './catalog.ts'
import { type Complaint, complaint, named } from './diagnosis.ts'
import { type Facts, known } from './facts.ts'

/** What takes longer than this takes its course no more. */
const LONG_MS = 5 * 60_000

/** Objects that nobody looks after, or that wait for what does not come. */
export function checkObjects(facts: Facts): readonly Complaint[] {
  const { pods, workloads, now, config } = facts
  if (pods === 'denied') return []
  const isOld = (time: string | null | undefined): boolean => now - Date.parse(time ?? '') > LONG_MS
  const strays = pods.filter(pod => hasOurFinalizer(pod) && !isMarkedManaged(pod))
  const forgotten = pods.filter(pod => isGated(pod) && !isDeleting(pod) && !isOurs(pod, facts))
  const stuck = pods.filter(
    pod => isMarkedManaged(pod) && hasOurFinalizer(pod) && isDeleting(pod) && isOld(pod.metadata.deletionTimestamp),
  )
  const late = lateLifts(known(workloads), pods, isOld)
  // Where Kueue is the engine others make Workloads, too, also ahead of their pods.
  const made = config?.engine === 'kueue' ? known(workloads).filter(isMadeByMuster) : known(workloads)
  const empty = made.filter(workload => isOld(workload.metadata.creationTimestamp) && isEmpty(workload, pods))
  const all: readonly (readonly [Code, readonly (Pod | QueuedWorkload)[]])[] = [
    ['FinalizerStray', strays],
    ['GateForgotten', forgotten],
    ['DeletionStuck', stuck],
    ['LiftStuck', late],
    ['WorkloadWithoutPods', empty],
  ]
  return all.filter(([, objects]) => objects.length > 0).map(([code, objects]) => complaint(code, named(objects)))
}

/** Whether somebody will lift its gate. What cannot be known is taken for well. */
function isOurs(pod: Pod, { config, namespaces, workloads }: Facts): boolean {
  if (!isMarkedManaged(pod)) return false
  if (config === undefined || namespaces === 'denied') return true
  const owned = known(workloads).some(workload => owns(workload, uidOf(pod)))
  const name = pod.metadata.namespace ?? ''
  const labels = namespaces.find(({ metadata }) => metadata.name === name)?.metadata.labels ?? {}
  const { namespaceSelector } = config.integrations.podOptions
  return owned || matchesSelector(namespaceSelector, { ...labels, [NAMESPACE_NAME_LABEL]: name })
}

const owns = ({ metadata }: QueuedWorkload, uid: string): boolean =>
  metadata.ownerReferences?.some(owner => owner.uid === uid) ?? false

function lateLifts(
  workloads: readonly QueuedWorkload[],
  pods: readonly Pod[],
  isOld: (time: string | undefined) => boolean,
): readonly Pod[] {
  const admitted = workloads.filter(
    workload => isTrue(workload, 'Admitted') && !isTrue(workload, 'Finished') && !isTrue(workload, 'Evicted'),
  )
  const since = new Map(
    admitted.flatMap(workload => {
      const at = condition(workload, 'Admitted')?.lastTransitionTime
      return (workload.metadata.ownerReferences ?? []).map(({ uid }) => [uid, at] as const)
    }),
  )
  return pods.filter(pod => isWaiting(pod) && since.has(uidOf(pod)) && isOld(since.get(uidOf(pod))))
}

/** Those of Jobs have no pods of their own while they wait. */
function isEmpty(workload: QueuedWorkload, pods: readonly Pod[]): boolean {
  const { ownerReferences, annotations } = workload.metadata
  if (isTrue(workload, 'Finished') || annotations?.[WORKLOAD_JOB] !== undefined) return false
  if (ownerReferences?.some(({ kind }) => kind !== 'Pod')) return false
  const owners = new Set((ownerReferences ?? []).map(({ uid }) => uid))
  return !pods.some(pod => owners.has(uidOf(pod)))
}
