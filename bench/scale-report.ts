import { loadavg } from 'node:os'
import { GOAL_HEAD, type Goal, goalRow, isMet } from './goal.ts'
import { machine } from './machine.ts'
import { markdownTable } from './markdown.ts'

/** What a pod costs on its way from its creation to its end. */
export interface Cost {
  readonly perSecond: number
  /** Milliseconds of Muster's CPU. */
  readonly cpu: number
  /** Events of its watches. */
  readonly watched: number
  /** Of objects, and Events that tell people. */
  readonly writes: number
  readonly told: number
}

/** Everything that was measured with so many managed pods. */
export interface Size {
  readonly pods: number
  /** Seconds to readiness, and until a pod that came then was through. */
  readonly start: number
  readonly firstLift: number
  /** Seconds of Muster's own CPU until it was ready. */
  readonly startCpu: number
  /** Megabytes: the most while it started, and when it had come to rest. */
  readonly peak: number
  readonly resident: number
  /** Per cent of a core with nothing to do. */
  readonly idle: number
  readonly single: Cost
  readonly group: Cost
  readonly queues: Cost
  /** Seconds until the other replica has let a pod through: after an orderly end, and after none. */
  readonly handover: number
  readonly failover: number
}

const perEvent = ({ cpu, watched }: Cost): number => cpu / watched

type Row = readonly [what: string, figure: (size: Size) => number, digits: number]

const ROWS: readonly Row[] = [
  ['start to ready, s', size => size.start, 1],
  ['CPU of the start, s', size => size.startCpu, 1],
  ['start to the first pod through, s', size => size.firstLift, 1],
  ['orderly handover, s', size => size.handover, 1],
  ['failover after a kill, s', size => size.failover, 1],
  ['memory at rest, MB', size => size.resident, 0],
  ['most memory of the start, MB', size => size.peak, 0],
  ['CPU at rest, % of a core', size => size.idle, 1],
  ['single pod: CPU, ms', size => size.single.cpu, 2],
  ['single pod: CPU per event, ms', size => perEvent(size.single), 3],
  ['single pod: pods/s', size => size.single.perSecond, 0],
  ['single pod: events/s', size => size.single.perSecond * size.single.watched, 0],
  ['pod in a group of 10: CPU, ms', size => size.group.cpu, 2],
  ['pod in a group of 10: CPU per event, ms', size => perEvent(size.group), 3],
  ['pod in a group of 10: pods/s', size => size.group.perSecond, 0],
  ['single pod in a queue of its own: CPU, ms', size => size.queues.cpu, 2],
]

export function goals(sizes: readonly Size[]): readonly Goal[] {
  const [smallest, largest] = [sizes.at(0), sizes.at(-1)]
  if (smallest === undefined || largest === undefined) return []
  const pods = largest.pods.toLocaleString('en')
  const growth = (of: (size: Size) => number) => of(largest) / of(smallest)
  const times = `at ${pods} pods, times that at ${smallest.pods.toLocaleString('en')}`
  const each: readonly Omit<Goal, 'sense'>[] = [
    { what: `memory at ${pods} pods, MB`, value: largest.resident, goal: 600 },
    { what: `start at ${pods} pods, s`, value: largest.start, goal: 30 },
    // What is left is noise: the same figure of two runs differs by as much.
    { what: `CPU per event of single pods ${times}`, value: growth(size => perEvent(size.single)), goal: 1.3 },
    { what: `CPU per event of groups ${times}`, value: growth(size => perEvent(size.group)), goal: 1.3 },
  ]
  return each.map(goal => ({ ...goal, sense: 'at most' }))
}

export const isGood = (sizes: readonly Size[]): boolean => goals(sizes).every(isMet)

export const summary = (sizes: readonly Size[]): string =>
  `${figures(sizes)}\n\n${perPod(sizes)}\n\n${markdownTable(GOAL_HEAD, goals(sizes).map(goalRow))}\n`

/** With the growth of each figure from the smallest to the largest size. */
function figures(sizes: readonly Size[]): string {
  const [smallest, largest] = [sizes.at(0), sizes.at(-1)]
  const head = ['managed pods', ...sizes.map(({ pods }) => pods.toLocaleString('en')), 'growth']
  const rows = ROWS.map(([what, figure, digits]) => {
    const growth = smallest && largest ? figure(largest) / figure(smallest) : Number.NaN
    return [what, ...sizes.map(size => figure(size).toFixed(digits)), `${growth.toFixed(1)}x`]
  })
  return markdownTable(head, rows)
}

function perPod(sizes: readonly Size[]): string {
  const last = sizes.at(-1)
  if (last === undefined) return ''
  const row = (what: string, { writes, told, watched }: Cost) => [
    ...[what, writes.toFixed(1), told.toFixed(1), watched.toFixed(1)],
  ]
  return markdownTable(
    ['per pod, from its creation to its end', 'writes', 'Events told', 'events watched'],
    [row('single pod', last.single), row('in a group of 10', last.group)],
  )
}

/** Kilobytes of resident memory that each further pod takes. */
function kilobytesPerPod(sizes: readonly Size[]): string {
  const [smallest, largest] = [sizes.at(0), sizes.at(-1)]
  if (smallest === undefined || largest === undefined || smallest === largest) return '-'
  return (((largest.resident - smallest.resident) * 1024) / (largest.pods - smallest.pods)).toFixed(1)
}

/** docs/scale.md, all of it. */
export function page(sizes: readonly Size[]): string {
  const entries = goals(sizes)
  const missed = entries.filter(entry => !isMet(entry)).length
  return `# Scale

What Muster costs, with how much of it, and what ends first.

\`npm run bench:scale -- --write\` measured this and wrote this page on ${new Date().toISOString().slice(0, 10)}. The machine: ${machine()}, with other work beside it (load average ${loadavg()[0]?.toFixed(0)} at the end). No control plane on such a machine holds 50,000 pods, so the API server is the one of the [simulator](simulation.md), over HTTPS: the same rules for writes, the same watches, no etcd behind it. Muster is the real one, compiled, as in its image, but without the limit on its heap. That server has no database to wait for, so what is measured is Muster; a real API server is slower, and is the first limit. Times depend on what else the machine does, and rates on both of them sharing its cores; CPU, memory and writes are Muster's own.

Of ten managed pods six run alone, two run in groups of ten, and two wait in a full queue; 100 queues. A pod has 2.7 kB. What comes through besides, 64 pods at a time, is created, admitted, lifted, runs, succeeds, is let go and deleted.

${figures(sizes)}

${perPod(sizes)}

## Goals

${entries.length - missed} of ${entries.length} are met${missed === 0 ? '' : `, ${missed} missed`}.

${markdownTable(GOAL_HEAD, entries.map(goalRow))}

## Cost model

| what | costs | why |
|---|---|---|
| a managed pod that is there | ${kilobytesPerPod(sizes)} kB of memory, its share of a Workload included; no CPU | the caches keep the fields that decide, not the object |
| a single pod that comes and goes | its writes in the table: Workload, admission, lift, end, finalizer | each write has one reason; none is repeated |
| a group of n pods | n lifts and n finalizers; Workload, admission and end once | a tenth of a Workload per pod in a group of ten |
| a queue | nothing until somebody waits in it | a queue is an entry of a map; a decision looks at the head of one queue, not at the others |
| a review | no call to the API server | all that it asks for is in a cache |
| an event of a watch | the same whatever else is there | it leads to one key, and one key to the pods of one unit: every look-up is by an index |
| a start, and a new leader | one streaming list of everything, and one decision per unit | nothing is remembered that can be read |

## What ends first

1. The API server. Each single pod costs it several writes, each with webhooks and watchers. One etcd takes hundreds of them per second, where one leader of Muster makes more. Groups need fewer writes per pod than single pods; Jobs fewer still.
2. One leader. Only one replica writes, on one core. More replicas answer more reviews and start no pod sooner.
3. Memory. It grows with the managed pods alone, and pods that have ended count until they are deleted: a TTL keeps them few. The limits of the manifests (\`resources.limits.memory\`, \`--max-old-space-size\`) are for some 10,000 pods: raise both by the table for more.

What then: queues that have nothing to do with each other belong into clusters of their own, each with its Muster. Where quotas, cohorts and fair sharing between thousands of Workloads are the question, [Kueue](kueue.md) is the engine that decides; the writes per pod stay, and so does the first limit.
`
}
