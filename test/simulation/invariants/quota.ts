import type { QueueConfiguration } from '../../../src/config/configuration.ts'

import { PODS } from '../../../src/kube/vocabulary/resources.ts'

import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import {
  asPod,
  asWorkload,
  exceeds,
  holdsQuota,
  isGated,
  limitsOf,
  mayRun,
  plus,
  podUsage,
  type Usage,
  workloadUsage,
} from '../facts.ts'
import type { Change, ModelServer } from '../model/server.ts'
import type { Judge } from './judge.ts'
import { workloadOfPod } from './units.ts'

const NOTHING: Usage = { pods: 0, milliCpu: 0 }

/**
 * I1: what is admitted never exceeds the limits of a queue, counted twice: by the Workloads that hold a reservation,
 * and by the pods that may run, whatever the Workloads say.
 */
export function watchQuota(server: ModelServer, queues: readonly QueueConfiguration[], judge: Judge): void {
  const limits = new Map(queues.map(({ name, limits }) => [name, limitsOf(limits)]))
  /** The queue that a lifted pod was charged to. */
  const charged = new Map<string, string>()
  const liftedOn = new Map<string, string | undefined>()

  const checkReservations = () => {
    const usage = new Map<string, Usage>()
    for (const object of server.all(server.workloads)) {
      const workload = asWorkload(object)
      const { queueName } = workload.spec
      if (holdsQuota(workload)) usage.set(queueName, plus(usage.get(queueName) ?? NOTHING, workloadUsage(workload)))
    }
    compare(usage, 'is reserved')
  }

  const checkPods = () => {
    const usage = new Map<string, Usage>()
    for (const object of server.all(PODS)) {
      const pod = asPod(object)
      const queue = charged.get(pod.metadata.uid ?? '')
      if (queue !== undefined && mayRun(pod)) usage.set(queue, plus(usage.get(queue) ?? NOTHING, podUsage(pod.spec)))
    }
    compare(usage, 'may run')
  }

  const compare = (usage: ReadonlyMap<string, Usage>, what: string) => {
    for (const [queue, used] of usage) {
      const limit = limits.get(queue)
      if (limit === undefined || !exceeds(used, limit)) continue
      judge.fail('I1', `queue ${queue}: ${JSON.stringify(used)} ${what}, its limits are ${JSON.stringify(limit)}`)
    }
  }

  /** What a pod was lifted on is held until the pod has stopped. */
  const checkRelease = (workload: QueuedWorkload) => {
    const running = server
      .all(PODS)
      .map(asPod)
      .find(pod => liftedOn.get(pod.metadata.uid ?? '') === workload.metadata.uid && mayRun(pod))
    if (running === undefined) return
    judge.fail('I1', `the quota of ${workload.metadata.name} is given back while ${running.metadata.name} may run`)
  }

  server.subscribe(({ resource, type, before, after }: Change) => {
    if (resource === server.workloads && type === 'updated') checkReservations()
    if (resource === server.workloads && before && holdsQuota(asWorkload(before))) {
      if (type === 'deleted' || !holdsQuota(asWorkload(after))) checkRelease(asWorkload(before))
    }
    if (resource !== PODS || type !== 'updated' || before === undefined) return
    const pod = asPod(after)
    if (!isGated(asPod(before)) || isGated(pod)) return
    const workload = workloadOfPod(server, pod)
    if (workload !== undefined) {
      charged.set(pod.metadata.uid ?? '', workload.spec.queueName)
      liftedOn.set(pod.metadata.uid ?? '', workload.metadata.uid)
    }
    checkPods()
  })
}
