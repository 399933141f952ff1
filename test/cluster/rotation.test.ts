import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createConnection, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'
import { issuePair, SERVING_NAMES } from '../../src/tls/authority.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { queuedPod } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { freePorts } from './support/ports.ts'
import { servedFingerprint } from './support/served.ts'
import { eventually } from './support/wait.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const DAY = 86_400_000
const CONFIGURATIONS = ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration'] as const

interface Secret extends KubeObject {
  readonly data: Record<string, string>
}
interface WebhookConfiguration {
  readonly webhooks: readonly { readonly name: string; readonly clientConfig: { readonly caBundle?: string } }[]
}

describe('a rotation of the certificate authority', () => {
  let plane: ControlPlane
  let replicas: readonly Muster[]
  let balancer: Server

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'rotation', featureGates: 'none' })
    await plane.createNamespace('ml')
    const first = await Muster.install(plane)
    replicas = [first, await first.another(plane.folder)]
    const [port = 0] = await freePorts(1)
    balancer = await balance(port, replicas)
    await callThrough(port)
  })

  afterAll(async () => {
    balancer?.close()
    await Promise.all((replicas ?? []).map(replica => replica.stop()))
    await plane?.stop()
  })

  it('goes through its phases under load, without a failed review and without an unready replica', async () => {
    let stopped = false
    let reviewed = 0
    const failures: unknown[] = []
    const load = async (client: number) => {
      for (let count = 0; !stopped; count++) {
        const pod = queuedPod({ namespace: 'ml', name: `p-${client}-${count}` })
        try {
          const { stdout } = await plane.kubectl(['create', '-f', '-', '--dry-run=server', '-o', 'json'], {
            stdin: pod,
          })
          expect(stdout).toContain('kueue.x-k8s.io/admission')
          reviewed++
        } catch (error) {
          failures.push(error)
        }
      }
    }
    const probe = async () => {
      while (!stopped) {
        for (const replica of replicas) {
          const { status, body } = await replica.health('/readyz')
          if (status !== 200) failures.push(body)
        }
      }
    }
    const running = Promise.all([load(1), load(2), probe()])
    try {
      // A pair that is due: it is taken like any other, and then replaced in phases.
      const due = await issuePair(SERVING_NAMES, Date.now() - 21 * DAY)
      await put({ 'ca.crt': due.bundle, 'tls.crt': due.certificate, 'tls.key': due.key })
      const announced = await eventually('a pair is announced', async () => (await secret()).data['next.crt'], PATIENT)
      await eventually(
        'both replicas serve it',
        async () => {
          const { data } = await secret()
          expect(data['tls.crt']).toBe(announced)
          expect(data['next.crt']).toBeUndefined()
          const wanted = fingerprintOf(Buffer.from(announced, 'base64').toString())
          for (const { port } of replicas) expect(await servedFingerprint(port)).toBe(wanted)
          return true
        },
        PATIENT,
      )
      for (const bundle of await bundles()) {
        expect(bundle).toContain(due.bundle.trim())
        expect(bundle).toContain(
          Buffer.from((await secret()).data['ca.crt'] ?? '', 'base64')
            .toString()
            .split('\n')[1],
        )
      }
      const before = reviewed
      await eventually('reviews go on', () => reviewed > before + 5, PATIENT)
    } finally {
      stopped = true
      await running
    }
    expect(failures).toEqual([])
  })

  it('is repaired by the other replica when one is killed in the midst of it', async () => {
    const due = await issuePair(SERVING_NAMES, Date.now() - 21 * DAY)
    await put({ 'ca.crt': due.bundle, 'tls.crt': due.certificate, 'tls.key': due.key })
    await eventually('a pair is announced', async () => (await secret()).data['next.crt'], PATIENT)
    await replicas[0]?.kill()
    await eventually(
      'the announced one is current',
      async () => (await secret()).data['next.crt'] === undefined,
      PATIENT,
    )
    await replicas[0]?.start()
    const current = fingerprintOf(Buffer.from((await secret()).data['tls.crt'] ?? '', 'base64').toString())
    await eventually(
      'both serve it',
      async () =>
        (await Promise.all(replicas.map(({ port }) => servedFingerprint(port)))).every(found => found === current),
      PATIENT,
    )
  })

  it('is left to whoever writes the Secret, and follows him, where it is not Muster’s', async () => {
    // The overlay but for what needs cert-manager itself, whose part this test plays.
    const { stdout } = await plane.kubectl(['kustomize', `${ROOT}manifests/overlays/cert-manager`])
    const role = stdout.split('---\n').find(text => /^kind: Role$/m.test(text))
    await plane.kubectl(['apply', '-f', '-'], { stdin: role ?? '' })
    const label = { metadata: { labels: { 'app.kubernetes.io/managed-by': 'cert-manager' } } }
    await patchSecret(label)
    const due = await issuePair(SERVING_NAMES, Date.now() - 25 * DAY)
    await put({ 'ca.crt': due.bundle, 'tls.crt': due.certificate, 'tls.key': due.key })
    const servedByAll = (certificate: string) => async () => {
      const found = await Promise.all(replicas.map(({ port }) => servedFingerprint(port)))
      return found.every(fingerprint => fingerprint === fingerprintOf(certificate))
    }
    await eventually('theirs is served though it is due', servedByAll(due.certificate), PATIENT)
    expect((await secret()).data).not.toHaveProperty(['next.crt'])
    const renewed = await issuePair(SERVING_NAMES, Date.now())
    await put({ 'ca.crt': renewed.bundle, 'tls.crt': renewed.certificate, 'tls.key': renewed.key })
    await eventually('the renewed one is served', servedByAll(renewed.certificate), PATIENT)
    for (const replica of replicas) expect(replica.log()).not.toContain('is forbidden')
  })

  const secret = () => plane.kubectl.json<Secret>(['get', 'secret', 'muster-tls', '-n', 'muster-system'])

  async function patchSecret(body: object): Promise<void> {
    await plane.kubectl(['patch', 'secret', 'muster-tls', '-n', 'muster-system', '-p', JSON.stringify(body)])
  }

  async function put(files: Readonly<Record<string, string>>): Promise<void> {
    const encode = ([name, text]: [string, string]) => [name, Buffer.from(text).toString('base64')]
    await patchSecret({ data: Object.fromEntries(Object.entries(files).map(encode)) })
  }

  async function bundles(): Promise<readonly string[]> {
    const all = await Promise.all(
      CONFIGURATIONS.map(kind => plane.kubectl.json<WebhookConfiguration>(['get', kind, 'muster'])),
    )
    return all.flatMap(({ webhooks }) =>
      webhooks.map(({ clientConfig }) => Buffer.from(clientConfig.caBundle ?? '', 'base64').toString()),
    )
  }

  /** As the Service would: the API server calls both replicas through one address. */
  async function callThrough(port: number): Promise<void> {
    for (const kind of CONFIGURATIONS) {
      const { webhooks } = await plane.kubectl.json<{
        webhooks: readonly { readonly name: string; readonly clientConfig: { readonly url?: string } }[]
      }>(['get', kind, 'muster'])
      const body = webhooks.map(({ name, clientConfig: { url = '' } }) => ({
        name,
        clientConfig: { url: `https://127.0.0.1:${port}${new URL(url).pathname}` },
      }))
      await plane.kubectl(['patch', kind, 'muster', '-p', JSON.stringify({ webhooks: body })])
    }
  }
})

/** Two phases of ten seconds each, on a machine that has other things to do. */
const PATIENT = { timeoutMs: 120_000 }

/** One replica after the other. */
async function balance(port: number, replicas: readonly Muster[]): Promise<Server> {
  let turn = 0
  const server = createServer(client => {
    const target = replicas[turn++ % replicas.length]
    const upstream = createConnection({ host: '127.0.0.1', port: target?.port ?? 0 })
    client.pipe(upstream).pipe(client)
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

const fingerprintOf = (pem: string): string => new X509Certificate(pem).fingerprint256
