import { programVersion } from '../test/cluster/programs/catalog.ts'
import { barChart } from './bar-chart.ts'
import { GOAL_HEAD, goalRow, isMet } from './goal.ts'
import { goals, type Loads } from './kueue-goals.ts'
import type { Load } from './kueue-loads.ts'
import { LOAD_HEAD, loadRows, type Results, SYSTEM_HEAD, systemRows } from './kueue-report.ts'
import { machine } from './machine.ts'
import { markdownTable } from './markdown.ts'
import { median } from './report.ts'

const loadsOf = (loads: Loads): readonly Load[] => Object.values(loads)
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** For the terminal: the tables, and which goals are met. */
export function summary(results: readonly Results[], loads: Loads): string {
  return `${tables(results, loads)}\n\n${markdownTable(GOAL_HEAD, goals(results, loads).map(goalRow))}\n`
}

function tables(results: readonly Results[], loads: Loads): string {
  return [
    ...loadsOf(loads).map(load => `## ${capital(load.name)}\n\n${markdownTable(LOAD_HEAD, loadRows(results, load))}`),
    `## Webhooks and memory\n\n${markdownTable(SYSTEM_HEAD, systemRows(results))}`,
  ].join('\n\n')
}

export interface Circumstances {
  readonly rounds: number
  /** What others took of the machine while the loads were under way, in percent of all its cores. */
  readonly others: number
}

/** docs/benchmarks.md, all of it: what a run cannot say does not belong there. */
export function page(results: readonly Results[], loads: Loads, { rounds, others }: Circumstances): string {
  const entries = goals(results, loads)
  const missed = entries.filter(entry => !isMet(entry)).length
  return `# Side by side with Kueue

\`npm run bench:kueue -- --write\` measured this and wrote this page on ${new Date().toISOString().slice(0, 10)}: the same loads on the same control plane in one run, ${rounds === 1 ? 'one round' : `the median of ${rounds} rounds`}. The machine: ${machine()}. ${versions()}.

The API server, etcd, the scheduler, KWOK and the client that makes the pods share those cores${beside(others)}, so the ratios count and not the figures.

![Seconds from the first create to the last gate lifted](images/benchmarks.svg)

| system         | what it is |
|----------------|------------|
| plain pods     | no queue and no gate: what the control plane itself can do |
| raw patches    | pods with a gate that their maker takes away again by a bare patch: nobody who gates can be faster |
| Muster         | the built-in engine |
| Muster + Kueue | \`engine: kueue\`: Kueue admits, Muster gates and lifts; the pod integration of Kueue is off |
| Kueue          | its own pod integration, as it is shipped |

Times begin with the first create. A lift, and the binding to a node, count when somebody who watches has seen the last one. CPU is per pod of the load, those that are cleaned up included, until all pods run. Muster is compiled, as in its image; all webhooks and admission policies of a real installation are in force.

${tables(results, loads)}

Reviews are those of a pod of 2.8 kB over 8 connections, with nothing else to do. Memory is resident, after all loads.

## Goals

${entries.length - missed} of ${entries.length} are met${missed === 0 ? '' : `, ${missed} missed`}.

${markdownTable(GOAL_HEAD, entries.map(goalRow))}
`
}

/** docs/images/benchmarks.svg. */
export function picture(results: readonly Results[], loads: Loads): string {
  return barChart({
    title: 'First create to last gate lifted, in seconds: shorter is better',
    unit: 's',
    ours: ['Muster', 'Muster + Kueue'],
    panels: loadsOf(loads).map(load => ({
      title: capital(load.name),
      bars: results.map(result => ({
        name: result.name,
        value: median((result.loads.get(load) ?? []).map(({ lifted }) => lifted)),
      })),
    })),
  })
}

function versions(): string {
  const named = { Kubernetes: 'kube-apiserver', etcd: 'etcd', Kueue: 'kueue', KWOK: 'kwok' } as const
  const programs = Object.entries(named).map(([name, program]) => `${name} ${programVersion(program).slice(1)}`)
  return [...programs, `Node ${process.versions.node}`].join(', ')
}

const beside = (others: number): string =>
  others >= 5 ? `, and work that has nothing to do with this took ${others.toFixed(0)} % of them meanwhile` : ''
