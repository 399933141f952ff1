import { once } from 'node:events'
import { request } from 'node:https'
import { parentPort } from 'node:worker_threads'
import { HOSTILE } from './hostile-reviews.ts'

/** One review for the thread to make and to send. */
export interface Post {
  readonly port: number
  readonly ca: string
  readonly path: string
  readonly hostile: string
  readonly size: number
}

export interface Posted {
  readonly status: number
  readonly text: string
}

/**
 * A client in a thread of its own: making megabytes of JSON and encrypting them takes its time, and a test that
 * measures how long the server blocks its event loop must not block it itself.
 */
parentPort?.on('message', async ({ port, ca, path, hostile, size }: Post) => {
  const body = HOSTILE[hostile]?.(size) ?? Buffer.alloc(0)
  const headers = { 'content-type': 'application/json', 'content-length': body.length }
  const call = request({ host: '127.0.0.1', port, path, method: 'POST', ca, headers, agent: false })
  call.end(body)
  const [response] = await once(call, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  parentPort?.postMessage({ status: response.statusCode, text } satisfies Posted)
})
