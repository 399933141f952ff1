import { oneLine } from '../../review/formats/formatter.ts'
import { counted, type Paint, wrapped } from '../text.ts'
import type { Diagnosis, Finding } from './diagnosis.ts'

/** What is wrong and what to do about it first; then what could not be looked at, and what is good to know. */
export function renderDiagnosis({ findings, notes, unseen }: Diagnosis, paint: Paint, width?: number): string {
  const lines = [
    summary(findings, unseen, paint),
    ...findings.flatMap(finding => findingLines(finding, paint, width)),
    ...section('Not looked at', unseen, paint),
    ...section('Good to know', notes, paint),
  ]
  return `${lines.join('\n')}\n`
}

function summary(findings: readonly Finding[], unseen: readonly string[], paint: Paint): string {
  if (findings.length > 0) {
    const errors = findings.filter(({ severity }) => severity === 'error').length
    const warnings = findings.length - errors
    const kinds = [
      ...(errors > 0 ? [counted(errors, 'error')] : []),
      ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
    ]
    return paint(`Found ${kinds.join(' and ')}.`, 'bold')
  }
  return unseen.length > 0
    ? paint('Nothing is wrong with what could be looked at.', 'yellow')
    : paint('The installation is sound.', 'green')
}

function findingLines(
  { code, severity, message, remedy, page }: Finding,
  paint: Paint,
  width: number | undefined,
): readonly string[] {
  return [
    '',
    `${paint(`${severity} ${code}`, severity === 'error' ? 'red' : 'yellow')}  ${paint(page, 'dim')}`,
    ...wrapped(message, '  ', width),
    ...wrapped(`Do: ${remedy}`, '  ', width),
  ]
}

function section(title: string, lines: readonly string[], paint: Paint): readonly string[] {
  return lines.length === 0 ? [] : ['', paint(title, 'bold'), ...lines.map(line => `  ${oneLine(line)}`)]
}
