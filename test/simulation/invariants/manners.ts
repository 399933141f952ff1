import { ADMISSION_GATE, MANAGED } from '../../../src/kube/vocabulary/names.ts'

import { PODS } from '../../../src/kube/vocabulary/resources.ts'

import { asPod, asWorkload, OUR_FINALIZERS } from '../facts.ts'
import { jobOf } from '../model/job-rules.ts'
import { equal } from '../model/patches.ts'
import type { ModelServer, Stored } from '../model/server.ts'
import type { Judge } from './judge.ts'

const OUR_LABELS: ReadonlySet<string> = new Set([
  'kueue.x-k8s.io/podset',
  'kueue.x-k8s.io/local-queue-name',
  'kueue.x-k8s.io/cluster-queue-name',
])
const OUR_ANNOTATIONS: ReadonlySet<string> = new Set(['kueue.x-k8s.io/workload'])

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
    const gates = (object: Stored) => (asPod(object).spec.schedulingGates ?? []).map(gate => gate.name)
    if (!equal(others(gates(before), ADMISSION_GATE), others(gates(after), ADMISSION_GATE))) {
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
    if (!equal(was.status, is.status)) judge.fail('I5', `the status of ${name} was changed`)
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
    const podSets = (object: Stored) => asWorkload(object).spec.podSets
    // A Job that waits may ask for more or less, and its Workload with it.
    if (jobOf(after) === undefined && !equal(podSets(before), podSets(after)))
      judge.fail('I5', `the podSets of Workload ${name} were changed`)
  }
}

const nameOf = ({ metadata: { namespace, name } }: Stored): string => `${namespace}/${name}`

function foreign(map: Readonly<Record<string, string>> | null | undefined, ours: ReadonlySet<string>) {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !ours.has(key)))
}
