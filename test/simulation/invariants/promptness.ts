import { MANAGED, POD_GROUP } from '../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'

import { POD_GROUPS, PODS } from '../../../src/kube/vocabulary/resources.ts'

import { asPod, asWorkload, conditionOf, gatesOf, isDeleting, isGated, unitOf } from '../facts.ts'
import type { Change, ModelServer } from '../model/server.ts'
import type { Judge } from './judge.ts'
import { workloadOfPod } from './units.ts'

/** Several rounds of the slowest healthy watch and of requests. Kueue's gates fell minutes late (kueue#11170). */
const PROMPT_MS = 2500

const isFailed = ({ status }: Pod): boolean => status?.phase === 'Failed'

/** I4, where nothing goes wrong: what can be done is done at once, not merely in the end. */
export function watchPromptness(server: ModelServer, muster: string, judge: Judge, now: () => number): void {
  const admittedAt = new Map<string, number>()
  const deletedAt = new Map<string, number>()
  /** When a place of a unit became free last: surplus waits for that, however long it has been admitted. */
  const freedAt = new Map<string, number>()

  const check = (since: number | undefined, what: string) => {
    if (since === undefined || now() - since <= PROMPT_MS) return
    judge.fail('I4', `${what} ${((now() - since) / 1000).toFixed(1)} s late, and nothing was wrong`)
  }

  const noteWorkload = ({ before, after }: Change) => {
    const admitted = conditionOf(asWorkload(after), 'Admitted') === 'True'
    const was = before !== undefined && conditionOf(asWorkload(before), 'Admitted') === 'True'
    if (admitted && !was) admittedAt.set(after.metadata.uid ?? '', now())
  }

  const notePod = (before: Pod, after: Pod, gone: boolean, byMuster: boolean) => {
    const { uid = '', name } = after.metadata
    if (isDeleting(after) && !isDeleting(before) && isGated(after)) deletedAt.set(uid, now())
    const released =
      before.metadata.finalizers?.includes(MANAGED) && (gone || !after.metadata.finalizers?.includes(MANAGED))
    if (released && byMuster) check(deletedAt.get(uid), `deleted pod ${name} is let go`)
    if (!isGated(after) && (gone || (isFailed(after) && !isFailed(before)))) freedAt.set(unitOf(after), now())
    if (!isGated(before) || isGated(after)) return
    const workload = workloadOfPod(server, after)
    const waiting =
      Date.parse(after.metadata.creationTimestamp ?? '') < Date.parse(workload?.metadata.creationTimestamp ?? '')
    const admitted = admittedAt.get(workload?.metadata.uid ?? '')
    if (waiting && admitted !== undefined)
      check(Math.max(admitted, freedAt.get(unitOf(after)) ?? 0), `${name} is lifted`)
  }

  /** The first group of its name: nobody else's can be in its way. */
  const names = new Set<string>()
  const groupedAt = new Map<string, number>()
  const noteLink = (pod: Pod) => {
    const { namespace, name, creationTimestamp } = pod.metadata
    const named = pod.spec.schedulingGroup?.podGroupName ?? ''
    const group = server.find(POD_GROUPS.v1beta1, namespace, named)
    const came = groupedAt.get(group?.metadata.uid ?? '')
    if ((creationTimestamp ?? '') < (group?.metadata.creationTimestamp ?? ''))
      check(came, `${name} is let into its group`)
  }

  server.subscribe(change => {
    const { resource, type, before, after, who } = change
    if (resource === server.workloads && type === 'updated') noteWorkload(change)
    if (resource === POD_GROUPS.v1beta1 && type === 'created' && !names.has(after.metadata.name ?? '')) {
      names.add(after.metadata.name ?? '')
      groupedAt.set(after.metadata.uid ?? '', now())
    }
    const awaited = before && resource === PODS && gatesOf(asPod(before)).includes(POD_GROUP)
    if (awaited && type === 'updated' && !gatesOf(asPod(after)).includes(POD_GROUP)) noteLink(asPod(after))
    if (resource === PODS && before) notePod(asPod(before), asPod(after), type === 'deleted', who === muster)
  })
}
