import { WEBHOOK_CONFIGURATION } from '../kube/vocabulary/names.ts'
import type { InstalledConfiguration } from '../kube/vocabulary/webhook-configurations.ts'

/** The CA bundle as it stands in a webhook configuration. */
export const caBundle = (pem: string): string => Buffer.from(pem).toString('base64')

/** The webhooks of a configuration that would not trust a server whose CA is in the bundle. */
export function distrusting({ webhooks = [] }: InstalledConfiguration, pem: string): readonly string[] {
  const wanted = caBundle(pem)
  return webhooks.filter(({ clientConfig }) => clientConfig.caBundle !== wanted).map(({ name }) => name)
}

/** Why the API server cannot call us, or undefined when it can. Until it trusts us it does not. */
export function trustProblem(
  kind: string,
  configuration: InstalledConfiguration | undefined,
  pem: string,
): string | undefined {
  if (configuration === undefined) return `${kind} ${WEBHOOK_CONFIGURATION} is not there: kubectl apply -k manifests/`
  return distrusting(configuration, pem).length > 0 ? `${kind} has another caBundle` : undefined
}
