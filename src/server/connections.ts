import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/**
 * Several API servers that each have as many reviews under way as they admit changes at once (200 by default), and not
 * so many that connections alone fill the memory.
 */
const MAX_CONNECTIONS = 512

interface Connection {
  readonly key: string
  readonly socket: Socket
  /** A review of it is being judged. */
  busy: boolean
}

/**
 * The open connections, those that have not been used for the longest first. When there are too many, the first that
 * waits for nothing from us makes room: API servers open a new one when they need it, and whoever only holds connections
 * open holds none for long. One that is still in its handshake, or half-way through a body, waits for nothing from us.
 */
export class Connections {
  readonly #max: number
  readonly #onCut: () => void
  readonly #open = new Map<string, Connection>()
  readonly #bySocket = new WeakMap<Socket, Connection>()

  constructor(onCut: () => void, max = MAX_CONNECTIONS) {
    this.#onCut = onCut
    this.#max = max
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#opened(socket))
    server.on('secureConnection', (socket: TLSSocket) => {
      const connection = this.#open.get(keyOf(socket))
      if (connection !== undefined) this.#bySocket.set(socket, connection)
    })
  }

  judging(socket: Socket): void {
    const connection = this.#bySocket.get(socket)
    if (connection !== undefined) connection.busy = true
  }

  answered(socket: Socket): void {
    const connection = this.#bySocket.get(socket)
    if (connection === undefined || this.#open.get(connection.key) !== connection) return
    connection.busy = false
    this.#open.delete(connection.key)
    this.#open.set(connection.key, connection)
  }

  #opened(socket: Socket): void {
    if (this.#open.size >= this.#max && !this.#makeRoom()) {
      this.#onCut()
      socket.destroy()
      return
    }
    const connection: Connection = { key: keyOf(socket), socket, busy: false }
    this.#open.set(connection.key, connection)
    socket.once('close', () => {
      if (this.#open.get(connection.key) === connection) this.#open.delete(connection.key)
    })
  }

  #makeRoom(): boolean {
    for (const { key, socket, busy } of this.#open.values()) {
      if (busy) continue
      this.#open.delete(key)
      this.#onCut()
      socket.destroy()
      return true
    }
    return false
  }
}

/** The socket that carries TLS and the one inside it are two objects with one peer. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`
}
