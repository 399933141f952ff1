import { REVIEW_REASONS } from '../../admission/reasons.ts'
import type { Result } from '../report.ts'
import { STAGES, type Stage } from '../stages.ts'

export const CASE_VERSION = 'test.muster.dev/v1alpha1'
export const CASE_SUFFIX = '.case.yaml'

/** A policy test: an input and what must come out. Paths are from the folder of its file. */
export interface Case {
  readonly apiVersion: typeof CASE_VERSION
  readonly kind: 'Case'
  readonly description?: string
  /** Without it the file beside it, `NAME.yaml` for `NAME.case.yaml`. */
  readonly input?: string
  readonly config?: string
  readonly clusterState?: readonly string[]
  readonly user?: { readonly name: string; readonly groups?: readonly string[] }
  readonly namespace?: string
  readonly stage?: Stage
  /** One for each result, in their order. */
  readonly expect: readonly Expectation[]
}

/** What is not mentioned may be anything. */
export interface Expectation {
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  /** Of a pod template, as `spec.template`. */
  readonly path?: string
  readonly allowed?: boolean
  readonly reason?: string
  readonly code?: number
  /** All of them, in any order. */
  readonly errors?: readonly { readonly field: string; readonly type?: string; readonly detail?: string }[]
  /** The codes of all of them, in any order. */
  readonly findings?: readonly string[]
  /** A part of each of them, in their order. */
  readonly warnings?: readonly string[]
  readonly patch?: Result['patch']
  /** Fields of the object after mutation: maps may have more, lists may not. */
  readonly result?: unknown
}

const text = { type: 'string', minLength: 1 }
const texts = { type: 'array', items: text }
const map = (properties: object, required: readonly string[] = []): object => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
})

/** As docs/schemas publishes it. */
export const CASE_SCHEMA: object = map(
  {
    apiVersion: { const: CASE_VERSION },
    kind: { const: 'Case' },
    description: text,
    input: text,
    config: text,
    clusterState: texts,
    user: map({ name: text, groups: texts }, ['name']),
    namespace: text,
    stage: { enum: STAGES },
    expect: {
      type: 'array',
      items: map({
        kind: text,
        namespace: { type: 'string' },
        name: text,
        path: text,
        allowed: { type: 'boolean' },
        reason: { enum: REVIEW_REASONS },
        code: { type: 'integer' },
        errors: { type: 'array', items: map({ field: { type: 'string' }, type: text, detail: text }, ['field']) },
        findings: texts,
        warnings: texts,
        patch: { type: 'array', items: { type: 'object', required: ['op', 'path'] } },
        result: { type: ['object', 'null'] },
      }),
    },
  },
  ['apiVersion', 'kind', 'expect'],
)

/** What a case expects that was made from what came out: all that decides, and none of what is long. */
export function expectationOf(result: Result): Expectation {
  const { source, kind, namespace, name, allowed, reason, errors, findings, warnings, patch } = result
  return {
    kind,
    ...(namespace === '' ? {} : { namespace }),
    ...(name === '' ? {} : { name }),
    ...(source.path === undefined ? {} : { path: source.path }),
    allowed,
    reason,
    ...(errors.length > 0 && { errors: errors.map(({ field, type }) => ({ field, type })) }),
    ...(findings.length > 0 && { findings: findings.map(({ code }) => code) }),
    ...(warnings.length > 0 && { warnings }),
    ...(patch.length > 0 && { patch }),
  }
}
