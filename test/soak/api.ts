import { Agent, request } from 'node:https'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { kubeconfigCredentials } from '../../src/kube/client/credentials.ts'
import { systemClock } from '../../src/kube/vocabulary/clock.ts'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'

/** Status 0: no answer came, and `message` says why. */
export interface Answer {
  readonly status: number
  readonly message: string
  readonly object: KubeObject | undefined
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: KubeObject
}

export interface Follower {
  /** All of them, as they are now. */
  replaced(objects: readonly KubeObject[]): void
  changed(object: KubeObject): void
  gone(object: KubeObject): void
}

const ANSWER_MS = 35_000
/** The API server closes what nobody has used for 90 s: a request on its way in that moment would be lost. */
const IDLE_MS = 60_000
const PAUSE_MS = 200

/** The API server as clients see it: no retries, so that every failed answer is counted. */
export async function createApi(kubeconfig: string) {
  const credentials = await kubeconfigCredentials({ file: kubeconfig, clock: systemClock })
  const { tls } = await credentials.access(false)
  const agent = new Agent({ ...tls, keepAlive: true, maxSockets: 32, timeout: IDLE_MS })
  const streams = new Agent({ ...tls })
  let closed = false

  const send = (method: Method, path: string, body?: object): Promise<Answer> =>
    new Promise(resolve => {
      const text = body === undefined ? '' : JSON.stringify(body)
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
      const headers = { 'content-type': type, 'content-length': Buffer.byteLength(text) }
      const failed = (error: Error) => resolve({ status: 0, message: error.message, object: undefined })
      const call = request(
        new URL(path, credentials.server),
        { agent, method, headers, timeout: ANSWER_MS },
        response => {
          let answer = ''
          response.setEncoding('utf8').on('data', (chunk: string) => {
            answer += chunk
          })
          response.on('end', () => resolve(answerOf(response.statusCode ?? 0, answer)))
          response.on('error', failed)
        },
      )
      call.on('timeout', () => call.destroy(new Error('no answer from the API server')))
      call.on('error', failed)
      call.end(text)
    })

  /** Lists, then watches from there, and again after every break, until `close`. */
  const follow = async (path: string, follower: Follower): Promise<void> => {
    while (!closed) {
      const { status, object } = await send('GET', path)
      if (status === 200 && object !== undefined) {
        follower.replaced((object as KubeObject & { readonly items?: readonly KubeObject[] }).items ?? [])
        const mark = path.includes('?') ? '&' : '?'
        await watch(`${path}${mark}watch=1&resourceVersion=${object.metadata.resourceVersion}`, follower)
      }
      if (!closed) await sleep(PAUSE_MS)
    }
  }

  const watch = (path: string, follower: Follower): Promise<void> =>
    new Promise(resolve => {
      const call = request(new URL(path, credentials.server), { agent: streams }, response => {
        const lines = createInterface({ input: response, crlfDelay: Number.POSITIVE_INFINITY })
        lines.on('line', line => {
          const event = eventOf(line)
          if (event === undefined || event.type === 'ERROR') call.destroy()
          else if (event.type === 'DELETED') follower.gone(event.object)
          else if (event.type !== 'BOOKMARK') follower.changed(event.object)
        })
        lines.on('error', () => {})
        response.on('close', resolve)
        response.on('error', () => {})
      })
      open.add(call)
      call.on('close', () => {
        open.delete(call)
        resolve()
      })
      call.on('error', () => resolve())
      call.end()
    })
  const open = new Set<ReturnType<typeof request>>()

  return {
    send,
    follow,
    close: () => {
      closed = true
      for (const call of open) call.destroy()
      agent.destroy()
      streams.destroy()
    },
  }
}

export type Api = Awaited<ReturnType<typeof createApi>>

/** Undefined for the half line with which a server goes that is killed. */
function eventOf(line: string): WatchEvent | undefined {
  try {
    return JSON.parse(line) as WatchEvent
  } catch {
    return undefined
  }
}

function answerOf(status: number, text: string): Answer {
  try {
    const object = JSON.parse(text) as KubeObject & { readonly message?: string }
    return { status, message: status < 300 ? '' : (object.message ?? text), object }
  } catch {
    return { status, message: text, object: undefined }
  }
}
