import { Agent, request } from 'node:https'
import { kubeconfigCredentials } from '../../../src/kube/client/credentials.ts'
import { systemClock } from '../../../src/kube/vocabulary/clock.ts'
import type { FieldErrorType } from '../../../src/validation/field-error.ts'

/** What the API server says to a write, as far as field errors are concerned. */
export interface Judgement {
  readonly status: number
  readonly message: string
  readonly errors: readonly { readonly field: string; readonly type: FieldErrorType }[]
}

interface StatusBody {
  readonly message?: string
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly field?: string }[] }
}

const TYPES: Readonly<Record<string, FieldErrorType>> = {
  FieldValueInvalid: 'Invalid',
  FieldValueRequired: 'Required',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooMany: 'TooMany',
  FieldValueTooLong: 'TooLong',
  FieldValueDuplicate: 'Duplicate',
  FieldValueNotSupported: 'NotSupported',
  InternalError: 'InternalError',
}

/** Asks the API server what it would say, thousands of times: over kept connections, and by default without a trace. */
export async function createAsker(kubeconfig: string) {
  const credentials = await kubeconfigCredentials({ file: kubeconfig, clock: systemClock })
  const { tls } = await credentials.access(false)
  const agent = new Agent({ ...tls, keepAlive: true, maxSockets: 8 })
  const send = (method: 'POST' | 'PUT', path: string, body: object, dryRun: boolean): Promise<Judgement> =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify(body)
      const url = new URL(`${path}?fieldValidation=Warn${dryRun ? '&dryRun=All' : ''}`, credentials.server)
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
      const call = request(url, { agent, method, headers, timeout: 30_000 }, response => {
        let answer = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          answer += chunk
        })
        response.on('end', () => resolve(judgement(response.statusCode ?? 0, answer)))
        response.on('error', reject)
      })
      call.on('timeout', () => call.destroy(new Error(`no answer to ${method} ${path}`)))
      call.on('error', reject)
      call.end(text)
    })
  return {
    create: (path: string, body: object, dryRun = true) => send('POST', path, body, dryRun),
    replace: (path: string, body: object, dryRun = true) => send('PUT', path, body, dryRun),
    close: () => agent.destroy(),
  }
}

function judgement(status: number, text: string): Judgement {
  if (status < 300) return { status, message: '', errors: [] }
  const { message = text, details } = JSON.parse(text) as StatusBody
  const errors = (details?.causes ?? []).map(({ reason = '', field = '' }) => ({
    field,
    type: TYPES[reason] ?? 'Invalid',
  }))
  return { status, message, errors }
}
