import { oneLine } from '../../review/formats/formatter.ts'
import type { Counterfactual } from '../counterfactuals.ts'
import { age, aligned, type Paint, quantitiesText, wrapped } from '../text.ts'
import type { Explanation, Neighbour, QueueStanding, Subject } from './explanation.ts'

/** The reason first, then what to do, then the rest. */
export function renderExplanation(explanation: Explanation, now: number, paint: Paint, width?: number): string {
  const { subject, through, message, next, queue, others, unseen } = explanation
  const about = through === undefined ? `${nameOf(subject)}` : `${nameOf(subject)} belongs to ${nameOf(through)}, which`
  const lines = [
    `${paint(about, 'bold')} ${stateOf(explanation, now, paint)}`,
    ...wrapped(sentence(message), '  ', width),
    '',
    paint('What has to happen', 'bold'),
    ...wrapped(next.what, '  ', width),
    ...wrapped(`Who can: ${next.who}.`, '  ', width),
    ...section('Before it', queue && beforeIt(queue, now), paint),
    ...section(`Who holds queue ${queue?.name}`, queue && holders(queue, now), paint),
    ...section('It would start', startsIf(explanation.counterfactuals, paint), paint),
    ...section(
      'Pods that stand elsewhere',
      others.map(({ pod, reason, message }) => `${pod}: ${reason}, ${oneLine(message)}`),
      paint,
    ),
    ...section('Not seen', unseen, paint),
  ]
  return `${lines.join('\n')}\n`
}

const KINDS: Readonly<Record<Subject['kind'], string>> = {
  pod: 'Pod',
  job: 'Job',
  jobset: 'JobSet',
  group: 'Group',
  workload: 'Workload',
}

const nameOf = ({ kind, namespace, name }: Subject): string => `${KINDS[kind]} ${namespace}/${name}`

function stateOf({ reason, since }: Explanation, now: number, paint: Paint): string {
  const ago = since === undefined ? '' : age(since, now)
  // What Muster holds back no more was admitted at that time.
  if (reason === null) return `does not wait for Muster${ago === '' ? '' : `; admitted ${ago} ago (${since})`}`
  return `${verbOf(reason)}: ${paint(reason, colourOf(reason))}${ago === '' ? '' : `, for ${ago} (since ${since})`}`
}

const verbOf = (reason: string): string => (reason === 'Finished' ? 'is over' : 'waits')

const colourOf = (reason: string): 'green' | 'red' | 'yellow' => {
  if (reason === 'Finished' || reason === 'Lifting') return 'green'
  return ['InvalidGroup', 'LiftBlocked', 'ExcessPod', 'Evicted'].includes(reason) ? 'red' : 'yellow'
}

const sentence = (text: string): string =>
  text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`

function section(title: string, lines: readonly string[] | undefined, paint: Paint): readonly string[] {
  if (lines === undefined || lines.length === 0) return []
  return ['', paint(title, 'bold'), ...lines.map(line => `  ${line}`)]
}

function beforeIt({ before, waiting, first, name }: QueueStanding, now: number): readonly string[] {
  if (before === undefined) return [`It is set aside: those behind it in queue ${name} go on.`]
  if (before === 0) return [`Nobody: it is the first of ${waiting} in queue ${name}.`]
  const more = before - first.length
  return [
    ...neighbours(first, now),
    ...(more > 0 ? [`and ${more} more`] : []),
    `It is number ${before + 1} of ${waiting} in queue ${name}.`,
  ]
}

function holders({ holders, holding, usage, limits }: QueueStanding, now: number): readonly string[] {
  const more = holding - holders.length
  const used = Object.keys(limits).map(name => `${usage[name] ?? '0'} of ${limits[name]} ${name}`)
  return [
    ...neighbours(holders, now),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(used.length > 0 ? [`In use: ${used.join(', ')}.`] : []),
  ]
}

const neighbours = (all: readonly Neighbour[], now: number): readonly string[] =>
  aligned(all.map(({ workload, asks, since }) => [oneLine(workload), quantitiesText(asks), `for ${age(since, now)}`]))

const MOST_CHANGES = 8

function startsIf(changes: readonly Counterfactual[], paint: Paint): readonly string[] {
  const starting = changes.filter(({ outcome }) => outcome === 'starts')
  const others = changes.filter(({ outcome }) => outcome !== 'starts')
  const shown = [...starting, ...others].slice(0, MOST_CHANGES)
  const rows = aligned(shown.map(change => [`if ${oneLine(change.text)}:`, outcomeText(change)]))
  const coloured = rows.map((row, index) => paint(row, shown[index]?.outcome === 'starts' ? 'green' : 'dim'))
  const more = changes.length - shown.length
  return [...coloured, ...(more > 0 ? [`and ${more} more, with -o json`] : [])]
}

export function outcomeText({ outcome, before = 0 }: Counterfactual): string {
  if (outcome === 'starts') return 'now'
  if (outcome === 'never') return 'never, it is too large'
  return before === 0 ? 'not now, it would be the first' : `not now, ${before} would be before it`
}
