import type { EventRecorder, ObjectReference } from '../kube/coordination/events.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import { eventType, REASONS, type Reason } from '../workload/reasons.ts'
import type { JobStanding, Remark, Standing } from './decision.ts'

/** Reasons for which a pod still waits; the others end its wait. */
const WAITING: ReadonlySet<Reason> = new Set([
  'WaitingForPods',
  'InvalidGroup',
  'WaitingForAdmission',
  'OverQueueLimits',
  'LiftBlocked',
  'ForeignGates',
  'ExcessPod',
  'Evicted',
  'WaitingForScheduler',
])

/** Beyond this some are told twice, which their names make harmless: an Event that says the same has the same name. */
const MOST_REMARKS = 10_000

/** Of whom something is told, and for how many pods it stands. */
interface Subject {
  readonly regarding: ObjectReference
  readonly createdAt: string
  readonly pods: number
}

interface Told {
  readonly reason: Reason
  readonly note: string
  readonly pods: number
  /** Of what the note speaks, if it says so. */
  readonly about?: string
}

const objectOf = (standing: Standing | JobStanding): KubeObject => ('job' in standing ? standing.job : standing.pod)

function subjectOf(standing: Standing | JobStanding): Subject {
  const { namespace, name = '', uid = '', creationTimestamp } = objectOf(standing).metadata
  const createdAt = creationTimestamp ?? ''
  const of = { ...(namespace !== undefined && { namespace }), name, uid }
  if (!('job' in standing)) return { regarding: { apiVersion: 'v1', kind: 'Pod', ...of }, createdAt, pods: 1 }
  const { group, version, kind } = standing.kind.resource
  const pods = standing.job.podSets.reduce((sum, { count }) => sum + count, 0)
  return { regarding: { apiVersion: `${group}/${version}`, kind, ...of }, createdAt, pods }
}

/** Tells each pod and each Job once why it stands where it stands: one Event per change, none while nothing changes. */
export class Standings {
  readonly #events: EventRecorder
  readonly #gauge: { waiting(reason: string, pods: number): void }
  readonly #told = new Map<string, Told>()
  readonly #counts = new Map<Reason, number>()
  readonly #remarked = new Set<string>()
  #leadingSince = 0

  constructor(events: EventRecorder, gauge: { waiting(reason: string, pods: number): void }) {
    this.#events = events
    this.#gauge = gauge
    for (const reason of REASONS) if (WAITING.has(reason)) gauge.waiting(reason, 0)
  }

  /** Timestamps in the cluster have no fractions of a second. */
  lead(now: number): void {
    this.#leadingSince = Math.floor(now / 1000) * 1000
  }

  /** Another leads, and counts: what we knew of the pods ages from here on. */
  rest(): void {
    this.#told.clear()
    for (const reason of this.#counts.keys()) this.#gauge.waiting(reason, 0)
    this.#counts.clear()
  }

  tell(standings: readonly (Standing | JobStanding)[]): void {
    for (const standing of standings) {
      const { reason, since } = standing
      const { regarding, createdAt, pods } = subjectOf(standing)
      const told = this.#told.get(regarding.uid)
      const about = 'steady' in standing ? standing.steady : undefined
      const steady = about !== undefined && told?.reason === reason && told.about === about
      const note = steady ? told.note : standing.note
      if (told?.reason === reason && told.note === note && told.pods === pods) continue
      this.#uncount(told)
      this.#count(reason, pods)
      this.#told.set(regarding.uid, { reason, note, pods, ...(about !== undefined && { about }) })
      if (told?.reason === reason && told.note === note) continue
      if (told === undefined && this.#isOldNews(createdAt, since)) continue
      this.#events.record({ regarding, type: eventType(reason), reason, action: 'Queue', note })
    }
  }

  /** They stand nowhere any more: what they were told stays told, but they are not counted among those who wait. */
  settle(objects: readonly KubeObject[], standings: readonly (Standing | JobStanding)[]): void {
    const standing = new Set(standings.map(each => objectOf(each).metadata.uid))
    for (const {
      metadata: { uid = '' },
    } of objects) {
      const told = this.#told.get(uid)
      if (told === undefined || told.pods === 0 || standing.has(uid)) continue
      this.#uncount(told)
      this.#told.set(uid, { ...told, pods: 0 })
    }
  }

  /** Once: the recorder knows what it has said of an object. */
  remark(remarks: readonly Remark[]): void {
    for (const { regarding, type, reason, note } of remarks) {
      const said = `${regarding.uid}/${reason}/${note}`
      if (this.#remarked.has(said)) continue
      if (this.#remarked.size >= MOST_REMARKS) this.#remarked.clear()
      this.#remarked.add(said)
      this.#events.record({ regarding, type, reason, action: 'Place', note })
    }
  }

  /** Whoever led then wrote it down, and told those who were there. */
  #isOldNews(createdAt: string, since: string | undefined): boolean {
    if (since === undefined || createdAt > since) return false
    return Date.parse(since) < this.#leadingSince
  }

  forget({ metadata: { uid = '' } }: KubeObject): void {
    this.#uncount(this.#told.get(uid))
    this.#told.delete(uid)
    this.#events.forget(uid, 'Queue', 'Place')
  }

  #uncount(told: { readonly reason: Reason; readonly pods: number } | undefined): void {
    if (told !== undefined) this.#count(told.reason, -told.pods)
  }

  #count(reason: Reason, change: number): void {
    if (!WAITING.has(reason)) return
    const count = (this.#counts.get(reason) ?? 0) + change
    this.#counts.set(reason, count)
    this.#gauge.waiting(reason, count)
  }
}
