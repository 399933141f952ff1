import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { collect, runMuster, spawnMuster } from '../support/process.ts'
import { podReview } from '../support/reviews.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-serve-'))
const children: ChildProcess[] = []
/** Several looks at the file, one after the other. */
const PATIENT = { timeout: 90_000 }
const WAIT = { timeout: 60_000, interval: 20 }

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function start(env: Readonly<Record<string, string>> = {}, ...args: string[]) {
  const certs = join(folder, 'certs')
  const child = spawnMuster(['serve', '--port', '0', '--health-port', '0', '--certs-dir', certs, ...args], env)
  children.push(child)
  const output = collect(child)
  const [port, healthPort] = await vi.waitFor(() => {
    const match = /https:\/\/localhost:(\d+) \(webhooks\) and http:\/\/localhost:(\d+)/.exec(output().stdout)
    if (match === null) throw new Error(`not listening yet: ${output().stderr}`)
    return [Number(match[1]), Number(match[2])] as const
  }, WAIT)
  return { child, output, port, healthPort, ca: readFileSync(join(certs, 'ca.crt'), 'utf8') }
}

function post(port: number, agent: Agent): Promise<{ status: number; connection: string | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const options = { agent, host: 'localhost', port, path: '/mutate/pods?timeout=3s', method: 'POST', headers }
    const call = httpsRequest(options, response => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, connection: response.headers.connection, text }),
      )
      response.on('error', reject)
    })
    call.on('error', reject)
    call.end(JSON.stringify(podReview()))
  })
}

function get(port: number, path: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    httpRequest({ host: 'localhost', port, path }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
      .on('error', reject)
      .end()
  })
}

const readyz = async (port: number): Promise<number> => (await get(port, '/readyz')).status

describe('muster serve', () => {
  it('fails no request under keep-alive load when it gets SIGTERM, and exits with 0', async () => {
    const { child, port, healthPort, ca } = await start({}, '--drain-seconds', '2')
    const agent = new Agent({ keepAlive: true, maxSockets: 8, ca })
    const answers: { status: number; connection: string | undefined }[] = []
    const failures: unknown[] = []
    let draining = false
    let stopped = false
    const clients = Array.from({ length: 8 }, async () => {
      while (!stopped) {
        await post(port, agent).then(
          answer => answers.push(answer),
          error => failures.push(error),
        )
        // Like an API server that has learned that the endpoint is going: it finishes and leaves.
        if (draining && answers.at(-1)?.connection === 'close') stopped = true
      }
    })
    await vi.waitFor(() => expect(answers.length).toBeGreaterThan(200), WAIT)
    expect(await readyz(healthPort)).toBe(200)
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    draining = true
    await vi.waitFor(async () => expect(await readyz(healthPort)).toBe(503), WAIT)
    await Promise.all(clients)
    agent.destroy()
    expect(failures).toEqual([])
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    expect(answers.some(({ connection }) => connection === 'close')).toBe(true)
    expect(await exited).toEqual([0, null])
  })

  it('keeps what it was asked with --record, and muster test replays it with the answer that was given', async () => {
    const [records, cases] = [join(folder, 'records'), join(folder, 'cases')]
    const { port, ca } = await start({}, '--record', records)
    const agent = new Agent({ ca })
    const { text } = await post(port, agent)
    agent.destroy()
    const [record = ''] = readdirSync(records)
    const made = await runMuster(['test', '--init', join(records, record), cases])
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^created {2}/)])
    const file = readdirSync(cases).find(name => name.endsWith('.case.yaml')) ?? ''
    const { patch } = JSON.parse(text).response
    expect(parse(readFileSync(join(cases, file), 'utf8')).expect).toMatchObject([
      { allowed: true, reason: 'Gated', patch: JSON.parse(Buffer.from(patch, 'base64').toString('utf8')) },
    ])
    expect((await runMuster(['test', cases])).code).toBe(0)
    const config = join(folder, 'refusing.yaml')
    const head = 'apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\n'
    writeFileSync(config, `${head}unlistedQueues: refuse\nqueues: [{name: another, limits: {}}]\n`)
    const replayed = await runMuster(['test', cases, '--config', config])
    expect([replayed.code, replayed.stdout]).toEqual([1, expect.stringContaining('expected true, got false')])
  })

  it(
    'takes a changed configuration over without a restart, and keeps the old one when the new one is wrong',
    PATIENT,
    async () => {
      const file = join(folder, 'live.yaml')
      const write = (text: string) =>
        writeFileSync(file, `apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\n${text}`)
      write('')
      const { output, port, healthPort, ca } = await start({}, '--config', file)
      const agent = new Agent({ keepAlive: true, ca })
      const isGated = async () => JSON.parse((await post(port, agent)).text).response.patch !== undefined
      const changes = async (result: string) => {
        const { text } = await get(healthPort, '/metrics')
        return Number(new RegExp(`muster_configuration_changes_total{result="${result}"} (\\d+)`).exec(text)?.[1] ?? 0)
      }
      expect(await isGated()).toBe(true)
      write('integrations: {podOptions: {podSelector: {matchLabels: {nobody: has-it}}}}\n')
      await vi.waitFor(async () => expect(await isGated()).toBe(false), WAIT)
      expect(await changes('taken')).toBe(1)
      write('unlistedQueues: admit\nqeues: []\n')
      await vi.waitFor(async () => expect(await changes('refused')).toBe(1), WAIT)
      expect(await isGated()).toBe(false)
      await vi.waitFor(() => expect(output().stdout + output().stderr).toMatch(/live\.yaml:4:1.*qeues/), WAIT)
      write('')
      await vi.waitFor(async () => expect(await isGated()).toBe(true), WAIT)
      agent.destroy()
    },
  )

  it('leaves at once on Ctrl-C', async () => {
    const { child } = await start({}, '--drain-seconds', '600')
    const exited = once(child, 'exit')
    child.kill('SIGINT')
    expect(await exited).toEqual([0, null])
  })

  it('prints a command that shows a gated pod when it is pasted into a shell', async () => {
    const { output, port } = await start()
    const { stdout } = output()
    expect(stdout).toContain('The reconciler is off')
    expect(stdout).toContain('--kubeconfig FILE')
    const command = stdout.slice(stdout.indexOf('curl '))
    expect(command).toContain(`https://localhost:${port}/mutate/pods`)
    const pasted = spawnSync('sh', ['-c', command], { encoding: 'utf8' })
    expect(pasted.stderr).toBe('')
    expect(JSON.parse(pasted.stdout)).toMatchObject({
      kind: 'Pod',
      metadata: { labels: { 'kueue.x-k8s.io/managed': 'true' }, finalizers: ['kueue.x-k8s.io/managed'] },
      spec: { schedulingGates: [{ name: 'kueue.x-k8s.io/admission' }] },
    })
  })

  it('keeps its private keys to itself', async () => {
    await start()
    expect(statSync(join(folder, 'certs', 'tls.key')).mode & 0o777).toBe(0o600)
  })

  it('never touches the cluster that the shell happens to point at', async () => {
    let connections = 0
    const cluster = createServer(socket => {
      connections++
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(cluster, 'listening')
    const address = cluster.address()
    const server = `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    const kubeconfig = join(folder, 'kubeconfig')
    const context = { name: 'laptop', context: { cluster: 'laptop', user: 'laptop' } }
    const clusters = [{ name: 'laptop', cluster: { server } }]
    const users = [{ name: 'laptop', user: { token: 'secret' } }]
    const file = { apiVersion: 'v1', kind: 'Config', 'current-context': 'laptop', contexts: [context], clusters, users }
    writeFileSync(kubeconfig, JSON.stringify(file))
    mkdirSync(join(folder, '.kube'), { recursive: true })
    writeFileSync(join(folder, '.kube/config'), JSON.stringify(file))
    const { output, port, ca } = await start({ KUBECONFIG: kubeconfig, HOME: folder })
    expect(output().stdout).toContain('no cluster was given')
    const agent = new Agent({ ca })
    expect((await post(port, agent)).status).toBe(200)
    cluster.close()
    expect(connections).toBe(0)
  })
})

describe('muster serve, started wrongly', () => {
  it.each([
    [['--port', 'http'], '--port: "http" is not a whole number from 0 to 65535'],
    [['--prot', '1'], "Unknown option '--prot' (did you mean --port?); see muster serve --help"],
    [['--context', 'other'], '--context is one of a kubeconfig file: name the file, too, with --kubeconfig'],
    [['kubeconfig'], 'it takes no names, and there is "kubeconfig"'],
    [['--record', '/dev/null/folder'], '--record: /dev/null/folder cannot be written'],
    [['--certs-dir', '/dev/null/certs'], 'certificates cannot be kept in /dev/null/certs (ENOTDIR)'],
    [['--log-level', 'loud'], '--log-level: "loud" is none of'],
    [['--kubeconfig', '/nonexistent/kubeconfig'], '/nonexistent/kubeconfig'],
    [['--config', '/nonexistent/muster.yaml'], '/nonexistent/muster.yaml'],
  ])('says in one line what is wrong with %j', async (args, text) => {
    const { code, stderr } = await runMuster(['serve', '--port', '0', '--health-port', '0', ...args])
    expect(stderr).toContain(text)
    expect(stderr).not.toContain('    at ')
    expect(code).toBe(2)
  })

  it('names file, line and key of a configuration that cannot be used', async () => {
    const file = join(folder, 'wrong.yaml')
    writeFileSync(file, 'apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\nengin: builtin\n')
    const { code, stderr } = await runMuster(['serve', '--config', file])
    expect(stderr).toContain(`${file}:3:1: engin: unknown key`)
    expect(code).toBe(2)
  })

  it('says who is in the way when the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = other.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    const certs = ['--certs-dir', join(folder, 'certs')]
    const { code, stderr } = await runMuster(['serve', '--port', port, '--health-port', '0', ...certs])
    other.close()
    expect(stderr).toContain(`port ${port} is taken by another program: choose another with --port`)
    expect(code).toBe(2)
  })

  it('says which command there is not', async () => {
    const { code, stderr } = await runMuster(['sreve'])
    expect(stderr).toBe('muster: there is no command "sreve" (did you mean "muster serve"?); see muster --help\n')
    expect(code).toBe(2)
  })
})
