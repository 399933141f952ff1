import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Explanation } from '../../src/insight/explain/explanation.ts'
import type { QueuesReport } from '../../src/insight/queues/report.ts'
import { Cluster } from '../browser/support/cluster.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const MANY = 10_000
/** What is held to a bound is CPU: on a machine that is busy with others it takes minutes until these have had it. */
const ROUNDS = 2
/**
 * Times what it costs a bare Node to read the same list and to parse it: on a busy machine both take longer alike. Seen:
 * 5 for explain, 3.2 for queues, of which a third is the start of the program.
 */
const MOST = 8

/** Says at the end what it has cost. */
const COUNTS_CPU = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write('cpu ' + (user + system) / 1000) })",
)}`

const READS = `const { get } = require('node:https')
get(process.argv[1], { rejectUnauthorized: false }, answer => {
  const chunks = []
  answer.on('data', chunk => chunks.push(chunk))
  answer.on('end', () => console.log(JSON.parse(Buffer.concat(chunks)).items.length))
})`

describe('with ten thousand pods in a queue', { timeout: 300_000 }, () => {
  let cluster: Cluster
  let folder: string
  let kubeconfig: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'muster-explain-'))
    cluster = await Cluster.start({ tls: true })
    kubeconfig = cluster.kubeconfig(join(folder, 'kubeconfig'))
    const from = Date.now() - 3_600_000
    for (let index = 0; index < MANY; index++) {
      cluster.add({ name: `pod-${index}`, queue: 'nightly' }, { cpu: '1' }, { created: from + index * 100 })
    }
    cluster.decide('nightly')
  }, 300_000)

  afterAll(async () => {
    await cluster?.server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const cost = (args: readonly string[]): Promise<{ readonly stdout: string; readonly cpuMs: number }> =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, ['--import', COUNTS_CPU, ...args])
      const output = { stdout: '', stderr: '' }
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].setEncoding('utf8').on('data', (text: string) => {
          output[name] += text
        })
      }
      child.on('error', reject)
      child.on('close', code => {
        const cpuMs = Number(/^cpu ([\d.]+)$/.exec(output.stderr)?.[1])
        if (code === 0 && cpuMs > 0) resolve({ stdout: output.stdout, cpuMs })
        else reject(new Error(`${args.join(' ')} ended with ${code}: ${output.stderr}`))
      })
    })
  const run = (args: string) =>
    cost([join(ROOT, 'bin/muster.js'), ...args.split(' '), '-o', 'json', '--kubeconfig', kubeconfig])

  /** The least of some rounds: a machine that is busy adds to it and never takes away. */
  const comparedWithReading = async (args: string) => {
    const [bare, ours]: [number[], number[]] = [[], []]
    let stdout = ''
    for (let round = 0; round < ROUNDS; round++) {
      const read = await cost(['-e', READS, `${cluster.server.url.origin}/apis/muster.dev/v1alpha1/workloads`])
      expect(Number(read.stdout)).toBe(MANY)
      bare.push(read.cpuMs)
      const answer = await run(args)
      ours.push(answer.cpuMs)
      stdout = answer.stdout
    }
    return { stdout, ratio: Math.min(...ours) / Math.min(...bare) }
  }

  it('muster explain tells the last of them what would start it, for little more than reading the queue costs', async () => {
    const { stdout, ratio } = await comparedWithReading(`explain pod pod-${MANY - 1} -n ml`)
    const { queue, counterfactuals, unseen } = JSON.parse(stdout) as Explanation
    expect(unseen).toEqual([])
    expect(queue).toMatchObject({ name: 'nightly', waiting: MANY - 40, before: MANY - 41, holding: 40 })
    expect(counterfactuals).toContainEqual(
      expect.objectContaining({ change: 'limits', to: { pods: '10k' }, outcome: 'starts' }),
    )
    expect(ratio).toBeLessThan(MOST)
  })

  it('and reads no list of all pods for it', async () => {
    cluster.server.requests.length = 0
    await run('explain pod pod-5000 -n ml')
    const paths = cluster.server.requests.map(({ path }) => path)
    expect(paths.filter(path => path.endsWith('/workloads') && !path.includes('/namespaces/'))).not.toEqual([])
    expect(paths).not.toContain('/api/v1/pods')
    expect(paths.length).toBeLessThan(20)
  })

  it('muster queues lists them for little more than that', async () => {
    const { stdout, ratio } = await comparedWithReading('queues')
    const nightly = (JSON.parse(stdout) as QueuesReport).queues.find(({ name }) => name === 'nightly')
    expect(nightly?.waiting).toHaveLength(MANY - 40)
    expect(ratio).toBeLessThan(MOST)
  })
})
