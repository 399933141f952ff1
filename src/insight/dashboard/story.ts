import type { KubeObject, Pod } from '../../kube/vocabulary/objects.ts'
import { isDeleting, isGated, nameOf } from '../../workload/pod-facts.ts'
import type { QueuedWorkload } from '../../workload/queued-workload.ts'
import type { Explanation, Subject } from '../explain/explanation.ts'
import { outcomeText } from '../explain/render.ts'

/** All that happened to one unit, and where its pods are. */
export interface Story {
  readonly subject: Subject
  readonly explanation: Explanation
  readonly workload?: {
    readonly name: string
    readonly queue: string
    readonly sets: readonly { readonly name: string; readonly count: number }[]
  }
  /** What would start it, as `muster explain` says it. */
  readonly wouldStart: readonly { readonly text: string; readonly when: string; readonly starts: boolean }[]
  /** In the order in which it happened. */
  readonly moments: readonly Moment[]
  readonly pods: readonly PodLine[]
  readonly morePods: number
  /** Of how many pods the Events were read; fewer than there are where there are many. */
  readonly eventsOf: number
}

export interface Moment {
  readonly at: string
  readonly kind: 'life' | 'condition' | 'event'
  /** The word. */
  readonly title: string
  readonly text: string
  /** Who says so, or of whom. */
  readonly who: string
  readonly tone: 'plain' | 'good' | 'bad'
  /** How often it was said, of one or of several. */
  readonly times: number
}

export interface PodLine {
  readonly name: string
  readonly state: string
  readonly node: string
  readonly since: string
}

/** Of an Event, in either of the two forms in which there are some. */
export interface ToldEvent extends KubeObject {
  readonly type?: string
  readonly reason?: string
  readonly note?: string
  readonly eventTime?: string | null
  readonly reportingController?: string
  readonly regarding?: { readonly kind?: string; readonly name?: string; readonly uid?: string }
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string } | null
  readonly deprecatedLastTimestamp?: string | null
  readonly deprecatedCount?: number
  readonly deprecatedSource?: { readonly component?: string } | null
}

export interface StoryFacts {
  readonly subject: Subject
  readonly explanation: Explanation
  readonly workload: QueuedWorkload | undefined
  readonly pods: readonly Pod[]
  readonly podsInAll: number
  readonly events: readonly ToldEvent[]
  readonly eventsOf: number
}

/** More pods than these nobody reads; the list says how many there are. */
export const SHOWN_PODS = 200
/** An object with more Events than this says the same again and again. */
const MOST_MOMENTS = 300

export function storyOf({ workload, events, pods, podsInAll, ...rest }: StoryFacts): Story {
  const { subject, explanation, eventsOf } = rest
  const lines = pods.slice(0, SHOWN_PODS).map(podLine)
  return {
    ...{ subject, explanation, eventsOf },
    ...(workload && {
      workload: {
        name: workload.metadata.name ?? '',
        queue: workload.spec.queueName,
        sets: workload.spec.podSets.map(({ name, count }) => ({ name, count })),
      },
    }),
    wouldStart: explanation.counterfactuals.map(change => ({
      text: change.text,
      when: outcomeText(change),
      starts: change.outcome === 'starts',
    })),
    moments: [...lifeOf(workload, pods), ...conditionsOf(workload), ...together(events.map(momentOf))]
      .sort((a, b) => (a.at === b.at ? rank(a) - rank(b) : a.at < b.at ? -1 : 1))
      .slice(-MOST_MOMENTS),
    pods: lines,
    morePods: Math.max(0, podsInAll - lines.length),
  }
}

/** Within one second: what was made, what was decided of it, what was said of that. */
const rank = ({ kind }: Moment): number => ['life', 'condition', 'event'].indexOf(kind)

const born = ({ metadata }: KubeObject): string => metadata.creationTimestamp ?? ''

function lifeOf(workload: QueuedWorkload | undefined, pods: readonly Pod[]): readonly Moment[] {
  const life = (at: string, title: string, text: string, times = 1): readonly Moment[] =>
    at === '' ? [] : [{ at: whole(at), kind: 'life', title, text, who: '', tone: 'plain', times }]
  const byTime = Map.groupBy(pods, born)
  const name = workload?.metadata.name ?? ''
  const deleted = workload?.metadata.deletionTimestamp ?? ''
  return [
    ...[...byTime].flatMap(([at, all]) => life(at, 'Created', namesOf(all), all.length)),
    ...(workload === undefined ? [] : life(born(workload), 'Queued', `Workload ${name} is made`)),
    ...life(deleted, 'Deleted', `Workload ${name} is being deleted`),
  ]
}

function namesOf(pods: readonly Pod[]): string {
  const [first, ...others] = pods
  const name = first === undefined ? '' : nameOf(first)
  return others.length === 0 ? `pod ${name}` : `pod ${name} and ${others.length} more`
}

const GOOD: ReadonlySet<string> = new Set(['Admitted', 'PodsReady'])
const BAD: ReadonlySet<string> = new Set(['Evicted', 'WaitingForReplacementPods'])

function conditionsOf(workload: QueuedWorkload | undefined): readonly Moment[] {
  return (workload?.status?.conditions ?? []).map(({ type, status, reason, message, lastTransitionTime }) => ({
    at: whole(lastTransitionTime ?? ''),
    kind: 'condition',
    title: status === 'True' ? type : `${type}: ${status}`,
    text: message === '' || reason === message ? reason : `${reason}: ${message}`,
    who: 'condition of the Workload',
    tone: status !== 'True' ? 'plain' : GOOD.has(type) ? 'good' : BAD.has(type) ? 'bad' : 'plain',
    times: 1,
  }))
}

function momentOf(event: ToldEvent): Moment {
  const { series, eventTime, deprecatedLastTimestamp, deprecatedCount, regarding } = event
  const at = series?.lastObservedTime ?? eventTime ?? deprecatedLastTimestamp ?? born(event)
  const reporter = event.reportingController || event.deprecatedSource?.component || ''
  return {
    at: whole(at),
    kind: 'event',
    title: event.reason ?? '',
    text: event.note ?? '',
    who: [reporter, regarding?.name].filter(part => part !== undefined && part !== '').join(', of '),
    tone: event.type === 'Warning' ? 'bad' : 'plain',
    times: series?.count ?? deprecatedCount ?? 1,
  }
}

/** What was said of several pods in one second is one thing that was said. */
function together(moments: readonly Moment[]): readonly Moment[] {
  const alike = Map.groupBy(moments, ({ at, title, text, tone }) => JSON.stringify([at, title, text, tone]))
  return [...alike.values()].flatMap(all => {
    const times = all.reduce((sum, moment) => sum + moment.times, 0)
    return all.slice(0, 1).map(first => ({ ...first, times }))
  })
}

/** To the second: Events have fractions, and conditions have none. */
const whole = (time: string): string => time.replace(/\.\d+Z$/, 'Z')

function podLine(pod: Pod): PodLine {
  return { name: nameOf(pod), state: stateOf(pod), node: pod.spec.nodeName ?? '', since: born(pod) }
}

/** As kubectl shows it. */
function stateOf(pod: Pod): string {
  if (isDeleting(pod)) return 'Terminating'
  if (isGated(pod) || (pod.spec.schedulingGates ?? []).length > 0) return 'SchedulingGated'
  return pod.status?.phase ?? 'Unknown'
}
