import { CHECKS, type Code, type Severity } from './catalog.ts'

/** One thing that is wrong. */
export interface Complaint {
  readonly code: Code
  readonly message: string
}

export interface Finding extends Complaint {
  readonly severity: Severity
  readonly remedy: string
  readonly page: string
}

/** The state of an installation, for people and for programs. */
export interface Diagnosis {
  readonly apiVersion: 'insight.muster.dev/v1alpha1'
  readonly kind: 'Diagnosis'
  readonly findings: readonly Finding[]
  /** What was found in order, and is good to know. */
  readonly notes: readonly string[]
  /** What could not be looked at, and by which right it might. */
  readonly unseen: readonly string[]
}

export const complaint = (code: Code, message: string): Complaint => ({ code, message })

export function diagnosisOf(
  complaints: readonly Complaint[],
  notes: readonly string[],
  unseen: readonly string[],
): Diagnosis {
  const findings = complaints.map(({ code, message }) => {
    const { severity, remedy } = CHECKS[code]
    return { code, severity, message, remedy, page: `docs/doctor.md#${code.toLowerCase()}` }
  })
  const sorted = findings.toSorted((a, b) => (a.severity === b.severity ? 0 : a.severity === 'error' ? -1 : 1))
  return { apiVersion: 'insight.muster.dev/v1alpha1', kind: 'Diagnosis', findings: sorted, notes, unseen }
}

/** Of many objects with the same trouble the first few by name, and how many there are. */
export function named(objects: readonly { readonly metadata: { namespace?: string; name?: string } }[]): string {
  const shown = objects.slice(0, 3).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
  const more = objects.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
