import { Agent, request } from 'node:https'

/** Reads from the API server as the administrator, for polls in which starting kubectl each time would cost more. */
export interface Reader {
  ready(): Promise<boolean>
  json<T>(path: string): Promise<T>
  close(): void
}

export function createReader(options: {
  readonly port: number
  readonly ca: string
  readonly cert: string
  readonly key: string
}): Reader {
  const { port, ca, cert, key } = options
  const agent = new Agent({ ca, cert, key, keepAlive: true, maxSockets: 2 })
  const get = (path: string): Promise<{ status: number; body: string }> =>
    new Promise((resolve, reject) => {
      const call = request({ agent, host: '127.0.0.1', port, path, timeout: 5_000 }, response => {
        let body = ''
        response.setEncoding('utf8').on('data', (text: string) => {
          body += text
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
        response.on('error', reject)
      })
      call.on('timeout', () => call.destroy(new Error(`no answer to GET ${path} within 5 s`)))
      call.on('error', reject)
      call.end()
    })
  return {
    async ready() {
      const { status, body } = await get('/readyz')
      if (status !== 200) throw new Error(`GET /readyz answered ${status}: ${body}`)
      return true
    },
    async json<T>(path: string) {
      const { status, body } = await get(path)
      if (status !== 200) throw new Error(`GET ${path} answered ${status}: ${body}`)
      return JSON.parse(body) as T
    },
    close: () => agent.destroy(),
  }
}
