import { X509Certificate } from 'node:crypto'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'
import { servedFingerprint } from '../cluster/support/served.ts'
import type { Api, Follower } from './api.ts'

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly { readonly clientConfig: { readonly caBundle?: string } }[]
}

const SECRET = '/api/v1/namespaces/muster-system/secrets?fieldSelector=metadata.name=muster-tls'
const WEBHOOKS =
  '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations?fieldSelector=metadata.name=muster'

/** Counts how far the rotations of certificates came, as anybody can see who reads the Secret and the bundles. */
export class Phases {
  readonly counts = { announced: 0, promoted: 0, forgotten: 0 }
  #next: string | undefined
  #current: string | undefined
  #trusted: ReadonlySet<string> = new Set()

  watches(api: Api): readonly Promise<void>[] {
    return [
      api.follow(
        SECRET,
        ofOne(object => this.#seeSecret(object)),
      ),
      api.follow(
        WEBHOOKS,
        ofOne(object => this.#seeBundle(object)),
      ),
    ]
  }

  /** Whether a certificate has been promoted, and everybody serves it. */
  async isServed(ports: readonly number[]): Promise<boolean> {
    if (this.counts.promoted === 0 || this.#next !== undefined || this.#current === undefined) return false
    const { fingerprint256 } = new X509Certificate(Buffer.from(this.#current, 'base64').toString())
    const served = await Promise.all(ports.map(port => servedFingerprint(port).catch(() => '')))
    return served.every(fingerprint => fingerprint === fingerprint256)
  }

  #seeSecret({ data = {} }: Secret): void {
    const next = data['next.crt']
    if (next !== undefined && next !== this.#next) this.counts.announced++
    if (this.#next !== undefined && data['tls.crt'] === this.#next) this.counts.promoted++
    this.#next = next
    this.#current = data['tls.crt']
  }

  #seeBundle({ webhooks = [] }: WebhookConfiguration): void {
    const bundle = Buffer.from(webhooks[0]?.clientConfig.caBundle ?? '', 'base64').toString()
    const certificates = bundle.match(/-----BEGIN[\s\S]+?-----END CERTIFICATE-----/g) ?? []
    const trusted = new Set(certificates.map(pem => new X509Certificate(pem).fingerprint256))
    this.counts.forgotten += [...this.#trusted].filter(fingerprint => !trusted.has(fingerprint)).length
    this.#trusted = trusted
  }
}

const ofOne = (see: (object: KubeObject) => void): Follower => ({
  replaced: objects => objects.forEach(see),
  changed: see,
  gone: () => {},
})
