import { beforeAll, describe, expect, it } from 'vitest'
import type { InstalledConfiguration } from '../../../src/kube/vocabulary/webhook-configurations.ts'
import { authoritiesIn } from '../../../src/tls/authority.ts'
import type { Authority } from '../../../src/tls/rotation.ts'
import { caBundle, differing, trustProblem } from '../../../src/tls/trust.ts'
import { issuePair } from '../../support/tls.ts'

const KIND = 'ValidatingWebhookConfiguration'

const installed = (...bundles: readonly (string | undefined)[]): InstalledConfiguration => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: KIND,
  metadata: { name: 'muster' },
  webhooks: bundles.map((bundle, index) => ({
    name: `w${index}`,
    clientConfig: { ...(bundle !== undefined && { caBundle: caBundle(bundle) }) },
  })),
})

describe('the trust of the API server', () => {
  let ours: string
  let other: string
  let authority: Authority | undefined

  beforeAll(async () => {
    ours = (await issuePair()).bundle
    other = (await issuePair()).bundle
    authority = authoritiesIn(ours)[0]
  })

  it('is there when every webhook has the authority, whomever else it trusts', () => {
    expect(trustProblem(KIND, installed(ours, other + ours), authority)).toBeUndefined()
  })

  it('is missing where a webhook has another authority, none, or nonsense', () => {
    for (const bundle of [other, undefined, 'nonsense']) {
      expect(trustProblem(KIND, installed(ours, bundle), authority)).toBe(`${KIND} has another caBundle`)
    }
  })

  it('cannot be where nothing is installed, and says what to do', () => {
    expect(trustProblem(KIND, undefined, authority)).toBe(`${KIND} muster is not there: kubectl apply -k manifests/`)
  })

  it('is to be written where a webhook has others than are wanted, in whatever order', () => {
    const configuration = installed(ours, other, undefined, ours + other, other + ours, ours + ours)
    expect(differing(configuration, authoritiesIn(ours))).toEqual(['w1', 'w2', 'w3', 'w4'])
    expect(differing(configuration, authoritiesIn(ours + other))).toEqual(['w0', 'w1', 'w2', 'w5'])
  })
})
