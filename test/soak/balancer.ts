import { once } from 'node:events'
import { createConnection, createServer, type Server, type Socket } from 'node:net'

export interface Target {
  readonly port: number
  /** Whether a Service would send anybody there. */
  readonly isReady: () => boolean
}

export interface Balancer {
  /** Whether there was nobody to take a call since then. */
  readonly turnedAwaySince: (from: number) => boolean
  close(): Promise<void>
}

/**
 * One replica after the other, among those that are ready, as a Service does it. A connection that is refused goes to
 * the next one: a process that was killed is still listed for a moment, which is no fault of those that live.
 */
export async function balance(port: number, targets: readonly Target[]): Promise<Balancer> {
  let turn = 0
  let turnedAwayAt = Number.NEGATIVE_INFINITY
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    sockets.add(client)
    client.on('close', () => sockets.delete(client))
    client.on('error', () => client.destroy())
    const ready = targets.filter(({ isReady }) => isReady())
    const first = turn++
    const forward = (attempt: number) => {
      const target = ready[(first + attempt) % ready.length]
      if (target === undefined || attempt >= ready.length) {
        turnedAwayAt = performance.now()
        client.destroy()
        return
      }
      const upstream = createConnection({ host: '127.0.0.1', port: target.port })
      upstream.once('connect', () => join(client, upstream))
      upstream.once('error', () => {
        if (upstream.connecting || upstream.bytesRead + upstream.bytesWritten === 0) forward(attempt + 1)
      })
    }
    forward(0)
  })
  await listen(server, port)
  return {
    turnedAwaySince: from => turnedAwayAt >= from,
    close: () => shut(server, sockets),
  }
}

/** A way to the API server that can be cut: what is sent on it then arrives nowhere, and nobody is told. */
export class Wire {
  readonly port: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #cut = false

  private constructor(port: number, to: number) {
    this.port = port
    this.#server = createServer(client => {
      this.#keep(client)
      if (this.#cut) {
        client.pause()
        return
      }
      const upstream = createConnection({ host: '127.0.0.1', port: to })
      this.#keep(upstream)
      upstream.once('connect', () => join(client, upstream))
      upstream.once('error', () => client.destroy())
    })
  }

  static async open(port: number, to: number): Promise<Wire> {
    const wire = new Wire(port, to)
    await listen(wire.#server, port)
    return wire
  }

  cut(): void {
    this.#cut = true
    for (const socket of this.#sockets) socket.unpipe().pause()
  }

  /** What was open is lost; whoever comes now gets through. */
  mend(): void {
    this.#cut = false
    for (const socket of this.#sockets) socket.destroy()
  }

  close(): Promise<void> {
    return shut(this.#server, this.#sockets)
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => socket.destroy())
  }
}

/** Whichever of the two ends, ends the other. */
function join(one: Socket, other: Socket): void {
  one.pipe(other).pipe(one)
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
  }
  if (one.destroyed) other.destroy()
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}

async function shut(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  for (const socket of sockets) socket.destroy()
  await closed
}
