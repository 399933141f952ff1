import { Ajv, type ErrorObject } from 'ajv'
import { type Fields, isObject } from '../kube/vocabulary/fields.ts'
import { nearest } from '../kube/vocabulary/nearest.ts'
import { API_VERSION, CONFIGURATION_SCHEMA, configurationKeys, KIND, type Schema } from './schema.ts'
import type { ConfigError, Path, Source } from './source.ts'

/** What the schema finds wrong, one error per place, in the order of the text. */
export function schemaErrors(source: Source): readonly ConfigError[] {
  const validate = new Ajv({ strict: true, allErrors: true, verbose: true, allowUnionTypes: true }).compile(
    CONFIGURATION_SCHEMA,
  )
  if (validate(source.value)) return []
  const found = new Map<string, ConfigError>()
  // A value of the wrong type is not one of the allowed values either, and those say more than the type.
  const byWeight = [...(validate.errors ?? [])].sort((a, b) => weight(a) - weight(b))
  for (const each of byWeight) {
    const error = translate(each, source)
    if (!found.has(error.path)) found.set(error.path, error)
  }
  return [...found.values()].sort((a, b) => a.line - b.line || a.column - b.column)
}

const weight = (error: ErrorObject): number => (error.keyword === 'type' ? 1 : 0)

function translate(error: ErrorObject, source: Source): ConfigError {
  const path = pathOf(error.instancePath, source.value)
  switch (error.keyword) {
    case 'additionalProperties': {
      const key = String(error.params.additionalProperty)
      const schema = error.parentSchema as unknown as Schema
      return source.error([...path, key], unknownKey(key, Object.keys(schema.properties ?? {})), 'key')
    }
    case 'required': {
      const key = String(error.params.missingProperty)
      const value = REQUIRED[key]
      return source.error([...path, key], value === undefined ? 'is required' : `is required: add "${key}: ${value}"`)
    }
    case 'type':
      return source.error(path, wrongType(error.schema as Schema['type'], error.data))
    case 'enum':
      return source.error(path, `must be ${alternatives(error.schema as readonly string[])}, not ${shown(error.data)}`)
    case 'const':
      return source.error(path, `must be ${shown(error.schema)}, not ${shown(error.data)}`)
    case 'uniqueItems': {
      const index = Math.max(Number(error.params.i), Number(error.params.j))
      return source.error([...path, index], `${shown((error.data as readonly unknown[])[index])} is listed twice`)
    }
    case 'minLength':
      return source.error(path, 'must not be empty')
    default:
      return source.error(path, error.message ?? `breaks the rule ${error.keyword}`)
  }
}

const REQUIRED: Readonly<Record<string, string | undefined>> = { apiVersion: API_VERSION, kind: KIND }

function pathOf(pointer: string, root: unknown): Path {
  const path: (string | number)[] = []
  let value = root
  for (const part of pointer.split('/').slice(1)) {
    const step = part.replaceAll('~1', '/').replaceAll('~0', '~')
    path.push(Array.isArray(value) ? Number(step) : step)
    value = (value as Fields)[step]
  }
  return path
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a string',
  boolean: 'true or false',
}

function wrongType(wanted: Schema['type'], value: unknown): string {
  const name = typeof wanted === 'string' ? TYPE_NAMES[wanted] : 'a number or a string'
  if (value === null) return `must be ${name}, not empty: give it a value or remove the key`
  const quotes = wanted === 'string' && typeof value !== 'object' ? ': put it in quotes' : ''
  return `must be ${name}, not ${shown(value)}${quotes}`
}

/** A value as it stands in an error: containers by their kind, the rest as JSON and never long. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (isObject(value)) return 'a map'
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

function alternatives(values: readonly string[]): string {
  const quoted = values.map(value => `"${value}"`)
  return quoted.length === 1 ? String(quoted[0]) : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
}

function unknownKey(key: string, known: readonly string[]): string {
  const name = shown(key)
  const close = nearest(key, known)
  if (close !== undefined) return `unknown key ${name}; did you mean "${close}"?`
  const elsewhere = configurationKeys().find(path => path.endsWith(`.${key}`))
  if (elsewhere !== undefined) return `unknown key ${name}; did you mean "${elsewhere}"?`
  return `unknown key ${name}; known here: ${known.join(', ')}`
}
