import type { Severity } from '../report.ts'

/** One lint. Its code is stable, since suppressions name it, and has a section in docs/lints.md. */
export interface Lint {
  readonly code: string
  readonly severity: Severity
  readonly summary: string
}

export const LINTS = [
  {
    code: 'BareSuppression',
    severity: 'warning',
    summary: 'a lint is suppressed without a reason, or under a code that no lint has',
  },
  {
    code: 'ConfigurationInvalid',
    severity: 'error',
    summary: 'a configuration of Muster with which it would not start',
  },
  { code: 'DuplicateName', severity: 'error', summary: 'two objects of a kind have the same name' },
  {
    code: 'FieldInvalid',
    severity: 'error',
    summary: 'a value with which no API server takes a pod or what makes pods',
  },
  {
    code: 'FieldMissing',
    severity: 'warning',
    summary: 'a field without which no API server takes a pod or what makes pods',
  },
  { code: 'GateNeverLifted', severity: 'error', summary: 'a gate of Kueue or Muster that nobody lifts' },
  { code: 'GroupDeadlock', severity: 'error', summary: 'pods of a group are made only when others of it run' },
  { code: 'GroupExcess', severity: 'error', summary: 'a group has more pods than it declares: some never start' },
  { code: 'GroupIncomplete', severity: 'warning', summary: 'a group has fewer pods here than it waits for' },
  { code: 'GroupInvalid', severity: 'error', summary: 'the pods of a group contradict each other' },
  { code: 'KeyMisplaced', severity: 'warning', summary: 'a key of Kueue or Muster where nobody reads it' },
  { code: 'KeyWithoutEffect', severity: 'warning', summary: 'a key of Kueue or Muster on which Muster does not act' },
  { code: 'LabelWithoutEffect', severity: 'warning', summary: 'a queue label on an object that nothing queues' },
  { code: 'NameMissing', severity: 'error', summary: 'an object has neither name nor generateName' },
  { code: 'NotRendered', severity: 'warning', summary: 'a kustomization, which is no manifest before it is built' },
  { code: 'QueueElsewhere', severity: 'error', summary: 'pods ask for other nodes than those of their queue' },
  { code: 'QueueTooSmall', severity: 'error', summary: 'a queue can never hold the workload that names it' },
  { code: 'QueueUnlisted', severity: 'warning', summary: 'a queue is not listed, but one of nearly the same name is' },
  {
    code: 'ResourceUnlisted',
    severity: 'warning',
    summary: 'a resource is not limited by the queue, but one of nearly the same name is',
  },
  {
    code: 'TemplateNotReviewed',
    severity: 'warning',
    summary: 'a pod template with keys of Kueue or Muster, in a kind of which nobody knows that it has one',
  },
  { code: 'UnknownField', severity: 'warning', summary: 'a field that is misspelt, or stands at the wrong level' },
  { code: 'UnknownKey', severity: 'warning', summary: 'a key of Kueue or Muster that neither knows' },
  { code: 'UnknownKind', severity: 'error', summary: 'no API server serves such a kind; a similar one it does' },
] as const satisfies readonly Lint[]

export type LintCode = (typeof LINTS)[number]['code']

/** What a lint found in one object, before its place is looked up. */
export interface Found {
  readonly code: LintCode
  /** Where it differs from that of the lint. */
  readonly severity?: Severity
  readonly message: string
  /** From the object. */
  readonly field: string
}

const SEVERITIES: ReadonlyMap<string, Severity> = new Map(LINTS.map(({ code, severity }) => [code, severity]))

export const isLintCode = (code: string): boolean => SEVERITIES.has(code)
export const severityOf = ({ code, severity }: Found): Severity => severity ?? SEVERITIES.get(code) ?? 'error'
