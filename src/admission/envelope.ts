import { Ajv, type ErrorObject } from 'ajv'
import type { AdmissionReview } from './review.ts'

export type EnvelopeCheck = (value: unknown) => { readonly ok: AdmissionReview } | { readonly problem: string }

const TEXT = { type: 'string' } as const
const OBJECT = { type: 'object', nullable: true } as const

/**
 * Only what Muster reads of the envelope. `object` and `oldObject` are not looked into: the API server has validated
 * them already, and the check must cost nothing next to parsing.
 */
const SCHEMA = {
  type: 'object',
  required: ['apiVersion', 'kind', 'request'],
  properties: {
    apiVersion: { const: 'admission.k8s.io/v1' },
    kind: { const: 'AdmissionReview' },
    request: {
      type: 'object',
      required: ['uid', 'kind', 'resource', 'operation'],
      properties: {
        uid: { type: 'string', minLength: 1, maxLength: 256 },
        kind: {
          type: 'object',
          required: ['group', 'version', 'kind'],
          properties: { group: TEXT, version: TEXT, kind: TEXT },
        },
        resource: {
          type: 'object',
          required: ['group', 'version', 'resource'],
          properties: { group: TEXT, version: TEXT, resource: TEXT },
        },
        subResource: TEXT,
        name: TEXT,
        namespace: TEXT,
        operation: { enum: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] },
        userInfo: {
          type: 'object',
          properties: { username: TEXT, uid: TEXT, groups: { type: 'array', nullable: true, items: TEXT } },
        },
        object: OBJECT,
        oldObject: OBJECT,
        dryRun: { type: 'boolean', nullable: true },
      },
    },
  },
} as const

/** Compiles the schema once; the returned function is what every request pays for. */
export function createEnvelopeCheck(): EnvelopeCheck {
  // The schema is ours: to check it against the schema of schemas would take more time and memory than all the rest.
  const ajv = new Ajv({ strict: true, verbose: true, meta: false, validateSchema: false })
  const validate = ajv.compile<AdmissionReview>(SCHEMA)
  return value => {
    if (!validate(value)) return { problem: explain(validate.errors?.[0]) }
    return missingObject(value) ?? { ok: value }
  }
}

/** The API server always sends what the operation is about; a rule must not have to ask. */
function missingObject({ request }: AdmissionReview): { readonly problem: string } | undefined {
  const { operation } = request
  if (operation !== 'CREATE' && operation !== 'UPDATE') return undefined
  if (!request.object) return { problem: `request.object: required for ${operation}` }
  if (operation === 'UPDATE' && !request.oldObject) return { problem: 'request.oldObject: required for UPDATE' }
  return undefined
}

function explain(error: ErrorObject | undefined): string {
  if (error === undefined) return 'not an AdmissionReview'
  const field = error.instancePath.slice(1).replaceAll('/', '.')
  switch (error.keyword) {
    case 'required': {
      const missing = String(error.params.missingProperty)
      return `${field === '' ? missing : `${field}.${missing}`}: required, but missing`
    }
    case 'const': {
      const text = `${field}: expected ${JSON.stringify(error.params.allowedValue)}, got ${shown(error.data)}`
      if (field !== 'apiVersion') return text
      return `${text}; list only "v1" in admissionReviewVersions of the webhook configuration`
    }
    case 'enum':
      return `${field}: expected one of ${error.params.allowedValues.join(', ')}, got ${shown(error.data)}`
    case 'type':
      return `${field === '' ? 'body' : field}: expected ${error.params.type}, got ${typeName(error.data)}`
    default:
      return `${field}: ${error.message ?? 'invalid'}`
  }
}

function shown(value: unknown): string {
  if (typeof value === 'object') return typeName(value)
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 77)}..."` : text
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
