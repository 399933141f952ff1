import { KAI_POD_GROUP, KAI_SUBGROUP } from '../../../src/kube/vocabulary/kai.ts'
import { ADMISSION_GATE, MANAGED, POD_GROUP } from '../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import { PODS } from '../../../src/kube/vocabulary/resources.ts'

import { asPod, asWorkload, conditionOf, gatesOf, OUR_FINALIZERS } from '../facts.ts'
import { jobOf } from '../model/job-rules.ts'
import { equal } from '../model/patches.ts'
import type { ModelServer, Stored } from '../model/server.ts'
import type { Judge } from './judge.ts'

const OUR_LABELS: ReadonlySet<string> = new Set([
  'kueue.x-k8s.io/podset',
  'kueue.x-k8s.io/local-queue-name',
  'kueue.x-k8s.io/cluster-queue-name',
  POD_GROUP,
  KAI_SUBGROUP,
])
/** Who may have a link to a PodGroup of KAI is for the judge of those to say. */
const OUR_ANNOTATIONS: ReadonlySet<string> = new Set(['kueue.x-k8s.io/workload', KAI_POD_GROUP])
const OUR_GATES: ReadonlySet<string> = new Set([ADMISSION_GATE, POD_GROUP])

/**
 * I5: of what belongs to others nothing is touched. On a pod, our gate and our finalizer go, our marks come, and
 * that is all; of a Workload its author changes the status, the owners and its own finalizer.
 */
export function watchManners(server: ModelServer, muster: string, judge: Judge): void {
  server.subscribe(change => {
    if (change.who !== muster) return
    const { resource, type, before, after } = change
    if (resource === PODS && before === undefined) judge.fail('I5', `Muster created pod ${nameOf(after)}`)
    if (resource === PODS && before !== undefined) {
      if (type === 'updated') checkPod(before, after)
    }
    if (resource === server.workloads && type === 'updated' && before !== undefined) checkWorkload(before, after)
  })

  const checkPod = (before: Stored, after: Stored) => {
    const [was, is] = [asPod(before), asPod(after)]
    const name = nameOf(after)
    const others = (names: readonly string[], ours: string) => names.filter(item => item !== ours)
    const gates = (pod: Pod) => gatesOf(pod).filter(gate => !OUR_GATES.has(gate))
    if (!equal(gates(was), gates(is))) {
      judge.fail('I5', `foreign gates of ${name} were changed`)
    }
    const finalizers = (object: Stored) => object.metadata.finalizers ?? []
    if (!equal(others(finalizers(before), MANAGED), others(finalizers(after), MANAGED))) {
      judge.fail('I5', `foreign finalizers of ${name} were changed`)
    }
    if (!equal(foreign(was.metadata.labels, OUR_LABELS), foreign(is.metadata.labels, OUR_LABELS))) {
      judge.fail('I5', `labels of ${name} were changed`)
    }
    if (!equal(foreign(was.metadata.annotations, OUR_ANNOTATIONS), foreign(is.metadata.annotations, OUR_ANNOTATIONS))) {
      judge.fail('I5', `annotations of ${name} were changed`)
    }
    if (!equal(foreignStatus(was), foreignStatus(is))) judge.fail('I5', `the status of ${name} was changed`)
  }

  const checkWorkload = (before: Stored, after: Stored) => {
    const name = nameOf(after)
    const others = (object: Stored) => (object.metadata.finalizers ?? []).filter(item => !OUR_FINALIZERS.has(item))
    if (!equal(others(before), others(after))) judge.fail('I5', `foreign finalizers of Workload ${name} were changed`)
    if (!equal(before.metadata.labels, after.metadata.labels))
      judge.fail('I5', `labels of Workload ${name} were changed`)
    const conditions = (object: Stored) =>
      (asWorkload(object).status?.conditions ?? []).filter(({ type }) => type.includes('/'))
    if (!equal(conditions(before), conditions(after))) {
      judge.fail('I5', `conditions that others wrote on Workload ${name} were changed`)
    }
    if (after.apiVersion === 'kueue.x-k8s.io/v1beta2') checkQuota(before, after)
    const podSets = (object: Stored) => asWorkload(object).spec.podSets
    // A Job that waits may ask for more or less, and its Workload with it.
    if (jobOf(after) === undefined && !equal(podSets(before), podSets(after)))
      judge.fail('I5', `the podSets of Workload ${name} were changed`)
  }

  /** Where Kueue admits, quota is Kueue's to give; and when a Workload comes back is Kueue's to say. */
  const checkQuota = (before: Stored, after: Stored) => {
    const [was, is] = [asWorkload(before), asWorkload(after)]
    for (const type of ['QuotaReserved', 'Admitted', 'Evicted']) {
      if (conditionOf(is, type) !== 'True' || conditionOf(was, type) === 'True') continue
      judge.fail('I5', `Muster says that Workload ${nameOf(after)} is ${type}`)
    }
    if (conditionOf(is, 'Requeued') === 'True' && conditionOf(was, 'Requeued') !== 'True') {
      const evicted = was.status?.conditions?.find(({ type }) => type === 'Evicted')
      if (!['Preempted', 'NodeFailures'].includes(evicted?.reason ?? ''))
        judge.fail('I5', `Muster says that Workload ${nameOf(after)} comes back after ${evicted?.reason}`)
    }
    const { admission } = is.status ?? {}
    if (admission && conditionOf(is, 'QuotaReserved') !== 'True')
      judge.fail('I5', `Workload ${nameOf(after)} has given its quota back, and keeps its admission`)
    if (admission && !equal(admission, was.status?.admission)) {
      judge.fail('I5', `Muster admits Workload ${nameOf(after)}`)
    }
    const requeueState = ({ status }: Stored) => (status as { requeueState?: unknown } | undefined)?.requeueState
    if (!equal(requeueState(before), requeueState(after))) {
      judge.fail('I5', `Muster says when Workload ${nameOf(after)} comes back`)
    }
  }
}

/** Why it is stopped is for us to say. */
function foreignStatus({ status }: Pod): object {
  const { conditions, ...rest } = status ?? {}
  const others = (conditions ?? []).filter(({ type }) => type !== 'TerminationTarget')
  return { ...rest, conditions: others }
}

const nameOf = ({ metadata: { namespace, name } }: Stored): string => `${namespace}/${name}`

function foreign(map: Readonly<Record<string, string>> | null | undefined, ours: ReadonlySet<string>) {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !ours.has(key)))
}
