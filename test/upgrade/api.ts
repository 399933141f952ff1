import { Agent, request } from 'node:https'
import { kubeconfigCredentials } from '../../src/kube/client/credentials.ts'
import { systemClock } from '../../src/kube/vocabulary/clock.ts'

export interface Answer<T = unknown> {
  readonly status: number
  readonly body: T
}

export type Api = Awaited<ReturnType<typeof createApi>>

/** Calls to the API server as the administrator, over kept connections. */
export async function createApi(kubeconfig: string) {
  const credentials = await kubeconfigCredentials({ file: kubeconfig, clock: systemClock })
  const { tls } = await credentials.access(false)
  const agent = new Agent({ ...tls, keepAlive: true, maxSockets: 8 })
  const call = <T>(method: string, path: string, body?: object): Promise<Answer<T>> =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? '' : JSON.stringify(body)
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
      const headers = { 'content-type': type, 'content-length': Buffer.byteLength(text) }
      const sent = request(new URL(path, credentials.server), { agent, method, headers, timeout: 60_000 }, response => {
        let answer = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          answer += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(answer) as T }))
        response.on('error', reject)
      })
      sent.on('timeout', () => sent.destroy(new Error(`no answer to ${method} ${path}`)))
      sent.on('error', reject)
      sent.end(text)
    })
  return { call, close: () => agent.destroy() }
}
