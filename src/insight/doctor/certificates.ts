import type { InstalledWebhook } from '../../kube/vocabulary/webhook-configurations.ts'
import { inspect, pairProblem } from '../../tls/authority.ts'
import { currentPair } from '../../tls/record.ts'
import { recordIn, TLS_SECRET } from '../../tls/secret.ts'
import { trustedBy } from '../../tls/trust.ts'
import { type Complaint, complaint } from './diagnosis.ts'
import type { Facts } from './facts.ts'
import { ownIn } from './webhooks.ts'

/** Of a life of 30 days a third is left when it is renewed: with less than this nobody has renewed it for days. */
const SOON_MS = 5 * 86_400_000

/** The chain as the API server sees it: by the caBundle and the name of each webhook, now. */
export function checkCertificates(facts: Facts): readonly Complaint[] {
  const webhooks = [ownIn(facts.mutating), ownIn(facts.validating)].flatMap(own => own?.webhooks ?? [])
  const trustless = webhooks.filter(webhook => trustedBy(webhook).length === 0)
  const missing =
    trustless.length === 0
      ? []
      : [complaint('BundleMissing', `${listed(trustless)} cannot be called: no certificate in its caBundle`)]
  return [
    ...missing,
    ...chain(
      facts,
      webhooks.filter(webhook => !trustless.includes(webhook)),
    ),
  ]
}

const listed = (webhooks: readonly InstalledWebhook[]): string =>
  `webhook${webhooks.length === 1 ? '' : 's'} ${webhooks.map(({ name }) => name).join(', ')}`

function chain({ secret, now }: Facts, webhooks: readonly InstalledWebhook[]): readonly Complaint[] {
  if (secret === 'denied') return []
  const pair = currentPair(recordIn(secret === 'absent' ? undefined : secret))
  if (pair === undefined) {
    const what = secret === 'absent' ? `there is no Secret ${TLS_SECRET}` : `Secret ${TLS_SECRET} holds no certificate`
    return [complaint('CertificateWrong', what)]
  }
  const problems = new Map<string, InstalledWebhook[]>()
  for (const webhook of webhooks) {
    const bundle = Buffer.from(webhook.clientConfig.caBundle ?? '', 'base64').toString('utf8')
    const problem = pairProblem({ ...pair, bundle }, hostOf(webhook), now)
    if (problem !== undefined) problems.set(problem, [...(problems.get(problem) ?? []), webhook])
  }
  if (problems.size > 0) {
    return [...problems].map(([problem, of]) => complaint('CertificateWrong', `${listed(of)}: ${problem}`))
  }
  const { notAfter } = inspect(pair.certificate)
  if (notAfter - now > SOON_MS) return []
  return [complaint('CertificateExpiring', `it expires on ${new Date(notAfter).toISOString()}`)]
}

/** By which name the API server calls it. */
function hostOf({ clientConfig: { url, service } }: InstalledWebhook): readonly string[] {
  if (url !== undefined && URL.canParse(url)) return [new URL(url).hostname.replace(/^\[|\]$/g, '')]
  return service?.name === undefined ? [] : [`${service.name}.${service.namespace}.svc`]
}
