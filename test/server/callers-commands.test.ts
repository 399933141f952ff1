import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'
import { eventually } from '../support/eventually.ts'
import { FakeApiServer } from '../support/fake-api-server.ts'
import { managedPod } from '../support/pods.ts'
import { collect, runMuster, spawnMuster } from '../support/process.ts'
import { workloadOf } from '../support/workloads.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-callers-'))
const kubeconfig = join(folder, 'kubeconfig')
let server: FakeApiServer

beforeAll(async () => {
  server = await FakeApiServer.start()
  server.objects('/apis')
  server.put('/api/v1/pods', managedPod({ name: 'train' }))
  writeKubeconfig(server.url.origin)
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

function writeKubeconfig(address: string): void {
  const context = { name: 'here', context: { cluster: 'here', user: 'here' } }
  const clusters = [{ name: 'here', cluster: { server: address } }]
  const users = [{ name: 'here', user: { token: 'secret' } }]
  const file = { apiVersion: 'v1', kind: 'Config', 'current-context': 'here', contexts: [context], clusters, users }
  writeFileSync(kubeconfig, JSON.stringify(file))
}

const muster = (...args: string[]) => runMuster([...args, '--kubeconfig', kubeconfig])

describe('a command that asks a cluster', () => {
  it('says what it wants to know as it is, and not as a failure of the cluster', async () => {
    const { code, stderr } = await muster('uninstall')
    expect(stderr).toBe(
      'muster uninstall: 1 pod waits, and nobody will start it: say what becomes of it with --start-waiting, ' +
        '--keep-waiting or --delete-waiting. Nothing was changed\n',
    )
    expect(code).toBe(2)
  })

  it('says of an output that cannot be written that it is the output', async () => {
    const full = openSync('/dev/full', 'w')
    const child = spawnMuster(['queues', '--kubeconfig', kubeconfig], {}, ['ignore', full, 'pipe'])
    const output = collect(child)
    const [code] = await once(child, 'close')
    closeSync(full)
    expect(output().stderr).toBe('muster queues: standard output: cannot be written: no space is left on the disk\n')
    expect(code).toBe(3)
  })

  it.each([
    ['serve', ['serve', 'extra', '--port', '0', '--health-port', '0']],
    ['doctor', ['doctor', 'extra']],
    ['dashboard', ['dashboard', 'extra', '--no-open']],
    ['uninstall', ['uninstall', 'extra']],
  ])('does not pass over a word that it has no use for: %s', async (name, args) => {
    const { code, stderr } = await muster(...args)
    expect(stderr).toContain(`muster ${name}: it takes no names, and there is "extra"`)
    expect(code).toBe(2)
  })

  it('takes the names of kinds for kinds, and no others', async () => {
    const { code, stderr } = await muster('explain', 'constructor', 'x')
    expect(stderr).toContain('muster explain: "constructor" is none of pod, job')
    expect(code).toBe(2)
  })
})

describe('what people who know kubectl type', () => {
  const about = async (name: string) => (await muster('explain', name, '-n', 'ml')).stderr

  it('takes a name as kubectl prints it, with the group of its kind', async () => {
    expect(await about('job.batch/nobody')).toContain('there is no job nobody in namespace ml')
    expect(await about('jobs.v1.batch/nobody')).toContain('there is no job nobody in namespace ml')
    expect(await about('workload.muster.dev/nobody')).toContain('there is no workload nobody in namespace ml')
    expect(await about('workload.scheduling.k8s.io/nobody')).toContain('"workload.scheduling.k8s.io" is none of pod')
  })

  it('does not take a queue that nobody knows for a cluster without queues', async () => {
    const { code, stdout, stderr } = await muster('queues', 'team-q')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('nobody has listed team-q, and nobody is in it')
  })
})

describe('muster queues -w', () => {
  it('goes on after a moment in which the cluster did not answer, and says that there was one', async () => {
    server.objects('/apis/muster.dev/v1alpha1/workloads')
    const head = 'apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\n'
    const data = { 'config.yaml': `${head}queues: [{name: team-a, limits: {cpu: 1}}]\n` }
    const metadata = { name: 'muster', namespace: 'muster-system' }
    server.put('/api/v1/namespaces/muster-system/configmaps', { metadata, data } as KubeObject)
    const child = spawnMuster(['queues', '-w', '-o', 'json', '--kubeconfig', kubeconfig])
    const output = collect(child)
    await eventually('the queues', () => output().stdout.includes('"team-a"'))
    server.away = true
    server.resetConnections()
    await eventually('it says so', () => output().stderr.includes('answered 503'))
    server.away = false
    server.put('/apis/muster.dev/v1alpha1/workloads', workloadOf([managedPod({ name: 'later' })]))
    await eventually('what is there now', () => output().stdout.includes('later'))
    expect(output().stderr.match(/answered 503/g)).toHaveLength(1)
    child.kill('SIGINT')
    expect(await once(child, 'close')).toEqual([0, null])
  })
})

describe('a command whose cluster says nothing', () => {
  let silent: Server

  beforeAll(async () => {
    silent = createServer(socket => socket.on('error', () => {})).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const address = silent.address()
    writeKubeconfig(`https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
  })
  afterAll(() => {
    silent.close()
    writeKubeconfig(server.url.origin)
  })

  it.each([
    ['serve', ['serve', '--port', '0', '--health-port', '0']],
    ['dashboard', ['dashboard', '--no-open']],
    ['queues', ['queues', '-w']],
  ])('ends at the first Ctrl-C: %s', async (_name, args) => {
    const connected = once(silent, 'connection')
    const child = spawnMuster([...args, '--kubeconfig', kubeconfig])
    await connected
    const asked = performance.now()
    child.kill('SIGINT')
    await once(child, 'close')
    expect(performance.now() - asked).toBeLessThan(10_000)
  })
})
