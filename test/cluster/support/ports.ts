import { createServer } from 'node:net'

const LOWEST = 20_000
const HIGHEST = 32_000

/**
 * A free loopback port below the range from which kernels take the ports of outgoing connections (32768 and up on
 * Linux). A port of that range could be taken while the API server is down for a restart.
 */
export async function freePort(taken: ReadonlySet<number> = new Set()): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST))
    if (!taken.has(port) && (await isFree(port))) return port
  }
  throw new Error(`found no free port on 127.0.0.1 between ${LOWEST} and ${HIGHEST} in 100 attempts`)
}

/** Different ones: asking twice for one port could give the same twice, since nothing listens there yet. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await freePort(ports))
  return [...ports]
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}
