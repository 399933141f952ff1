import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createKubeClient } from '../../src/kube/client/client.ts'
import { inClusterCredentials, kubeconfigCredentials } from '../../src/kube/client/credentials.ts'
import { systemClock } from '../../src/kube/vocabulary/clock.ts'
import { NAMESPACES } from '../../src/kube/vocabulary/resources.ts'
import { FakeApiServer } from '../support/fake-api-server.ts'
import { ManualClock } from '../support/manual-clock.ts'

let dir: string

beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'muster-credentials-'))
})

afterEach(async () => {
  await rm(dir, { recursive: true })
})

describe('credentials in a cluster', () => {
  const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }
  const mount = (token: string) =>
    Promise.all([writeFile(path.join(dir, 'token'), token), writeFile(path.join(dir, 'ca.crt'), 'authority\n')])

  it('read the token again after a minute, or at once when the server refuses it', async () => {
    const clock = new ManualClock()
    await mount('one\n')
    const credentials = await inClusterCredentials({ env, dir, clock })
    const token = async (refresh: boolean) => (await credentials.access(refresh)).headers.authorization
    await mount('two\n')
    await clock.advance(59_000)
    expect(await token(false)).toBe('Bearer one')
    expect(await token(true)).toBe('Bearer two')
    await mount('three\n')
    expect(await token(false)).toBe('Bearer two')
    await clock.advance(60_000)
    expect(await token(false)).toBe('Bearer three')
    expect((await credentials.access(false)).tls).toEqual({ ca: 'authority' })
  })

  it('keep what they have while the file is being replaced', async () => {
    await mount('one')
    const credentials = await inClusterCredentials({ env, dir, clock: systemClock })
    await rm(path.join(dir, 'token'))
    expect((await credentials.access(true)).headers.authorization).toBe('Bearer one')
  })

  it.each([
    ['10.0.0.1', '443', 'https://10.0.0.1/'],
    ['fd00::1', '6443', 'https://[fd00::1]:6443/'],
    ['[fd00::1]', '6443', 'https://[fd00::1]:6443/'],
    ['kubernetes.default.svc', '8443', 'https://kubernetes.default.svc:8443/'],
  ])('find the server at %s port %s', async (host, port, url) => {
    await mount('one')
    const address = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port }
    const { server } = await inClusterCredentials({ env: address, dir, clock: systemClock })
    expect(server.href).toBe(url)
  })

  it('say what is missing', async () => {
    const open = (overrides: Record<string, string | undefined>) =>
      inClusterCredentials({ env: { ...env, ...overrides }, dir, clock: systemClock })
    await expect(open({ KUBERNETES_SERVICE_HOST: undefined })).rejects.toThrow('use --kubeconfig FILE')
    await expect(open({ KUBERNETES_SERVICE_PORT: 'x' })).rejects.toThrow('do not make an address')
    await expect(open({})).rejects.toThrow(`cannot read the service account token ${path.join(dir, 'token')}`)
    await mount(' \n')
    await expect(open({})).rejects.toThrow('is empty')
  })
})

describe('credentials of a kubeconfig', () => {
  const write = async (user: object, cluster: object, text?: string) => {
    const file = path.join(dir, 'config')
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'main',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user }],
      contexts: [
        { name: 'main', context: { cluster: 'c', user: 'u' } },
        { name: 'nobody', context: { cluster: 'c', user: '' } },
        { name: 'broken', context: { cluster: 'absent', user: 'u' } },
        { name: 'stranger', context: { cluster: 'c', user: 'gone' } },
        { name: 'team', context: { cluster: 'c', user: 'u', namespace: 'team' } },
      ],
    }
    await writeFile(file, text ?? JSON.stringify(config))
    return file
  }
  const open = (file: string, context?: string) =>
    kubeconfigCredentials({ file, clock: systemClock, ...(context !== undefined && { context }) })

  it('talk to a TLS server with its authority and a token', async () => {
    const server = await FakeApiServer.start({ tls: true })
    server.acceptedToken = 'secret'
    server.put('/api/v1/namespaces', { metadata: { name: 'team' } })
    const authority = Buffer.from(server.ca ?? '').toString('base64')
    const file = await write({ token: 'secret' }, { server: server.url.href, 'certificate-authority-data': authority })
    const client = createKubeClient({ credentials: await open(file), clock: systemClock })
    expect((await client.get(NAMESPACES, { name: 'team' })).metadata.name).toBe('team')
    await client.close()
    const nobody = await open(file, 'nobody')
    expect((await nobody.access(false)).tls.ca?.toString()).toBe(server.ca)
    await server.stop()
  })

  it('come from a list of files as KUBECONFIG may be one: the first says which context, and absent files are nothing', async () => {
    const context = { name: 'far', context: { cluster: 'far', user: 'other', namespace: 'there' } }
    const cluster = { name: 'far', cluster: { server: 'https://localhost:2' } }
    const users = [{ name: 'other', user: { token: 'far' } }]
    const second = path.join(dir, 'second')
    const config = { apiVersion: 'v1', kind: 'Config', 'current-context': 'far', clusters: [cluster], users }
    await writeFile(second, JSON.stringify({ ...config, contexts: [context] }))
    const first = await write({ token: 'near' }, { server: 'https://localhost:1' })
    const list = [path.join(dir, 'absent'), first, second].join(path.delimiter)
    expect(await open(list)).toMatchObject({ server: new URL('https://localhost:1') })
    expect(await open(list, 'far')).toMatchObject({ server: new URL('https://localhost:2'), namespace: 'there' })
    expect((await open(first, 'team')).namespace).toBe('team')
  }, 120_000)

  it('ask an exec plugin, and ask it afresh when the server refuses its token', async () => {
    const plugin = path.join(dir, 'plugin')
    const counter = path.join(dir, 'count')
    const credential = '{"kind":"ExecCredential","status":{"token":"token-%s"}}'
    await writeFile(
      plugin,
      `#!/bin/sh\necho x >> ${counter}\nprintf '${credential}' "$(wc -l < ${counter} | tr -d ' ')"\n`,
    )
    await chmod(plugin, 0o755)
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin, args: [], interactiveMode: 'Never' }
    const credentials = await open(await write({ exec }, { server: 'https://localhost:1' }))
    const token = async (refresh: boolean) => (await credentials.access(refresh)).headers.authorization
    expect(await token(false)).toBe('Bearer token-1')
    expect(await token(false)).toBe('Bearer token-1')
    expect(await token(true)).toBe('Bearer token-2')
  })

  it('carry client certificates, passwords and the refusal to verify', async () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const user = { 'client-certificate-data': base64('cert'), 'client-key-data': base64('key') }
    const cluster = { server: 'https://localhost:1', 'insecure-skip-tls-verify': true, 'tls-server-name': 'api' }
    const { tls } = await (await open(await write(user, cluster))).access(false)
    expect(tls).toEqual({
      cert: 'cert',
      key: 'key',
      rejectUnauthorized: false,
      servername: 'api',
    })
    const file = await write({ username: 'me', password: 'pw' }, { server: 'https://localhost:1' })
    const { headers } = await (await open(file)).access(false)
    expect(headers.authorization).toBe(`Basic ${base64('me:pw')}`)
  })

  it('say what is wrong with the file, and where', async () => {
    const cluster = { server: 'https://localhost:1' }
    const file = await write({}, cluster)
    await expect(open(path.join(dir, 'absent'))).rejects.toThrow(/cannot read the kubeconfig .*absent: ENOENT/)
    await expect(open(file, 'other')).rejects.toThrow(
      `kubeconfig ${file} has no context "other" (known contexts: main, nobody, broken, stranger, team)`,
    )
    await expect(open(file, 'broken')).rejects.toThrow('context "broken" names cluster "absent", which is not there')
    await expect(open(file, 'stranger')).rejects.toThrow('context "stranger" names user "gone", who is not there')
    const torn = await open(await write({}, cluster, 'a: [\ntoken: hush')).catch(String)
    expect(torn).toContain('cannot read the kubeconfig')
    expect(torn).not.toContain('hush')
    await expect(open(await write({}, cluster, '{'))).rejects.toThrow(`cannot read the kubeconfig ${file}`)
    await expect(open(await write({}, cluster, ''))).rejects.toThrow(`kubeconfig ${file}`)
    await expect(open(await write({}, cluster, 'apiVersion: v1\n'))).rejects.toThrow('no current-context')
    await expect(open(await write({}, { server: 'ftp://x' }))).rejects.toThrow('which is no http(s) URL')
    await expect(open(await write({}, { ...cluster, 'proxy-url': 'http://p' }))).rejects.toThrow('proxy-url')
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: path.join(dir, 'absent-plugin') }
    await expect(open(await write({ exec }, cluster))).rejects.toThrow('cannot log in to cluster "c"')
  }, 120_000)
})
