import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/**
 * Three API servers with as many reviews under way as they take requests at once (600 by default). Each connection
 * takes 52 KB, so that these take about 100 MB of what the manifests give.
 */
const MAX_CONNECTIONS = 2048

/** How long a connection may stand still. */
interface Patience {
  /** Before its first request; after an answer Node sees to it. */
  readonly unusedMs: number
  /** With a request that is not answered. */
  readonly askedMs: number
}

interface Connection {
  readonly key: string
  readonly socket: Socket
  /** A request of it has not been answered yet. */
  busy: boolean
}

/**
 * The open connections, those that have not been answered for the longest first. When there are too many, the first
 * makes room, whatever it waits for: API servers open a new one when they need it, and if those that wait were spared,
 * whoever keeps enough of them waiting would leave no room for an API server.
 */
export class Connections {
  readonly #max: number
  readonly #onCut: () => void
  readonly #patience: Patience
  readonly #open = new Map<string, Connection>()
  readonly #bySocket = new WeakMap<Socket, Connection>()

  constructor(onCut: () => void, patience: Patience, max = MAX_CONNECTIONS) {
    this.#onCut = onCut
    this.#patience = patience
    this.#max = max
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#opened(socket))
    server.on('secureConnection', (socket: TLSSocket) => {
      const connection = this.#open.get(keyOf(socket))
      if (connection !== undefined) this.#bySocket.set(socket, connection)
      socket.setTimeout(this.#patience.unusedMs)
    })
  }

  /**
   * False: the one before has no answer yet. API servers send one request after the other on a connection; whoever does
   * not would have us hold as many reviews as he likes on one.
   */
  asked(socket: Socket): boolean {
    const connection = this.#bySocket.get(socket)
    if (connection === undefined) return true
    if (connection.busy) return false
    connection.busy = true
    socket.setTimeout(this.#patience.askedMs)
    return true
  }

  answered(socket: Socket): void {
    const connection = this.#bySocket.get(socket)
    if (connection === undefined || this.#open.get(connection.key) !== connection) return
    connection.busy = false
    this.#open.delete(connection.key)
    this.#open.set(connection.key, connection)
  }

  #opened(socket: Socket): void {
    if (this.#open.size >= this.#max) this.#makeRoom()
    const connection: Connection = { key: keyOf(socket), socket, busy: false }
    this.#open.set(connection.key, connection)
    socket.once('close', () => {
      if (this.#open.get(connection.key) === connection) this.#open.delete(connection.key)
    })
  }

  #makeRoom(): void {
    for (const { key, socket } of this.#open.values()) {
      this.#open.delete(key)
      this.#onCut()
      socket.destroy()
      return
    }
  }
}

/** The socket that carries TLS and the one inside it are two objects with one peer. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`
}
