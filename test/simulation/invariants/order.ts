import type { QueueConfiguration } from '../../../src/config/configuration.ts'
import type { Resource } from '../../../src/kube/vocabulary/api.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { JOBS, PODS } from '../../../src/kube/vocabulary/resources.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { isAdmissible } from '../actors/kueue.ts'
import type { Queues } from '../cluster/queues.ts'
import {
  asPod,
  asWorkload,
  conditionOf,
  exceeds,
  isDeleting,
  limitsOf,
  queueOf,
  unitOf,
  unitOfWorkload,
  workloadUsage,
} from '../facts.ts'
import type { ModelServer } from '../model/server.ts'
import type { Request } from '../network/wire.ts'
import type { Judge } from './judge.ts'

const TOGETHER_MS = 3000

interface Sender {
  /** The newest version of each Workload that the replica was shown, and when. */
  readonly seen: Map<string, { readonly version: string | undefined; readonly at: number }>
  /** Admissions that it sent, and when. */
  readonly sent: Map<string, number>
}

/**
 * I3: first in, first out. Who admits a Workload while an earlier one of its queue waits, and was shown the earlier
 * one exactly as it is, jumps the queue. Admissions that leave together are one decision and may land in any order;
 * they leave a few at a time, as the lanes of the reconciler let them.
 */
export class OrderWatch {
  readonly #server: ModelServer
  readonly #judge: Judge
  readonly #now: () => number
  readonly #queues: Queues
  readonly #senders = new Map<object, Sender>()
  /** When the pods of a unit, or its Job, last named another queue. */
  readonly #asked = new Map<string, number>()
  /** Between what its pods asked for and what its Workload says: anywhere in there may be its place in its new queue. */
  readonly #moved = new Map<string, { readonly from: number; readonly to: number }>()

  constructor(server: ModelServer, queues: Queues, judge: Judge, now: () => number) {
    this.#server = server
    this.#queues = queues
    this.#judge = judge
    this.#now = now
    server.subscribe(({ resource, type, before, after }) => {
      if (type !== 'updated' || before === undefined) return
      const to = Number(after.metadata.resourceVersion)
      const asks = resource === PODS || resource === JOBS
      if (asks && queueOf(asPod(before)) !== queueOf(asPod(after))) {
        const { namespace, name } = after.metadata
        this.#asked.set(resource === JOBS ? `${namespace}/job:${name}` : unitOf(asPod(after)), to)
      }
      if (resource !== server.workloads) return
      const workload = asWorkload(after)
      if (asWorkload(before).spec.queueName === workload.spec.queueName) return
      this.#moved.set(after.metadata.uid ?? '', { from: this.#asked.get(unitOfWorkload(workload)) ?? to, to })
    })
  }

  /** Whether one was surely there before the other, in the queue in which they are now. */
  #precedes(one: QueuedWorkload, other: QueuedWorkload): boolean {
    const place = (workload: QueuedWorkload) => {
      const order = orderOf(workload)
      return this.#moved.get(workload.metadata.uid ?? '') ?? { from: order, to: order }
    }
    return place(one).to < place(other).from
  }

  received(replica: object, resource: Resource, object: KubeObject): void {
    if (resource !== this.#server.workloads) return
    const { uid = '', resourceVersion: version } = object.metadata
    this.#sender(replica).seen.set(uid, { version, at: this.#now() })
  }

  /** Returns what to check when the request has been carried out. */
  sending(replica: object, { verb, resource, namespace, name, body, subresource }: Request): () => void {
    if (verb !== 'patch' || resource !== this.#server.workloads || subresource !== 'status') return () => {}
    const target = this.#server.find(this.#server.workloads, namespace, name)
    if (target === undefined || !admits(body) || conditionOf(asWorkload(target), 'QuotaReserved') === 'True')
      return () => {}
    const sender = this.#sender(replica)
    const workload = asWorkload(target)
    sender.sent.set(workload.metadata.uid ?? '', this.#now())
    // By other limits another one may be the first that can be held at all.
    if (!this.#queues.isSettled(workload.spec.queueName)) return () => {}
    const overtaken = this.#server
      .all(this.#server.workloads)
      .map(asWorkload)
      .filter(other => inTheWay(other, this.#queues.list) && this.#precedes(other, workload))
      .filter(other => other.spec.queueName === workload.spec.queueName)
      .filter(({ metadata: { uid = '', resourceVersion } }) => {
        const seen = sender.seen.get(uid)
        // What arrived in this very instant may have come after the decision.
        const known = seen?.version === resourceVersion && seen !== undefined && seen.at < this.#now()
        return known && this.#now() - (sender.sent.get(uid) ?? Number.NEGATIVE_INFINITY) > TOGETHER_MS
      })
    return () => {
      const now = this.#server.find(this.#server.workloads, namespace, name)
      if (now === undefined || conditionOf(asWorkload(now), 'QuotaReserved') !== 'True') return
      for (const { metadata } of overtaken) {
        const still = this.#server.find(this.#server.workloads, metadata.namespace, metadata.name ?? '')
        if (still?.metadata.resourceVersion !== metadata.resourceVersion) continue
        this.#judge.fail(
          'I3',
          `${name} is admitted to ${workload.spec.queueName} before ${metadata.name}, which came first`,
        )
      }
    }
  }

  #sender(replica: object): Sender {
    const known = this.#senders.get(replica)
    if (known !== undefined) return known
    const sender: Sender = { seen: new Map(), sent: new Map() }
    this.#senders.set(replica, sender)
    return sender
  }
}

function admits(body: unknown): boolean {
  const { status } = body as { status?: QueuedWorkload['status'] }
  return status?.conditions?.some(({ type, status }) => type === 'QuotaReserved' && status === 'True') ?? false
}

/** Waits for nothing but its turn. */
export function waits(workload: QueuedWorkload): boolean {
  if (isDeleting(workload) || workload.spec.active === false) return false
  if (workload.apiVersion === 'kueue.x-k8s.io/v1beta2') return isAdmissible(workload)
  return !['QuotaReserved', 'Finished', 'Evicted', 'WaitingForReplacementPods'].some(
    type => conditionOf(workload, type) === 'True',
  )
}

/** Waits where others have to wait for it: not if its queue could never hold it. */
export function inTheWay(workload: QueuedWorkload, queues: readonly QueueConfiguration[]): boolean {
  const limits = limitsOf(queues.find(({ name }) => name === workload.spec.queueName)?.limits ?? {})
  return waits(workload) && !exceeds(workloadUsage(workload), limits)
}

export function comesBefore(a: QueuedWorkload, b: QueuedWorkload): boolean {
  return a.metadata.uid !== b.metadata.uid && orderOf(a) < orderOf(b)
}

const orderOf = ({ metadata, status }: QueuedWorkload): number =>
  Math.max(Number(metadata.annotations?.['muster.dev/queue-order'] ?? 0), Number(status?.order ?? 0))
