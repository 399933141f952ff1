import type { Logger } from 'pino'
import type { AdmissionRequest, Operation } from '../admission/review.ts'
import type { Verdict } from '../admission/verdict.ts'
import { MAX_NAME_LENGTH } from '../kube/vocabulary/formats.ts'
import { quoted } from '../kube/vocabulary/json-text.ts'
import { lineWriter } from './logging.ts'
import type { VerdictLabel } from './metrics.ts'

/** No legal name is cut. */
const MAX_TEXT = MAX_NAME_LENGTH
const MAX_FIELDS = 10

/** Who asked for what, short enough for a log line whatever the request says. Never the object itself. */
export interface Subject {
  readonly operation: Operation
  readonly kind: string | undefined
  readonly subResource: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly user: string | undefined
  readonly dryRun: boolean
}

/** A decision as the log tells it. The wrong fields are named, their values are not: they may be secret. */
export interface DecisionRecord extends Subject {
  readonly verdict: VerdictLabel
  readonly reason: string
  readonly fields: readonly (string | undefined)[] | undefined
}

export function subject(request: AdmissionRequest): Subject {
  return {
    operation: request.operation,
    kind: capped(request.kind.kind),
    subResource: capped(request.subResource),
    namespace: capped(request.namespace),
    name: capped(nameOf(request)),
    user: capped(request.userInfo?.username),
    dryRun: request.dryRun === true,
  }
}

export function decisionRecord(request: AdmissionRequest, verdict: Verdict): DecisionRecord {
  return {
    ...subject(request),
    verdict: verdictLabel(verdict),
    reason: verdict.reason,
    fields:
      verdict.kind === 'denied' ? verdict.errors.slice(0, MAX_FIELDS).map(error => capped(error.field)) : undefined,
  }
}

/** For a mutating webhook the name of a pod made from a template does not exist yet. */
function nameOf(request: AdmissionRequest): unknown {
  if (request.name) return request.name
  const metadata = (request.object ?? request.oldObject)?.metadata as
    | { name?: unknown; generateName?: unknown }
    | undefined
  return metadata?.name ?? metadata?.generateName
}

function verdictLabel(verdict: Verdict): VerdictLabel {
  if (verdict.kind === 'denied') return 'denied'
  return verdict.patch.length > 0 ? 'patched' : 'allowed'
}

export type DecisionLog = (record: DecisionRecord, durationMs: number) => void

/** One line per decision. Every review pays for it, so it is put together by hand. */
export function createDecisionLog(log: Logger, webhook: string): DecisionLog {
  const write = lineWriter(log, { webhook })
  return (record, durationMs) =>
    write(() => {
      const { kind, subResource, namespace, name, user, fields } = record
      let line = `"operation":"${record.operation}"`
      if (kind !== undefined) line += `,"kind":${quoted(kind)}`
      if (subResource !== undefined) line += `,"subResource":${quoted(subResource)}`
      if (namespace !== undefined) line += `,"namespace":${quoted(namespace)}`
      if (name !== undefined) line += `,"name":${quoted(name)}`
      if (user !== undefined) line += `,"user":${quoted(user)}`
      line += `,"dryRun":${record.dryRun},"verdict":"${record.verdict}","reason":${quoted(record.reason)}`
      if (fields !== undefined) line += `,"fields":${JSON.stringify(fields)}`
      return `${line},"durationMs":${rounded(durationMs)},"msg":"review decided"}`
    })
}

export function capped(text: unknown): string | undefined {
  if (typeof text !== 'string' || text === '') return undefined
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text
}

export const rounded = (ms: number): number => Math.round(ms * 1000) / 1000
