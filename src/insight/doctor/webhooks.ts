import { compareCoverage } from '../../cluster/coverage.ts'
import type { Finding } from '../../cluster/finding.ts'
import {
  NAMESPACE_NAME_LABEL,
  STATUS_POLICY,
  SYSTEM_NAMESPACE,
  WEBHOOK_CONFIGURATION,
} from '../../kube/vocabulary/names.ts'
import { matchesSelector } from '../../kube/vocabulary/selectors.ts'
import type { InstalledConfiguration, InstalledWebhook } from '../../kube/vocabulary/webhook-configurations.ts'
import type { Code } from './catalog.ts'
import { type Complaint, complaint } from './diagnosis.ts'
import { type Facts, known, type Listed } from './facts.ts'

const CODES: Readonly<Record<Finding['kind'], Code>> = {
  slips: 'RequestsSlipPast',
  wasted: 'ReviewsWasted',
  blocked: 'RequestsBlocked',
  unclear: 'CoverageUnclear',
}

export const ownIn = (list: Listed<InstalledConfiguration>): InstalledConfiguration | undefined =>
  known(list).find(({ metadata }) => metadata.name === WEBHOOK_CONFIGURATION)

/** What is installed, what it covers, and who stands in its way. */
export function checkWebhooks(facts: Facts): readonly Complaint[] {
  const { mutating, validating, crd } = facts
  if (mutating === 'denied' || validating === 'denied') return []
  const absent = [
    ...(ownIn(mutating) === undefined ? ['MutatingWebhookConfiguration muster'] : []),
    ...(ownIn(validating) === undefined ? ['ValidatingWebhookConfiguration muster'] : []),
    ...(crd === 'absent' ? ['CustomResourceDefinition workloads.muster.dev'] : []),
  ]
  return [
    ...absent.map(what => complaint('NotInstalled', `${what} is not there`)),
    ...(absent.length > 0 ? [] : coverage(facts)),
    ...[ownIn(mutating), ownIn(validating)].flatMap(own => (own?.webhooks ?? []).flatMap(systemCovered)),
    ...[...mutating, ...validating].flatMap(blocking),
  ]
}

function coverage(facts: Facts): readonly Complaint[] {
  const { config, namespaces, policies, bindings, defaultQueues, served } = facts
  if (config === undefined || namespaces === 'denied') return []
  const isStatus = ({ metadata }: { readonly metadata: { readonly name?: string } }) => metadata.name === STATUS_POLICY
  const statusPolicy =
    policies === 'denied' || bindings === 'denied'
      ? undefined
      : { policy: policies.find(isStatus), binding: bindings.find(isStatus) }
  const findings = compareCoverage({
    ...{ config, served, statusPolicy, namespacesWithDefaultQueue: defaultQueues },
    mutating: ownIn(facts.mutating),
    validating: ownIn(facts.validating),
    namespaces: namespaces.map(({ metadata }) => ({ name: metadata.name ?? '', labels: metadata.labels ?? {} })),
  })
  return findings.map(({ kind, text }) => complaint(CODES[kind], text))
}

const selects = ({ namespaceSelector }: InstalledWebhook, namespace: string): boolean =>
  matchesSelector(namespaceSelector ?? {}, { [NAMESPACE_NAME_LABEL]: namespace })

function systemCovered(webhook: InstalledWebhook): readonly Complaint[] {
  if (webhook.failurePolicy === 'Ignore') return []
  return ['kube-system', SYSTEM_NAMESPACE]
    .filter(namespace => selects(webhook, namespace))
    .map(namespace => complaint('SystemNamespaceCovered', `webhook ${webhook.name} covers namespace ${namespace}`))
}

/** Whoever judges the pods of our namespace and is away keeps them from being created. */
function blocking({ metadata, webhooks = [] }: InstalledConfiguration): readonly Complaint[] {
  if (metadata.name === WEBHOOK_CONFIGURATION) return []
  return webhooks
    .filter(webhook => webhook.failurePolicy !== 'Ignore' && createsPods(webhook) && selects(webhook, SYSTEM_NAMESPACE))
    .filter(({ objectSelector, matchConditions = [] }) => isEmpty(objectSelector) && matchConditions.length === 0)
    .map(({ name }) =>
      complaint('BlockedByOthers', `webhook ${name} of ${metadata.name} judges the pods of ${SYSTEM_NAMESPACE}`),
    )
}

const createsPods = ({ rules = [] }: InstalledWebhook): boolean =>
  rules.some(
    ({ apiGroups = [], resources = [], operations = [] }) =>
      apiGroups.some(group => group === '' || group === '*') &&
      resources.some(resource => ['pods', '*', '*/*', 'pods/*'].includes(resource)) &&
      operations.some(operation => operation === 'CREATE' || operation === '*'),
  )

const isEmpty = (selector: InstalledWebhook['objectSelector']): boolean =>
  Object.keys(selector?.matchLabels ?? {}).length + (selector?.matchExpressions ?? []).length === 0
