import { describe, expect, it } from 'vitest'
import type { InstalledConfiguration } from '../../../src/kube/vocabulary/webhook-configurations.ts'
import { caBundle, distrusting, trustProblem } from '../../../src/tls/trust.ts'

const PEM = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n'
const KIND = 'ValidatingWebhookConfiguration'

const installed = (...bundles: readonly (string | undefined)[]): InstalledConfiguration => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: KIND,
  metadata: { name: 'muster' },
  webhooks: bundles.map((bundle, index) => ({
    name: `w${index}`,
    clientConfig: { ...(bundle !== undefined && { caBundle: bundle }) },
  })),
})

describe('the trust of the API server', () => {
  it('is there when every webhook has the bundle', () => {
    expect(trustProblem(KIND, installed(caBundle(PEM), caBundle(PEM)), PEM)).toBeUndefined()
  })

  it('is missing where a webhook has another bundle, or none', () => {
    const configuration = installed(caBundle(PEM), caBundle('other'), undefined)
    expect(distrusting(configuration, PEM)).toEqual(['w1', 'w2'])
    expect(trustProblem(KIND, configuration, PEM)).toBe(`${KIND} has another caBundle`)
  })

  it('cannot be where nothing is installed, and says what to do', () => {
    expect(trustProblem(KIND, undefined, PEM)).toBe(`${KIND} muster is not there: kubectl apply -k manifests/`)
  })
})
