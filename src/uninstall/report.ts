import type { Plan } from './decide.ts'
import type { Refusal } from './perform.ts'
import type { Choice } from './remains.ts'
import type { Deed } from './run.ts'
import { PHASES, type Phase, type PhaseName, type Step } from './steps.ts'

type Counts = { readonly pods: number; readonly jobs: number }

/** What a leave has done, or would do; the same for people and for programs. */
export interface UninstallReport {
  readonly apiVersion: 'insight.muster.dev/v1alpha1'
  readonly kind: 'Uninstall'
  readonly dryRun: boolean
  readonly phases: readonly { readonly phase: PhaseName; readonly objects: number }[]
  /** What became of those who waited. Null: nobody has said. */
  readonly choice: Choice | null
  readonly waiting: Counts
  /** For whose sake the namespace stays. */
  readonly foreign: readonly string[]
  readonly left: readonly Refusal[]
}

const HEAD = { apiVersion: 'insight.muster.dev/v1alpha1', kind: 'Uninstall' } as const

export function reportPlan({ stages, waiting, foreign }: Plan, choice: Choice | undefined): UninstallReport {
  const phases = stages.flat().map(({ name, steps }) => ({ phase: name, objects: steps.length }))
  return { ...HEAD, dryRun: true, phases, choice: choice ?? null, waiting, foreign, left: [] }
}

export function reportDeed({ phases, left, plan }: Deed, choice: Choice | undefined): UninstallReport {
  const steps = [...phases.values()].flat().filter(({ waiter }) => waiter !== undefined)
  return {
    ...{ ...HEAD, dryRun: false, choice: choice ?? null, foreign: plan.foreign, left },
    phases: [...phases].map(([phase, done]) => ({ phase, objects: done.length })).filter(({ objects }) => objects > 0),
    waiting: { pods: steps.filter(isOfPod).length, jobs: steps.filter(step => !isOfPod(step)).length },
  }
}

const isOfPod = ({ resource }: Step): boolean => resource.kind === 'Pod'

/** Deletions of things that the API server makes go by itself, and where they end. */
const BECAME: Readonly<Record<Choice, string>> = {
  start: 'started',
  keep: 'kept waiting: pods behind their gate, Jobs suspended',
  delete: 'deleted',
}

export function renderReport(report: UninstallReport): string {
  const { dryRun, phases, waiting, choice, foreign, left } = report
  const width = Math.max(0, ...phases.map(({ objects }) => String(objects).length))
  const lines = phases.map(({ phase, objects }) => `  ${String(objects).padStart(width)}  ${PHASES[phase]}`)
  const waited = waiting.pods + waiting.jobs > 0
  const became = choice === null ? 'and it has to be said what becomes of them' : `${BECAME[choice]}`
  return `${[
    ...(lines.length === 0 ? [] : [dryRun ? 'Would be done:' : 'Done:', ...lines]),
    ...(waited ? [`Of these waited ${countsOf(waiting)}: ${dryRun && choice ? 'to be ' : ''}${became}.`] : []),
    ...(foreign.length > 0 ? [`The namespace stays for what is not Muster's in it: ${foreign.join(', ')}.`] : []),
    ...left.slice(0, SHOWN).map(({ what, message }) => `Left: ${what}: ${message}`),
    ...(left.length > SHOWN ? [`and ${left.length - SHOWN} more are left`] : []),
    ...(left.length > 0 || dryRun ? [] : ['Nothing of Muster is left.']),
    ...(dryRun && lines.length === 0 ? ['There is nothing of Muster in this cluster.'] : []),
  ].join('\n')}\n`
}

const SHOWN = 10

export const countsOf = ({ pods, jobs }: Counts): string =>
  [
    ...(pods > 0 ? [`${pods} ${pods === 1 ? 'pod' : 'pods'}`] : []),
    ...(jobs > 0 ? [`${jobs} of Jobs and JobSets`] : []),
  ].join(' and ')

/** One line for each phase, while it goes on. */
export const progressOf = ({ name, steps }: Phase, done: number): string =>
  `${done} of ${steps.length}  ${PHASES[name]}`
