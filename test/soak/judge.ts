import type { KubeObject, Pod } from '../../src/kube/vocabulary/objects.ts'

/** Marks that the clients of the soak put on what they create, and that Muster knows nothing of. */
export const QUEUE_MARK = 'soak/queue'
export const GROUP_MARK = 'soak/group'
/** How many pods the group has, or how many of the Job run at a time. */
export const SIZE_MARK = 'soak/size'
export const JOB_MARK = 'soak/job'

const GATE = 'kueue.x-k8s.io/admission'

/** For so long a replica may go by limits that were in force: it looks every 3 s, on a busy machine later, and a write may be on its way. */
const LIMITS_LINGER_MS = 60_000

/** For so long a group may be half lifted; who lifts it may be killed in between, and another one has to take over. */
export const WHOLE_MS = 60_000

/**
 * For so long a member counts that its client has deleted: between the admission of all of them and the lift of each, and
 * a lift may be on its way.
 */
const LEFT_LINGER_MS = 30_000

interface Seen {
  readonly name: string
  readonly queue: string
  readonly group: string | undefined
  readonly job: string | undefined
  readonly size: number
  readonly gated: boolean
  /** It has its place in the queue: lifted, and not over. */
  readonly active: boolean
}

interface Group {
  readonly liftedAt: number
  /** Since when only some of it is. */
  partialSince: number | undefined
}

/**
 * Judges by what a watch saw, with nothing of Muster's code: no queue ever has more pods that may run than it holds, a
 * group begins only when all of it is there, and does not stay half begun.
 */
export class Judge {
  readonly #now: () => number
  readonly #pods = new Map<string, Seen>()
  readonly #groups = new Map<string, Group>()
  /** When members of groups went. */
  readonly #left: { readonly group: string; readonly at: number }[] = []
  readonly #limits = new Map<string, { readonly since: number; readonly pods: number }[]>()
  readonly #activeSince = new Map<string, number>()
  readonly wrong: string[] = []
  readonly lifts = { pods: 0, groups: 0, ofJobs: 0 }
  longestPartialMs = 0

  constructor(now: () => number) {
    this.#now = now
  }

  setLimit(queue: string, pods: number): void {
    this.#limits.set(queue, [...(this.#limits.get(queue) ?? []), { since: this.#now(), pods }])
  }

  replaced(objects: readonly KubeObject[]): void {
    const present = new Set(objects.map(({ metadata }) => metadata.uid))
    for (const uid of this.#pods.keys()) if (!present.has(uid)) this.#forget(uid)
    // First all of them, then what follows from it: a list is one moment, and has no order.
    const begun = objects.filter(object => this.#take(object))
    for (const object of begun) this.#judge(object)
  }

  changed(object: KubeObject): void {
    if (this.#take(object)) this.#judge(object)
  }

  gone({ metadata }: KubeObject): void {
    this.#forget(metadata.uid ?? '')
  }

  /** To be called now and then: what lasts too long makes no event. `lostSince`: in how much of it nobody could act. */
  look(lostSince: (from: number) => number): void {
    for (const [name, group] of this.#groups) {
      const members = [...this.#pods.values()].filter(pod => pod.group === name)
      if (members.length === 0) {
        this.#groups.delete(name)
        continue
      }
      const isPartial = members.some(({ gated }) => gated) && members.some(({ active }) => active)
      if (!isPartial) {
        group.partialSince = undefined
        continue
      }
      group.partialSince ??= this.#now()
      const ms = this.#now() - group.partialSince - lostSince(group.partialSince)
      this.longestPartialMs = Math.max(this.longestPartialMs, ms)
      if (ms > WHOLE_MS) {
        this.wrong.push(`group ${name} has been half lifted for ${Math.round(ms / 1000)} s`)
        this.#groups.delete(name)
      }
    }
  }

  /** True when the pod has got its place with this. */
  #take(object: KubeObject): boolean {
    const uid = object.metadata.uid ?? ''
    const before = this.#pods.get(uid)
    const seen = seenOf(object as Pod)
    if (seen === undefined) return false
    this.#pods.set(uid, seen)
    if (!seen.active) this.#activeSince.delete(uid)
    if (!seen.active || before?.active) return false
    this.#activeSince.set(uid, this.#now())
    return true
  }

  #forget(uid: string): void {
    const group = this.#pods.get(uid)?.group
    if (group !== undefined) this.#left.push({ group, at: this.#now() })
    while ((this.#left[0]?.at ?? this.#now()) < this.#now() - LEFT_LINGER_MS) this.#left.shift()
    this.#pods.delete(uid)
    this.#activeSince.delete(uid)
  }

  #judge({ metadata: { uid = '' } }: KubeObject): void {
    const pod = this.#pods.get(uid)
    if (pod === undefined) return
    this.lifts[pod.job === undefined ? 'pods' : 'ofJobs']++
    const active = [...this.#pods].filter(([, { queue, active }]) => active && queue === pod.queue)
    const allowed = this.#allowed(
      pod.queue,
      active.map(([uid]) => this.#activeSince.get(uid) ?? this.#now()),
    )
    const taken = placesOf(active.map(([, seen]) => seen))
    if (taken > allowed) {
      const names = active.map(([, { name }]) => name).join(', ')
      this.wrong.push(`${pod.name} takes ${taken} places in queue ${pod.queue}, which holds ${allowed}: ${names}`)
    }
    if (pod.group !== undefined) this.#judgeGroup(pod.group, pod)
  }

  #judgeGroup(name: string, pod: Seen): void {
    if (this.#groups.has(name)) return
    this.#groups.set(name, { liftedAt: this.#now(), partialSince: undefined })
    this.lifts.groups++
    const hasJustLeft = ({ group, at }: { readonly group: string; readonly at: number }): boolean =>
      group === name && at >= this.#now() - LEFT_LINGER_MS
    const present =
      [...this.#pods.values()].filter(({ group }) => group === name).length + this.#left.filter(hasJustLeft).length
    if (present < pod.size)
      this.wrong.push(`${pod.name} is lifted with ${present} of ${pod.size} pods of ${name} there`)
  }

  /** The most that was in force since the first of those who are in it now came: lower limits take nothing from anybody. */
  #allowed(queue: string, since: readonly number[]): number {
    const history = this.#limits.get(queue)
    if (history === undefined) return Number.POSITIVE_INFINITY
    const oldest = Math.min(this.#now(), ...since) - LIMITS_LINGER_MS
    const inForce = history.filter((_, index) => (history[index + 1]?.since ?? Number.POSITIVE_INFINITY) > oldest)
    return Math.max(...inForce.map(({ pods }) => pods))
  }
}

/**
 * A Job controller whose API server dies makes pods again whose creation it was not told of, and takes those back that are
 * too many. No queue can hold it back: a Job has as many places as it asked for.
 */
function placesOf(active: readonly Seen[]): number {
  const ofJobs = new Map<string, { readonly size: number; pods: number }>()
  for (const { job, size } of active) {
    if (job === undefined) continue
    const seen = ofJobs.get(job) ?? { size, pods: 0 }
    ofJobs.set(job, { size, pods: seen.pods + 1 })
  }
  const others = active.filter(({ job }) => job === undefined).length
  return [...ofJobs.values()].reduce((sum, { size, pods }) => sum + Math.min(size, pods), others)
}

function seenOf({ metadata, spec, status }: Pod): Seen | undefined {
  const { name = '', annotations } = metadata
  const queue = annotations?.[QUEUE_MARK]
  if (queue === undefined) return undefined
  const gated = (spec.schedulingGates ?? []).some(gate => gate.name === GATE)
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  return {
    name,
    queue,
    group: annotations?.[GROUP_MARK],
    job: annotations?.[JOB_MARK],
    size: Number(annotations?.[SIZE_MARK] ?? 1),
    gated,
    active: !gated && !isOver,
  }
}
