import { connect, type TLSSocket } from 'node:tls'

export interface Target {
  readonly port: number
  readonly path: string
  readonly ca: string
  /** Whom the certificate names. Default localhost. */
  readonly servername?: string
}

export interface Sample {
  readonly requests: number
  readonly seconds: number
  /** Milliseconds, one per request. */
  readonly latencies: Float64Array
}

const HEADER_END = Buffer.from('\r\n\r\n')

/**
 * Keep-alive TLS connections with one request under way on each, as the API server has them. The client is a bare
 * socket with a request that was written once: what it saves is what the server can show.
 */
export async function load(target: Target, body: Buffer, connections: number, durationMs: number): Promise<Sample> {
  const request = Buffer.concat([
    Buffer.from(
      `POST ${target.path}?timeout=3s HTTP/1.1\r\nHost: localhost:${target.port}\r\nContent-Type: application/json\r\n` +
        `User-Agent: kube-apiserver-admission\r\nAccept: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    ),
    body,
  ])
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(target)))
  const latencies: number[] = []
  const started = performance.now()
  const end = started + durationMs
  await Promise.all(sockets.map(socket => drive(socket, request, end, latencies)))
  const seconds = (performance.now() - started) / 1000
  for (const socket of sockets) socket.destroy()
  return { requests: latencies.length, seconds, latencies: Float64Array.from(latencies).sort() }
}

function open({ port, ca, servername = 'localhost' }: Target): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: 'localhost', servername, ca, ALPNProtocols: ['http/1.1'] }, () =>
      resolve(socket),
    )
    socket.setNoDelay(true)
    socket.once('error', reject)
  })
}

function drive(socket: TLSSocket, request: Buffer, end: number, latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let sent = 0
    let received = Buffer.alloc(0)
    const next = () => {
      sent = performance.now()
      socket.write(request)
    }
    socket.on('data', chunk => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const length = answerLength(received)
      if (length === undefined || received.length < length) return
      if (!received.subarray(0, 12).equals(OK)) return reject(new Error(received.toString('utf8', 0, 200)))
      received = Buffer.alloc(0)
      const now = performance.now()
      latencies.push(now - sent)
      if (now < end) next()
      else resolve()
    })
    socket.once('close', () => reject(new Error('the server closed the connection')))
    socket.once('error', reject)
    next()
  })
}

const OK = Buffer.from('HTTP/1.1 200')

function answerLength(received: Buffer): number | undefined {
  const header = received.indexOf(HEADER_END)
  if (header < 0) return undefined
  const match = /content-length: *(\d+)/i.exec(received.toString('latin1', 0, header))
  if (match === null) throw new Error('the answer has no Content-Length')
  return header + HEADER_END.length + Number(match[1])
}

export function quantile(latencies: Float64Array, q: number): number {
  return latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? Number.NaN
}
