import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Look } from '../insight/dashboard/waiting.ts'
import { SUBJECT_KINDS, type Subject } from '../insight/explain/explanation.ts'
import { SubjectError } from '../insight/explain/find.ts'
import type { Clock } from '../kube/vocabulary/clock.ts'
import { atTheDoor, HEADERS, type Keys } from './access.ts'
import type { Feed } from './feed.ts'
import type { PageFile } from './files.ts'
import { Stream } from './stream.ts'

export interface DashboardOptions {
  readonly feed: Pick<Feed, 'overview' | 'waiting' | 'story' | 'onChange'>
  readonly files: ReadonlyMap<string, PageFile>
  readonly keys: Keys
  readonly clock: Clock
  readonly port: number
}

export interface Dashboard {
  readonly port: number
  readonly url: string
  close(): Promise<void>
}

/** More rows than a screen has. */
const MOST_ROWS = 200
const MOST_CONNECTIONS = 64
/** Longer than any name, and short enough to be looked for in ten thousand. */
const MOST_TEXT = 300

/** Serves the page on this machine, to whoever has the token. */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { feed, clock, keys } = options
  // Of the token no more than tells one process from another.
  const stream = new Stream(clock, keys.session.slice(0, 8).replaceAll('.', ''))
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    answer(request, response).catch(error => fail(response, error))
  })
  server.maxConnections = MOST_CONNECTIONS
  const port = await listening(server, options.port)

  feed.onChange(() => {
    // With nobody looking there is nothing to reckon: who comes gets it all.
    if (stream.readers === 0) return
    // Where it cannot be reckoned the pages are let go: each says so, and asks again.
    feed.overview().then(
      overview => stream.publish(overview),
      () => stream.close(),
    )
  })

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
    const url = URL.parse(request.url ?? '/', `http://127.0.0.1:${port}`)
    if (url === null) return send(response, 400, 'text/plain; charset=utf-8', 'This is no address.')
    const door = atTheDoor({ method: request.method ?? '', url, headers: request.headers }, keys, port)
    if (door.kind === 'closed') return send(response, door.status, 'text/plain; charset=utf-8', door.text)
    if (door.kind === 'welcome') {
      response.writeHead(303, { location: '/', 'set-cookie': door.cookie }).end()
      return
    }
    const { pathname, searchParams } = url
    const file = options.files.get(pathname)
    if (file !== undefined) return send(response, 200, file.type, file.body)
    if (pathname === '/follow') {
      const last = searchParams.get('last') ?? String(request.headers['last-event-id'] ?? '')
      if (stream.join(response, last, await feed.overview())) return
      return send(response, 503, 'text/plain; charset=utf-8', 'There are many open pages already: close one.')
    }
    if (pathname === '/waiting') {
      const [from, count] = [numberIn(searchParams, 'from', 1e9), numberIn(searchParams, 'count', MOST_ROWS)]
      return sendJson(response, 200, { from, ...(await feed.waiting(lookIn(searchParams), from, count)) })
    }
    if (pathname === '/story') {
      const subject = subjectIn(searchParams)
      if (subject === undefined) return sendJson(response, 400, { error: 'name a kind, a namespace and a name' })
      return await sendStory(response, () => feed.story(subject))
    }
    return send(response, 404, 'text/plain; charset=utf-8', 'There is nothing here.')
  }

  return {
    port,
    url: `http://127.0.0.1:${port}/?token=${keys.token}`,
    close: async () => {
      stream.close()
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** On loopback and nowhere else. */
async function listening(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })
  return (server.address() as AddressInfo).port
}

function lookIn(params: URLSearchParams): Look {
  const given = (name: 'queue' | 'reason' | 'text') => {
    const value = params.get(name)
    return value === null ? {} : { [name]: value.slice(0, MOST_TEXT) }
  }
  return {
    ...given('queue'),
    ...given('reason'),
    ...given('text'),
    order: params.get('order') === 'age' ? 'age' : 'queue',
  }
}

function numberIn(params: URLSearchParams, name: string, most: number): number {
  const number = Number(params.get(name) ?? 0)
  return Number.isInteger(number) && number >= 0 ? Math.min(number, most) : 0
}

/** As Kubernetes allows names: what is asked for goes into a path of the API server. */
const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

function subjectIn(params: URLSearchParams): Subject | undefined {
  const kind = SUBJECT_KINDS.find(each => each === params.get('kind'))
  const [namespace = '', name = ''] = ['namespace', 'name'].map(part => params.get(part) ?? '')
  return kind !== undefined && NAME.test(namespace) && name !== '' && name.length <= 253
    ? { kind, namespace, name }
    : undefined
}

async function sendStory(response: ServerResponse, tell: () => Promise<object>): Promise<void> {
  try {
    sendJson(response, 200, await tell())
  } catch (error) {
    if (error instanceof SubjectError) return sendJson(response, 404, { error: error.message })
    throw error
  }
}

const sendJson = (response: ServerResponse, status: number, body: object): void =>
  send(response, status, 'application/json; charset=utf-8', JSON.stringify(body))

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body)
}

/** The cluster does not answer, or refuses: the page says so, and asks again. */
function fail(response: ServerResponse, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  if (response.headersSent) response.destroy()
  else sendJson(response, 502, { error: message })
}
