import { createRequire } from 'node:module'
import type { ErrorObject, FuncKeywordDefinition, ValidateFunction } from 'ajv'
import { dnsLabelProblems, labelKeyProblems, subdomainProblems } from '../../kube/vocabulary/formats.ts'
import { type FieldError, invalid, required } from '../field-error.ts'
import { MAX_INT32 } from '../numbers.ts'

const MARKER = { type: 'object' } as const

/**
 * The building blocks of scheduling.k8s.io as Kubernetes 1.37 has them. They see trees of known keys only, so there is
 * no `additionalProperties`: unknown keys are a question of the allow-lists, not of the structure. Lists and their
 * items are apart, because an item of a list that is too long is not looked at.
 */
const SCHEMAS = {
  policy: {
    type: 'object',
    union: ['basic', 'gang'],
    properties: {
      basic: MARKER,
      gang: { type: 'object', properties: { minCount: { type: 'integer', minimum: 1, maximum: MAX_INT32 } } },
    },
  },
  constraints: { type: 'object', properties: { topology: { type: 'array', maxItems: 1 } } },
  topology: { type: 'object', required: ['key'], properties: { key: { type: 'string', format: 'label-key' } } },
  disruption: { type: 'object', union: ['single', 'all'], properties: { single: MARKER, all: MARKER } },
  claims: { type: 'array', maxItems: 4 },
  claim: {
    type: 'object',
    union: ['resourceClaimName', 'resourceClaimTemplateName'],
    required: ['name'],
    properties: {
      name: { type: 'string', format: 'dns-label' },
      resourceClaimName: { type: 'string', format: 'dns-subdomain' },
      resourceClaimTemplateName: { type: 'string', format: 'dns-subdomain' },
    },
  },
} as const

export type Part = keyof typeof SCHEMAS

/** Bytes, as Kubernetes 1.37 counts them. */
const FORMATS: Readonly<Record<string, (value: string) => readonly string[]>> = {
  'label-key': labelKeyProblems,
  'dns-label': value => dnsLabelProblems(value, 'bytes'),
  'dns-subdomain': value => subdomainProblems(value, 'bytes'),
}

/** Exactly one of the members is there. */
const UNION: FuncKeywordDefinition = {
  keyword: 'union',
  type: 'object',
  schemaType: 'array',
  errors: false,
  compile: (members: readonly string[]) => (data: object) => setMembers(members, data).length === 1,
}

const setMembers = (members: readonly string[], data: object): readonly string[] =>
  members.filter(member => Object.hasOwn(data, member))

type Validators = Readonly<Record<Part, ValidateFunction>>

let compiled: Validators | undefined

/** For a server that is about to start: its first review must not wait for the compiler. */
export function compileSchemas(): void {
  validators()
}

/** On first use, not at import: a command that reviews no Job does not pay for it. */
function validators(): Validators {
  compiled ??= compile()
  return compiled
}

/** The library is loaded here, by the one way that is lazy and still at once: most commands never need it. */
function compile(): Validators {
  const { Ajv } = createRequire(import.meta.url)('ajv') as typeof import('ajv')
  // The schemas are ours: to check them against the schema of schemas would take more memory than all the rest.
  const ajv = new Ajv({ strict: true, allErrors: true, verbose: true, meta: false, validateSchema: false })
  ajv.addKeyword(UNION)
  for (const [name, problems] of Object.entries(FORMATS)) {
    ajv.addFormat(name, (value: string) => problems(value).length === 0)
  }
  const entries = Object.entries(SCHEMAS).map(([name, schema]) => [name, ajv.compile(schema)])
  return Object.fromEntries(entries) as Validators
}

/**
 * What is wrong with one part, in upstream's words and order: the part itself first, then its fields as they are
 * declared. `pathOf` gives the path of a field, `''` being the part.
 */
export function structureErrors(part: Part, value: unknown, pathOf: (field: string) => string): readonly FieldError[] {
  const validate = validators()[part]
  if (validate(value)) return []
  const located = (validate.errors ?? []).map(error => ({ error, field: fieldOf(error) }))
  located.sort((a, b) => rank(part, a.field) - rank(part, b.field))
  return located.flatMap(({ error, field }) => explain(error, pathOf(field)))
}

const PROPERTIES: Readonly<Record<Part, readonly string[]>> = {
  policy: Object.keys(SCHEMAS.policy.properties),
  constraints: [],
  topology: [],
  disruption: Object.keys(SCHEMAS.disruption.properties),
  claims: [],
  claim: Object.keys(SCHEMAS.claim.properties),
}

const rank = (part: Part, field: string): number => PROPERTIES[part].indexOf(field.split('.', 1)[0] ?? '')

function fieldOf({ instancePath, keyword, params }: ErrorObject): string {
  const at = instancePath.slice(1).replaceAll('/', '.')
  return keyword === 'required' ? String(params.missingProperty) : at
}

function explain({ keyword, schema, data, params }: ErrorObject, path: string): readonly FieldError[] {
  switch (keyword) {
    case 'union':
      return [unionError(schema as readonly string[], data as object, path)]
    case 'required':
      return [required(path, '')]
    case 'minimum':
      return [invalid(path, data, `must be greater than or equal to ${schema}`)]
    case 'maximum':
      return [invalid(path, data, `must be a whole number that fits 32 bits, at most ${schema}`)]
    case 'maxItems':
      return [tooMany(path, (data as readonly unknown[]).length, Number(schema))]
    case 'format':
      return (FORMATS[String(params.format)]?.(String(data)) ?? []).map(problem => invalid(path, data, problem))
    default:
      return [invalid(path, data, `must be ${TYPES[String(schema)] ?? String(schema)}`)]
  }
}

const TYPES: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a string',
  integer: 'a whole number, without quotes',
}

function unionError(members: readonly string[], data: object, path: string): FieldError {
  const names = members.map(member => `\`${member}\``).join(', ')
  const set = setMembers(members, data)
  if (set.length === 0) return { ...invalid(path, '', `must specify one of: ${names}`), code: 'EmptyUnion' }
  return invalid(path, `{${set.join(', ')}}`, `must specify exactly one of: ${names}`)
}

const tooMany = (field: string, count: number, limit: number): FieldError => ({
  field,
  type: 'TooMany',
  detail: `must have at most ${limit} ${limit === 1 ? 'item' : 'items'}`,
  value: count,
})
