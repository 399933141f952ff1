import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { eventually, type WaitOptions } from './support/wait.ts'

interface PodState {
  readonly metadata: { readonly uid: string; readonly deletionTimestamp?: string }
  readonly spec: { readonly nodeName?: string }
  readonly status: { readonly phase: string }
}

const NAMESPACE = 'smoke'

function pod(name: string, metadata: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE, ...metadata },
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example/none:1' }] },
  }
}

describe('the control plane that the scenarios run on', () => {
  let plane: ControlPlane

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'smoke', featureGates: 'none' })
    await plane.createNamespace(NAMESPACE)
  })

  afterAll(async () => {
    await plane?.stop()
  })

  const create = (object: object) => plane.kubectl(['create', '-f', '-'], { stdin: object })
  const get = (name: string) => plane.kubectl.json<PodState>(['get', 'pod', name, '-n', NAMESPACE])
  const reaches = (name: string, phase: string, options?: WaitOptions) =>
    eventually(
      `pod ${name} is ${phase}`,
      async () => {
        const state = await get(name)
        expect(state.status.phase).toBe(phase)
        return state
      },
      options,
    )
  const isGone = (name: string) =>
    eventually(`pod ${name} is gone`, async () => {
      const { stdout } = await plane.kubectl(['get', 'pod', name, '-n', NAMESPACE, '--ignore-not-found', '-o', 'name'])
      expect(stdout).toBe('')
      return true
    })

  it('schedules a plain pod, runs it until it is told to succeed, and lets it be deleted', async () => {
    await create(pod('plain'))
    const running = await reaches('plain', 'Running')
    expect(running.spec.nodeName).toMatch(/^node-\d$/)
    await plane.kubectl(['annotate', 'pod', 'plain', '-n', NAMESPACE, 'muster.dev/test-outcome=succeed'])
    await reaches('plain', 'Succeeded')
    await plane.kubectl(['delete', 'pod', 'plain', '-n', NAMESPACE, '--wait=false'])
    await isGone('plain')
  })

  it('fails a pod that is annotated to fail', async () => {
    await create(
      pod('unlucky', { annotations: { 'muster.dev/test-outcome': 'fail', 'muster.dev/test-delay': '200ms' } }),
    )
    await reaches('unlucky', 'Failed')
  })

  it('ends a running pod that is deleted and leaves the finalizers of others alone', async () => {
    await create(pod('held', { finalizers: ['example.com/held'] }))
    await reaches('held', 'Running')
    await plane.kubectl(['delete', 'pod', 'held', '-n', NAMESPACE, '--wait=false'])
    const ended = await reaches('held', 'Failed')
    expect(ended.metadata.deletionTimestamp).toBeDefined()
    const patch = JSON.stringify({ metadata: { finalizers: null } })
    await plane.kubectl(['patch', 'pod', 'held', '-n', NAMESPACE, '--type=merge', '-p', patch])
    await isGone('held')
  })

  it('runs a Job to completion through the real Job controller and cleans up after it', async () => {
    const template = {
      metadata: { annotations: { 'muster.dev/test-outcome': 'succeed' } },
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example/none:1' }] },
    }
    await create({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'batch', namespace: NAMESPACE },
      spec: { completions: 3, parallelism: 3, template },
    })
    await plane.kubectl(['wait', 'job/batch', '-n', NAMESPACE, '--for=condition=Complete', '--timeout=30s'])
    await plane.kubectl(['delete', 'job', 'batch', '-n', NAMESPACE])
    await eventually('the pods of the deleted Job are collected', async () => {
      const { stdout } = await plane.kubectl(['get', 'pods', '-n', NAMESPACE, '-l', 'job-name=batch', '-o', 'name'])
      return stdout === ''
    })
  })

  it('hands out ServiceAccount tokens that have the rights of the ServiceAccount and no more', async () => {
    const kubeconfig = await plane.serviceAccountKubeconfig(NAMESPACE, 'default')
    const { stdout } = await plane.kubectl(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}'], {
      kubeconfig,
    })
    expect(stdout).toBe(`system:serviceaccount:${NAMESPACE}:default`)
    const refused = await plane.kubectl(['get', 'pods', '-n', NAMESPACE], { kubeconfig, expectFailure: true })
    expect(refused.stderr).toContain('forbidden')
  })

  it('impersonates users and groups', async () => {
    const as = { as: 'jane', asGroups: ['developers'] }
    const who = await plane.kubectl.json<{ status: { userInfo: { username: string; groups: string[] } } }>(
      ['auth', 'whoami'],
      as,
    )
    expect(who.status.userInfo).toMatchObject({ username: 'jane', groups: ['developers', 'system:authenticated'] })
    const refused = await plane.kubectl(['get', 'pods', '-n', NAMESPACE], { ...as, expectFailure: true })
    expect(refused.stderr).toContain('User "jane" cannot list resource "pods"')
  })

  it('keeps its objects, and goes on scheduling, when the API server is restarted', async () => {
    await create(pod('survivor'))
    const before = await reaches('survivor', 'Running')
    await plane.restartApiServer()
    expect((await get('survivor')).metadata.uid).toBe(before.metadata.uid)
    await create(pod('after'))
    // The scheduler's watches come back with client-go's growing pauses, which may add up to half a minute.
    await reaches('after', 'Running', { timeoutMs: 90_000 })
  })

  it('keeps its objects when the API server is killed', async () => {
    const before = await get('survivor')
    await plane.killApiServer()
    await plane.kubectl(['get', 'pods'], { expectFailure: true })
    await plane.startApiServer()
    expect((await get('survivor')).metadata.uid).toBe(before.metadata.uid)
  })
})

describe('the supervisor', () => {
  it('leaves neither a process nor a folder behind when the test process is killed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'muster-supervisor-'))
    const module = JSON.stringify(join(import.meta.dirname, 'support/supervisor.ts'))
    const script = `
      const { Supervisor } = await import(${module})
      const supervisor = new Supervisor(${JSON.stringify(folder)}, { keepFolder: false })
      await supervisor.start('/bin/sleep', ['600']).stop()
      console.log(supervisor.start('/bin/sleep', ['600']).pid)
      setInterval(() => undefined, 1000)
    `
    const test = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(test.stdout, 'data')
    const pid = Number(String(line))
    expect(isAlive(pid)).toBe(true)
    test.kill('SIGKILL')
    await eventually('the supervised process is killed', () => !isAlive(pid), { timeoutMs: 5_000 })
    await eventually('its folder is removed', () => !existsSync(folder), { timeoutMs: 5_000 })
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // In a container whose first process does not collect orphans, a dead one stays in the table as a zombie.
  const stat = `/proc/${pid}/stat`
  return !(existsSync(stat) && /\) Z /.test(readFileSync(stat, 'utf8')))
}
