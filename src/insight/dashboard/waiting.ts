import { NOBODY, type Placement } from '../../reconciler/co-scheduler.ts'
import type { Engine } from '../../reconciler/engine.ts'
import { type Records, unitFrom } from '../../reconciler/unit.ts'
import { queueOf } from '../../workload/pod-facts.ts'
import { podCount } from '../../workload/queued-workload.ts'
import type { Reason } from '../../workload/reasons.ts'
import { asksOf } from '../asks.ts'
import type { Subject, SubjectKind } from '../explain/explanation.ts'
import { type Found, type Told, workloadIn } from '../explain/facts.ts'
import { standOf } from '../explain/standing.ts'
import { quantities, quantitiesText } from '../text.ts'

/** One that waits, as the page lists it. */
export interface Waiter {
  /** Of the unit, as the reconciler has it. */
  readonly id: string
  readonly subject: Subject
  readonly queue: string
  readonly reason: Reason
  readonly since?: string
  readonly message: string
  readonly asks: string
  readonly pods: number
  /** Its Workload, where there is one already. */
  readonly workload?: string
}

/** What is known when one has to say why a unit waits. */
export interface Known {
  readonly records: Records
  readonly engine: Engine
  readonly placement?: Placement
  /** What Muster said last, of what stands in no object. */
  readonly told?: (found: Found) => Told | undefined
}

/** Why a unit waits, by the reconciler's own decision; undefined when nothing holds it back. */
export function waiterOf(id: string, known: Known, now: string): Waiter | undefined {
  const found = foundOf(id, known)
  if (found === undefined) return undefined
  const { engine, placement = NOBODY } = known
  const subject = subjectOf(id)
  const told = known.told?.(found)
  const stand = standOf(
    { subject, engine, config: undefined, found, placement, unseen: [], ...(told && { told }) },
    now,
  )
  if (stand.reason === null || stand.reason === 'Finished') return undefined
  const workload = workloadIn(found)
  const pods = found.kind === 'pods' ? found.unit.pods : []
  return {
    ...{ id, subject, reason: stand.reason, message: stand.message },
    queue: workload?.spec.queueName ?? (pods[0] === undefined ? '' : queueOf(pods[0])),
    ...(stand.since !== undefined && { since: stand.since }),
    asks: workload === undefined ? podsText(pods.length) : quantitiesText(quantities(asksOf(workload) ?? new Map())),
    pods: workload === undefined ? pods.length : podCount(workload),
    ...(workload?.metadata.name !== undefined && { workload: workload.metadata.name }),
  }
}

const podsText = (count: number): string => (count === 1 ? '1 pod' : `${count} pods so far`)

/** The pods of a unit with its Workload; of a Job, and where pods may not be read, the Workload alone. */
function foundOf(id: string, { records }: Known): Found | undefined {
  const [word] = id.split('/')
  if (word === 'single' || word === 'group') {
    const unit = unitFrom(id, records)
    if (unit.pods.length > 0) return { kind: 'pods', unit }
  }
  const [workload] = records.workloadsOf(id)
  return workload && { kind: 'workload', workload }
}

/** `single/ml/train` is pod train of namespace ml. */
export function subjectOf(id: string): Subject {
  const [word = '', namespace = '', name = ''] = id.split('/')
  return { kind: word === 'single' ? 'pod' : (word as SubjectKind), namespace, name }
}

/** What of the list somebody looks at. */
export interface Look {
  /** Undefined: of all queues. */
  readonly queue?: string
  readonly reason?: string
  /** Part of a name, namespace or queue. */
  readonly text?: string
  readonly order: 'queue' | 'age'
}

/** A waiter with his place in the queue, from 1 on; absent for who is in no line. */
export type Placed = Waiter & { readonly place?: number }

/** Who waits, as far as somebody looks: by queue and place, or the longest first. */
export function looked(
  waiters: Iterable<Waiter>,
  places: ReadonlyMap<string, number>,
  { queue, reason, text, order }: Look,
): readonly Placed[] {
  const part = text?.toLowerCase() ?? ''
  const shown: Placed[] = []
  for (const waiter of waiters) {
    if (queue !== undefined && waiter.queue !== queue) continue
    if (reason !== undefined && waiter.reason !== reason) continue
    if (part !== '' && !searched(waiter).includes(part)) continue
    const place = waiter.workload && places.get(`${waiter.subject.namespace}/${waiter.workload}`)
    shown.push(place ? { ...waiter, place } : waiter)
  }
  return shown.sort(order === 'age' ? byAge : byPlace)
}

const searched = ({ subject, queue, workload = '' }: Waiter): string =>
  `${subject.namespace}/${subject.name} ${workload} ${queue}`.toLowerCase()

const LAST = Number.POSITIVE_INFINITY

function byPlace(a: Placed, b: Placed): number {
  return compare(a.queue, b.queue) || (a.place ?? LAST) - (b.place ?? LAST) || byAge(a, b)
}

/** What has no time is as young as anything. */
const byAge = (a: Placed, b: Placed): number => compare(a.since ?? '~', b.since ?? '~') || compare(a.id, b.id)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
