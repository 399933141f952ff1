import type { Path, Place } from '../documents/place.ts'
import type { Subject } from './subjects.ts'

/** `spec.containers[0].name` and `metadata.labels[a.b/c]` as steps. What stands in brackets may hold any character. */
export function stepsOf(field: string): Path {
  const steps: (string | number)[] = []
  let at = 0
  while (at < field.length) {
    if (field[at] === '[') {
      const end = closingBracket(field, at)
      const inner = field.slice(at + 1, end)
      steps.push(/^\d+$/.test(inner) ? Number(inner) : inner)
      at = end + 1
    } else {
      const start = field[at] === '.' ? at + 1 : at
      const next = field.slice(start).search(/[.[]/)
      const end = next === -1 ? field.length : start + next
      if (end > start) steps.push(field.slice(start, end))
      at = Math.max(end, at + 1)
    }
  }
  return steps
}

/** The bracket behind which a new step begins, or nothing more comes. */
function closingBracket(field: string, open: number): number {
  for (let at = field.indexOf(']', open); at !== -1; at = field.indexOf(']', at + 1)) {
    const next = field[at + 1]
    if (next === undefined || next === '.' || next === '[') return at
  }
  return field.length
}

/** Where a field of a reviewed object stands, or the nearest thing around it that is there. */
export function placeOfField({ document, path }: Pick<Subject, 'document' | 'path'>, field: string): Place {
  return document.placeOf([...path, ...stepsOf(field)])
}
