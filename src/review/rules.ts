import type { AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation } from '../admission/review.ts'
import { JOB_WEBHOOKS } from '../webhooks/jobs/jobs.ts'
import { POD_WEBHOOKS } from '../webhooks/pods/pods.ts'
import type { Webhook } from '../webhooks/world.ts'

/** A kind that Muster has webhooks for. */
export interface Served {
  readonly group: string
  readonly kind: string
  readonly resource: string
  readonly webhooks: readonly { readonly webhook: Webhook; readonly rules: readonly Rule[] }[]
}

/** As a rule of a webhook configuration: which operations, on the resource itself or on one of its subresources. */
interface Rule {
  readonly operations: readonly Operation[]
  readonly subResources?: readonly string[]
}

type Rules = Readonly<Record<string, readonly Rule[] | undefined>>

/** By the path of the webhook. A test holds these against the webhook configurations in manifests/. */
const POD_RULES: Rules = {
  '/mutate/pods': [{ operations: ['CREATE'] }],
  '/validate/pods': [
    { operations: ['CREATE', 'UPDATE'] },
    { operations: ['UPDATE'], subResources: ['resize', 'status'] },
  ],
}

const WRITES: Rule = { operations: ['CREATE', 'UPDATE'] }
const JOB_RULES: Rules = { '/validate/jobs': [WRITES, { operations: ['UPDATE'], subResources: ['status'] }] }
const TEMPLATE_RULES: Rules = { '/validate/jobs': [WRITES] }

/** What the API server would send to Muster. Another kind of webhook is another entry here. */
export const SERVED: readonly Served[] = [
  { group: '', kind: 'Pod', resource: 'pods', webhooks: withRules(POD_WEBHOOKS, POD_RULES) },
  { group: 'batch', kind: 'Job', resource: 'jobs', webhooks: withRules(JOB_WEBHOOKS, JOB_RULES) },
  { group: 'batch', kind: 'CronJob', resource: 'cronjobs', webhooks: withRules(JOB_WEBHOOKS, TEMPLATE_RULES) },
  { group: 'jobset.x-k8s.io', kind: 'JobSet', resource: 'jobsets', webhooks: withRules(JOB_WEBHOOKS, TEMPLATE_RULES) },
]

function withRules(webhooks: readonly Webhook[], rules: Rules): Served['webhooks'] {
  return webhooks.map(webhook => ({ webhook, rules: rules[webhook.path] ?? [] }))
}

/** The webhooks that the API server would call for a request, in its order: all that mutate, then all that validate. */
export function webhooksFor(request: AdmissionRequest): readonly Webhook[] {
  const { group, resource } = request.resource
  const served = SERVED.find(each => each.group === group && each.resource === resource)
  const matching = (served?.webhooks ?? []).filter(({ rules }) => rules.some(rule => matches(rule, request)))
  const webhooks = matching.map(({ webhook }) => webhook)
  return [...webhooks.filter(({ mutating }) => mutating), ...webhooks.filter(({ mutating }) => !mutating)]
}

function matches({ operations, subResources }: Rule, { operation, subResource }: AdmissionRequest): boolean {
  if (!operations.includes(operation)) return false
  return subResource ? (subResources?.includes(subResource) ?? false) : subResources === undefined
}

export function kindOf(apiVersion: string, kind: string): GroupVersionKind {
  const slash = apiVersion.indexOf('/')
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1), kind }
}

/** A kind that is not served has the plain plural of its name here; nobody asks for it. */
export function resourceOf({ group, version, kind }: GroupVersionKind): GroupVersionResource {
  const served = SERVED.find(each => each.group === group && each.kind === kind)
  return { group, version, resource: served?.resource ?? `${kind.toLowerCase()}s` }
}

export const isServed = ({ group, kind }: GroupVersionKind): boolean =>
  SERVED.some(each => each.group === group && each.kind === kind)
