import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeApiServer, type Flood } from '../support/fake-api-server.ts'
import { hostileFlood, keptFlood } from '../support/hostile-pods.ts'
import { MEMORY_LIMIT_MB, NODE_FLAGS } from '../support/installed.ts'
import type { Reading } from '../support/reconciler-process.ts'

const PROGRAM = fileURLToPath(new URL('../support/reconciler-process.ts', import.meta.url))

describe('a replica in a cluster of hostile pods', () => {
  let server: FakeApiServer
  let child: ChildProcess | undefined

  beforeEach(async () => {
    server = await FakeApiServer.start()
    server.objects('/apis/muster.dev/v1alpha1/workloads')
  })
  afterEach(async () => {
    child?.kill('SIGKILL')
    await server.stop()
  })

  /** What it says when it leads and has read everything twice, as a follower and as the leader. */
  async function reading(flood: Flood): Promise<Reading> {
    server.floods.set('/api/v1/pods', flood)
    child = spawn(process.execPath, [...NODE_FLAGS, PROGRAM, server.url.href], { stdio: ['ignore', 'pipe', 'inherit'] })
    if (child.stdout === null) throw new Error('it has no output')
    for await (const line of createInterface({ input: child.stdout })) {
      const said = JSON.parse(line) as Reading
      if (said.leads) return said
    }
    throw new Error(`it ended: ${child.exitCode ?? child.signalCode}`)
  }

  it('lives, though each is as large as etcd takes it', async () => {
    const { maxResidentMb } = await reading(hostileFlood(150))
    expect(maxResidentMb).toBeLessThan(MEMORY_LIMIT_MB / 2)
  })

  it('lives, though the API server has no streaming lists', async () => {
    server.streamingLists = false
    const { maxResidentMb } = await reading(hostileFlood(60))
    expect(maxResidentMb).toBeLessThan(MEMORY_LIMIT_MB / 2)
  })

  it('lives, though there are ten thousand and each takes what a pod can take', async () => {
    const { maxResidentMb } = await reading(keptFlood(10_000))
    expect(maxResidentMb).toBeLessThan(MEMORY_LIMIT_MB)
  })
})
