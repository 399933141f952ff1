import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../kube/vocabulary/fields.ts'
import type { Result } from '../report.ts'
import type { Expectation } from './case.ts'

/** What is not as it was expected, one sentence each. */
export function differences(results: readonly Result[], expected: readonly Expectation[]): readonly string[] {
  const found = expected.flatMap((expectation, index) => {
    const result = results[index]
    const what = `expect[${index}]`
    if (result === undefined) return [`${what}: there is no such result; there are ${results.length}`]
    return resultDifferences(result, expectation).map(difference => `${what}${difference}`)
  })
  const more = results.slice(expected.length).map(({ kind, name, source }) => {
    return `${kind} ${name}${source.path === undefined ? '' : ` ${source.path}`} is reported, and nothing expects it`
  })
  return [...found, ...more]
}

function resultDifferences(result: Result, expected: Expectation): readonly string[] {
  const { errors, findings, warnings, patch, result: object, path, ...plain } = expected
  const given = { ...result, path: result.source.path }
  const words = Object.entries({ ...plain, ...(path === undefined ? {} : { path }) }).flatMap(([key, value]) => {
    const is = given[key as keyof typeof given]
    return is === value ? [] : [`.${key}: expected ${shown(value)}, got ${shown(is)}`]
  })
  return [
    ...words,
    ...(errors === undefined ? [] : errorDifferences(result.errors, errors)),
    ...(findings === undefined
      ? []
      : setDifferences(
          'findings',
          result.findings.map(({ code }) => code),
          findings,
        )),
    ...(warnings === undefined ? [] : warningDifferences(result.warnings, warnings)),
    ...(patch === undefined || isDeepStrictEqual(result.patch, patch)
      ? []
      : [`.patch: expected ${shown(patch)}, got ${shown(result.patch)}`]),
    ...(object === undefined ? [] : missing(result.result, object, '.result')),
  ]
}

function errorDifferences(is: Result['errors'], wanted: NonNullable<Expectation['errors']>): readonly string[] {
  const left = [...is]
  const found: string[] = []
  for (const { field, type, detail } of wanted) {
    const at = left.findIndex(
      each =>
        each.field === field &&
        (type === undefined || each.type === type) &&
        (detail === undefined || each.detail.includes(detail)),
    )
    if (at === -1)
      found.push(
        `.errors: there is no ${type ?? 'error'} at ${field}${detail === undefined ? '' : ` with "${detail}"`}`,
      )
    else left.splice(at, 1)
  }
  return [...found, ...left.map(({ field, type }) => `.errors: ${type} at ${field} is not expected`)]
}

function setDifferences(what: string, is: readonly string[], wanted: readonly string[]): readonly string[] {
  const [have, want] = [is.toSorted(), wanted.toSorted()]
  return isDeepStrictEqual(have, want) ? [] : [`.${what}: expected ${shown(want)}, got ${shown(have)}`]
}

function warningDifferences(is: readonly string[], wanted: readonly string[]): readonly string[] {
  const fits = is.length === wanted.length && wanted.every((part, index) => is[index]?.includes(part))
  return fits ? [] : [`.warnings: expected ${shown(wanted)}, got ${shown(is)}`]
}

/** Where `wanted` is not a part of `is`. */
function missing(is: unknown, wanted: unknown, path: string): readonly string[] {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(is) || is.length !== wanted.length)
      return [`${path}: expected ${shown(wanted)}, got ${shown(is)}`]
    return wanted.flatMap((each, index) => missing(is[index], each, `${path}[${index}]`))
  }
  if (isObject(wanted)) {
    if (!isObject(is)) return [`${path}: expected ${shown(wanted)}, got ${shown(is)}`]
    return Object.entries(wanted).flatMap(([key, value]) =>
      missing(
        Object.hasOwn(is, key) ? is[key] : undefined,
        value,
        `${path}${/^\w+$/.test(key) ? `.${key}` : `[${key}]`}`,
      ),
    )
  }
  return isDeepStrictEqual(is, wanted) ? [] : [`${path}: expected ${shown(wanted)}, got ${shown(is)}`]
}

const LONGEST = 400

function shown(value: unknown): string {
  const written = JSON.stringify(value) ?? 'nothing'
  return written.length > LONGEST ? `${written.slice(0, LONGEST)}...` : written
}
