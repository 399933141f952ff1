import type { Logger } from 'pino'
import type { AdmissionRequest } from '../admission/review.ts'
import type { Allowed, Denied } from '../admission/verdict.ts'
import type { VerdictLabel } from './metrics.ts'

/** The longest DNS subdomain: no legal name is cut. */
const MAX_TEXT = 253
const MAX_FIELDS = 10

/** Who asked for what, short enough for a log line whatever the request says. Never the object itself. */
export function subject(request: AdmissionRequest) {
  const metadata = (request.object ?? request.oldObject)?.metadata
  return {
    operation: request.operation,
    kind: capped(request.kind.kind),
    subResource: capped(request.subResource),
    namespace: capped(request.namespace),
    name: capped(nameOf(request, metadata)),
    user: capped(request.userInfo?.username),
    dryRun: request.dryRun === true,
  }
}

/** For a mutating webhook the name of a pod made from a template does not exist yet. */
function nameOf(request: AdmissionRequest, metadata: { name?: unknown; generateName?: unknown } | undefined): unknown {
  if (request.name) return request.name
  return metadata?.name ?? metadata?.generateName
}

export function verdictLabel(verdict: Allowed | Denied): VerdictLabel {
  if (verdict.kind === 'denied') return 'denied'
  return verdict.patch.length > 0 ? 'patched' : 'allowed'
}

/** One line per decision. The wrong fields are named, their values are not: they are the user's, and may be secret. */
export function logDecision(
  log: Logger,
  webhook: string,
  request: AdmissionRequest,
  verdict: Allowed | Denied,
  durationMs: number,
): void {
  log.info(
    {
      webhook,
      ...subject(request),
      verdict: verdictLabel(verdict),
      reason: verdict.reason,
      fields:
        verdict.kind === 'denied' ? verdict.errors.slice(0, MAX_FIELDS).map(error => capped(error.field)) : undefined,
      durationMs: rounded(durationMs),
    },
    'review decided',
  )
}

export function capped(text: unknown): string | undefined {
  if (typeof text !== 'string' || text === '') return undefined
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text
}

export const rounded = (ms: number): number => Math.round(ms * 1000) / 1000
