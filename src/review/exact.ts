import type { ExactNumber, Path } from '../documents/place.ts'
import { exactNumber } from '../documents/raw-json.ts'
import { isObject } from '../kube/vocabulary/fields.ts'

/**
 * Rules see numbers as the server sees them, in doubles. What is reported of an object has the digits of its text: a
 * copy in which each rounded number, where it is still what it was, is the number that was written.
 */
export function withExactNumbers(value: unknown, exact: readonly ExactNumber[], base: Path): unknown {
  let result = value
  for (const { path, digits } of exact) {
    if (startsWith(path, base)) result = replaced(result, path.slice(base.length), digits)
  }
  return result
}

const startsWith = (path: Path, base: Path): boolean => base.every((step, index) => path[index] === step)

function replaced(value: unknown, path: Path, digits: string): unknown {
  const [step, ...rest] = path
  if (step === undefined) return value === Number(digits) ? exactNumber(digits) : value
  if (Array.isArray(value) && typeof step === 'number' && step < value.length) {
    return value.with(step, replaced(value[step], rest, digits))
  }
  if (!isObject(value) || !Object.hasOwn(value, step)) return value
  return { ...value, [step]: replaced(value[step], rest, digits) }
}
