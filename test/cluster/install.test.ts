import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'
import { issuePair, SERVING_NAMES, type ServingPair } from '../../src/tls/authority.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { untilServed } from './support/kinds.ts'
import { queuedPod } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { servedFingerprint } from './support/served.ts'
import { eventually } from './support/wait.ts'

interface Policy extends KubeObject {
  readonly status?: {
    readonly observedGeneration?: number
    readonly typeChecking?: { readonly expressionWarnings?: readonly { fieldRef: string; warning: string }[] }
  }
}

interface WebhookConfiguration {
  readonly webhooks: readonly { readonly name: string; readonly clientConfig: { readonly caBundle?: string } }[]
}

/** Whose status moves on its own; their generation moves only with what was applied. */
const HAVE_A_STATUS = ['Deployment', 'CustomResourceDefinition', 'PodDisruptionBudget', 'ValidatingAdmissionPolicy']

const CONFIGURATIONS = ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration'] as const

describe('the installation', () => {
  let plane: ControlPlane
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'install', featureGates: 'none' })
    await plane.createNamespace('ml')
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  const bundles = async () => {
    const all = await Promise.all(
      CONFIGURATIONS.map(kind => plane.kubectl.json<WebhookConfiguration>(['get', kind, 'muster'])),
    )
    return all.flatMap(({ webhooks }) => webhooks.map(({ clientConfig }) => clientConfig.caBundle))
  }
  const secret = () =>
    plane.kubectl.json<KubeObject & { data: Record<string, string> }>([
      'get',
      'secret',
      'muster-tls',
      '-n',
      'muster-system',
    ])
  const versions = async () => {
    const kinds = 'deploy,svc,sa,cm,role,rolebinding,pdb,networkpolicy'
    const namespaced = await plane.kubectl.json<{ items: KubeObject[] }>(['get', kinds, '-n', 'muster-system'])
    const wide = await plane.kubectl.json<{ items: KubeObject[] }>([
      'get',
      'crd,clusterrole,clusterrolebinding,mutatingwebhookconfiguration,validatingwebhookconfiguration,ns,' +
        'validatingadmissionpolicy,validatingadmissionpolicybinding',
    ])
    const ours = wide.items.filter(({ metadata }) => /^muster|\.muster\.dev$/.test(metadata.name ?? ''))
    return [...namespaced.items, ...ours]
      .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt' && metadata.name !== 'default')
      .map(({ kind, metadata }) => {
        const settled = HAVE_A_STATUS.includes(kind ?? '')
        return `${kind}/${metadata.name}: ${settled ? metadata.generation : metadata.resourceVersion}`
      })
      .sort()
  }

  it('is one command, and the same command again changes nothing', async () => {
    await plane.kubectl(['apply', '-k', 'manifests/'])
    await untilServed(plane.kubectl, 'workloads.muster.dev')
    const before = await versions()
    expect(before.length).toBeGreaterThan(12)
    await plane.kubectl(['apply', '-k', 'manifests/'])
    expect(await versions()).toEqual(before)
    const { stdout } = await plane.kubectl(['diff', '-k', 'manifests/'])
    expect(stdout).toBe('')
  })

  it('has policies in which the API server finds no wrong type', async () => {
    const names = (items: readonly Policy[]) => items.map(({ metadata }) => metadata.name ?? '')
    const items = await eventually('all policies are checked', async () => {
      const all = await plane.kubectl.json<{ items: Policy[] }>(['get', 'validatingadmissionpolicies'])
      const ours = all.items.filter(({ metadata }) => metadata.name?.startsWith('muster-'))
      const checked = ours.filter(({ metadata, status }) => status?.observedGeneration === metadata.generation)
      expect(names(checked)).toEqual(names(ours))
      return ours
    })
    expect(items.length).toBeGreaterThan(5)
    const warnings = items.flatMap(({ metadata, status }) =>
      (status?.typeChecking?.expressionWarnings ?? []).map(({ fieldRef, warning }) => [
        metadata.name,
        fieldRef,
        warning,
      ]),
    )
    expect(warnings).toEqual([])
  })

  it('makes the certificates, shares them in a Secret and has the API server trust them', async () => {
    muster = await Muster.install(plane)
    const { data } = await secret()
    expect(Object.keys(data).sort()).toEqual(['ca.crt', 'tls.crt', 'tls.key'])
    expect(new Set(await bundles())).toEqual(new Set([data['ca.crt']]))
    expect(muster.log()).not.toContain('PRIVATE KEY')
  })

  it('writes the bundle again when somebody wipes it', async () => {
    const { data } = await secret()
    const wipe = JSON.stringify([{ op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }])
    await plane.kubectl(['patch', 'mutatingwebhookconfiguration', 'muster', '--type=json', '-p', wipe])
    await eventually('the bundle is back', async () => {
      expect(new Set(await bundles())).toEqual(new Set([data['ca.crt']]))
      return true
    })
    await eventually('pods are gated again', () => tryPod('after-wipe'))
  })

  it('serves a certificate that somebody puts into the Secret, without a restart, when its CA is trusted', async () => {
    const before = await servedFingerprint(muster.port)
    const pair = await issuePair(SERVING_NAMES, Date.now())
    const old = await bundles()
    await putPair(pair)
    await eventually('the new one is served', async () => (await servedFingerprint(muster.port)) !== before)
    // The old one stays for those replicas that have not heard of it yet.
    for (const bundle of await bundles()) {
      expect(decoded(bundle)).toContain(pair.bundle.trim())
      expect(decoded(bundle)).toContain(decoded(old[0]).trim())
    }
    expect(await tryPod('after-swap')).toBe(true)
  })

  it('keeps serving when the Secret is spoiled, and makes it whole again', async () => {
    const served = await servedFingerprint(muster.port)
    const data = { 'tls.crt': Buffer.from('nonsense').toString('base64') }
    await plane.kubectl(['patch', 'secret', 'muster-tls', '-n', 'muster-system', '-p', JSON.stringify({ data })])
    await eventually('the refusal is logged', () => muster.log().includes('new certificate refused'))
    expect(await servedFingerprint(muster.port)).toBe(served)
    expect(await tryPod('after-spoil')).toBe(true)
  })

  it('runs with the rights of its own ServiceAccount and no others', async () => {
    expect(muster.log()).toContain('"self":"system:serviceaccount:muster-system:muster"')
    expect(muster.log()).not.toContain('is forbidden')
    const who = { as: 'system:serviceaccount:muster-system:muster' }
    const mayNot = [
      ['create', 'pods', '-n', 'ml'],
      ['get', 'secrets', '-n', 'ml'],
      ['update', 'pods', '-n', 'ml'],
      ['delete', 'namespaces'],
      ['delete', 'mutatingwebhookconfigurations/muster'],
      ['patch', 'mutatingwebhookconfigurations/other'],
    ]
    for (const question of mayNot) {
      const { stdout } = await plane.kubectl(['auth', 'can-i', ...question], { ...who, expectFailure: true })
      expect(`${question.join(' ')}: ${stdout.trim()}`).toBe(`${question.join(' ')}: no`)
    }
  })

  async function putPair({ certificate, key, bundle }: ServingPair): Promise<void> {
    const encode = (text: string) => Buffer.from(text).toString('base64')
    const data = { 'ca.crt': encode(bundle), 'tls.crt': encode(certificate), 'tls.key': encode(key) }
    await plane.kubectl(['patch', 'secret', 'muster-tls', '-n', 'muster-system', '-p', JSON.stringify({ data })])
  }

  async function tryPod(name: string): Promise<boolean> {
    const pod = queuedPod({ namespace: 'ml', name })
    const { stdout } = await plane.kubectl(['create', '-f', '-', '--dry-run=server', '-o', 'json'], { stdin: pod })
    return stdout.includes('kueue.x-k8s.io/admission')
  }
})

const decoded = (bundle: string | undefined): string => Buffer.from(bundle ?? '', 'base64').toString()
