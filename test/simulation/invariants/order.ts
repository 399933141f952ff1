import type { Resource } from '../../../src/kube/vocabulary/api.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { asWorkload, conditionOf, isDeleting } from '../facts.ts'
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
  readonly #senders = new Map<object, Sender>()

  constructor(server: ModelServer, judge: Judge, now: () => number) {
    this.#server = server
    this.#judge = judge
    this.#now = now
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
    const overtaken = this.#server
      .all(this.#server.workloads)
      .map(asWorkload)
      .filter(other => waits(other) && other.spec.queueName === workload.spec.queueName && comesBefore(other, workload))
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
  return !['QuotaReserved', 'Finished', 'Evicted', 'WaitingForReplacementPods'].some(
    type => conditionOf(workload, type) === 'True',
  )
}

export function comesBefore(a: QueuedWorkload, b: QueuedWorkload): boolean {
  if (a.metadata.uid === b.metadata.uid) return false
  const [atA, atB] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
  if (atA !== atB) return atA < atB
  const order = ({ metadata }: QueuedWorkload) => Number(metadata.annotations?.['muster.dev/queue-order'] ?? 0)
  return order(a) < order(b)
}
