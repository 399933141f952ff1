import type { Place } from '../../documents/place.ts'
import { describe } from '../../validation/field-error.ts'
import type { Entry, Severity } from '../report.ts'
import { oneLine } from './formatter.ts'

/** Something that a build server shall show beside a line. */
export interface Complaint extends Place {
  /** The code of a lint, the type of a field error, or one of the words below. */
  readonly rule: string
  readonly severity: Severity
  readonly file: string
  readonly message: string
}

export const UNREADABLE = 'Unreadable'
export const DENIED = 'Denied'
export const WARNING = 'Warning'

/** Everything that an entry gives reason to complain about. */
export function complaintsOf(entry: Entry): readonly Complaint[] {
  if (entry.kind === 'failure') return []
  if (entry.kind === 'unreadable') {
    return [{ rule: UNREADABLE, severity: 'error', ...entry.unreadable, message: oneLine(entry.unreadable.message) }]
  }
  const { result } = entry
  const { file, line } = result.source
  const what = `${result.kind} ${result.namespace === '' ? result.name : `${result.namespace}/${result.name}`}`
  const at = (place: Place, rule: string, severity: Severity, message: string): Complaint => ({
    rule,
    severity,
    file,
    line: place.line,
    column: place.column,
    message: oneLine(`${what}: ${message}`),
  })
  const here = { line, column: 1 }
  const errors = result.errors.map(error => at(error, error.type, 'error', `${error.field}: ${describe(error)}`))
  const refusal = result.allowed || errors.length > 0 ? [] : [at(here, DENIED, 'error', result.message)]
  const findings = result.findings.map(finding => at(finding, finding.code, finding.severity, finding.message))
  const warnings = result.warnings.map(warning => at(here, WARNING, 'warning', warning))
  return [...errors, ...refusal, ...findings, ...warnings]
}
