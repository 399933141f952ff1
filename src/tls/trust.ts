import { WEBHOOK_CONFIGURATION } from '../kube/vocabulary/names.ts'
import type { InstalledConfiguration, InstalledWebhook } from '../kube/vocabulary/webhook-configurations.ts'
import { authoritiesIn } from './authority.ts'
import type { Authority } from './rotation.ts'

/** The CA bundle as it stands in a webhook configuration. */
export const caBundle = (pem: string): string => Buffer.from(pem).toString('base64')

/** Whom the API server trusts when it calls this webhook. */
export function trustedBy({ clientConfig }: InstalledWebhook): readonly Authority[] {
  return authoritiesIn(Buffer.from(clientConfig.caBundle ?? '', 'base64').toString('utf8'))
}

/** The webhooks of a configuration that trust others than these, or not all of these. */
export function differing({ webhooks = [] }: InstalledConfiguration, wanted: readonly Authority[]): readonly string[] {
  const fingerprints = new Set(wanted.map(({ fingerprint }) => fingerprint))
  const isRight = (webhook: InstalledWebhook): boolean => {
    const present = new Set(trustedBy(webhook).map(({ fingerprint }) => fingerprint))
    return present.size === fingerprints.size && [...fingerprints].every(fingerprint => present.has(fingerprint))
  }
  return webhooks.filter(webhook => !isRight(webhook)).map(({ name }) => name)
}

/** Why the API server cannot call a server with a certificate of this authority, or undefined when it can. */
export function trustProblem(
  kind: string,
  configuration: InstalledConfiguration | undefined,
  authority: Authority | undefined,
): string | undefined {
  if (configuration === undefined) return `${kind} ${WEBHOOK_CONFIGURATION} is not there: kubectl apply -k manifests/`
  const { webhooks = [] } = configuration
  const isTrusted = webhooks.every(webhook =>
    trustedBy(webhook).some(({ fingerprint }) => fingerprint === authority?.fingerprint),
  )
  return isTrusted ? undefined : `${kind} has another caBundle`
}
