/**
 * The configuration file as a JSON schema: structure, types and closed value lists, nothing else.
 * Rules that need two fields at once, or a sentence to explain them, live in `rules.ts`: a schema with
 * if/then/else reports errors that nobody can read.
 */
export const API_VERSION = 'config.muster.dev/v1alpha1'
export const KIND = 'Configuration'

/** The part of JSON schema that is used here; `description` is what the documentation test reads. */
export interface Schema {
  readonly type: 'object' | 'array' | 'string' | 'boolean' | 'integer' | readonly ['string', 'number']
  readonly description?: string
  readonly const?: string
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly uniqueItems?: boolean
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | false
}

const map = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const list = (items: Schema): Schema => ({ type: 'array', items })
const setOf = (items: Schema): Schema => ({ type: 'array', items, uniqueItems: true })
const oneOf = (...values: readonly string[]): Schema => ({ type: 'string', enum: values })
const text: Schema = { type: 'string', minLength: 1 }
const flag: Schema = { type: 'boolean' }

const labelSelector = map({
  matchLabels: { type: 'object', additionalProperties: { type: 'string' } },
  matchExpressions: list(
    map(
      {
        key: text,
        operator: oneOf('In', 'NotIn', 'Exists', 'DoesNotExist'),
        values: list({ type: 'string' }),
      },
      ['key', 'operator'],
    ),
  ),
})

const allow = map({
  policies: setOf(oneOf('basic', 'gang')),
  disruptionModes: setOf(oneOf('single', 'all')),
  topologyKeys: setOf(text),
  resourceClaims: flag,
})

const toleration = map({
  key: text,
  operator: oneOf('Equal', 'Exists'),
  value: { type: 'string' },
  effect: oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
  tolerationSeconds: { type: 'integer' },
})

export const CONFIGURATION_SCHEMA: Schema = map(
  {
    apiVersion: { type: 'string', const: API_VERSION },
    kind: { type: 'string', const: KIND },
    engine: oneOf('builtin', 'kueue'),
    manageJobsWithoutQueueName: flag,
    integrations: map({
      frameworks: setOf(text),
      podOptions: map({ namespaceSelector: labelSelector, podSelector: labelSelector }),
    }),
    guard: map({
      exemptUsers: setOf(text),
      exemptGroups: setOf(text),
      statusWriters: setOf(text),
      podReplacement: oneOf('Failed', 'AsWritten'),
      controllers: { type: 'object', additionalProperties: setOf(text) },
    }),
    queues: list(
      map(
        {
          name: text,
          limits: { type: 'object', additionalProperties: { type: ['string', 'number'] } },
          nodeLabels: { type: 'object', additionalProperties: { type: 'string' } },
          tolerations: list(toleration),
          namespaces: labelSelector,
        },
        ['name'],
      ),
    ),
    unlistedQueues: oneOf('admit', 'refuse'),
    review: map({ templates: list(map({ kind: text, paths: setOf(text) }, ['kind', 'paths'])) }),
    coScheduling: map({
      backend: oneOf('auto', 'none', 'kubernetes', 'kai'),
      jobs: oneOf('auto', 'always', 'never'),
      kubernetes: map({ schedulerNames: setOf(text) }),
      kai: map({ schedulerName: text, naming: oneOf('plain', 'hashed') }),
    }),
    jobs: map({
      scheduling: map({
        allow,
        namespaces: list(map({ selector: labelSelector, allow }, ['selector', 'allow'])),
      }),
      parallelism: map({ gangChanges: oneOf('deny', 'allow'), implicitGang: oneOf('auto', 'none', 'indexed') }),
    }),
  },
  ['apiVersion', 'kind'],
)

/** Every key that the schema knows, as `integrations.podOptions.podSelector`; `[]` stands for each item of a list. */
export function configurationKeys(schema: Schema = CONFIGURATION_SCHEMA, prefix = ''): readonly string[] {
  if (schema.items !== undefined) return configurationKeys(schema.items, `${prefix}[]`)
  return Object.entries(schema.properties ?? {}).flatMap(([key, child]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`
    return [path, ...configurationKeys(child, path)]
  })
}
