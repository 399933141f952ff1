import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { MEMORY_LIMIT_MB, NODE_FLAGS } from '../support/installed.ts'
import { collect, spawnMuster } from '../support/process.ts'
import { podReview } from '../support/reviews.ts'

const CALLERS = 80
const BODY = 7_000_000
const HEAD = `POST /mutate/pods HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${BODY}\r\n\r\n`

const folder = mkdtempSync(join(tmpdir(), 'muster-slow-'))
let child: ChildProcess | undefined
const sockets: TLSSocket[] = []

afterAll(() => {
  for (const socket of sockets) socket.destroy()
  child?.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** The most memory that the process has ever had; only Linux tells. */
function mostMb(pid: number | undefined): number {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

describe.runIf(process.platform === 'linux')('callers that send all but the end of a large body', () => {
  it('take no more memory together than the manifests give, and keep nobody from an answer', async () => {
    child = spawnMuster(['serve', '--port', '0', '--health-port', '0', '--certs-dir', folder], {
      NODE_OPTIONS: NODE_FLAGS.join(' '),
    })
    const output = collect(child)
    const port = await vi.waitFor(
      () => {
        const match = /https:\/\/localhost:(\d+) \(webhooks\)/.exec(output().stdout)
        if (match === null) throw new Error(`not listening yet: ${output().stderr}`)
        return Number(match[1])
      },
      { timeout: 60_000, interval: 20 },
    )
    const ca = readFileSync(join(folder, 'ca.crt'), 'utf8')
    const open = async (): Promise<TLSSocket> => {
      const socket = connect({ port, host: 'localhost', ca })
      socket.on('error', () => {})
      sockets.push(socket)
      await once(socket, 'secureConnect')
      return socket
    }
    const most = Buffer.alloc(BODY - 1, ' ')
    for (let caller = 0; caller < CALLERS; caller++) {
      const socket = await open()
      socket.write(HEAD)
      // Whoever is cut takes no more of it.
      await Promise.race([new Promise(resolve => socket.write(most, resolve)), once(socket, 'close')])
    }
    const honest = await open()
    const review = JSON.stringify(podReview())
    honest.write(HEAD.replace(String(BODY), String(Buffer.byteLength(review))))
    honest.write(review)
    const [answer] = await once(honest, 'data')
    expect(String(answer)).toContain('"allowed":true')
    expect(mostMb(child.pid)).toBeLessThan(MEMORY_LIMIT_MB)
  }, 120_000)
})
