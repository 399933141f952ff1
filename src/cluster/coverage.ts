import type { Operation } from '../admission/review.ts'
import type { Configuration } from '../config/configuration.ts'
import {
  BREAK_GLASS,
  MANAGED,
  MIRROR_POD,
  OFFLINE_IDENTITY,
  POD_GROUP,
  QUEUE_NAME,
  QUEUED,
  RESOURCE_IN_USE,
  SCHEDULING,
  SYSTEM_NAMESPACE,
  WEBHOOK_CONFIGURATION,
} from '../kube/vocabulary/names.ts'
import type { LabelSelector, StringMap } from '../kube/vocabulary/objects.ts'
import { matchesSelector } from '../kube/vocabulary/selectors.ts'
import type { ServedScheduling } from '../kube/vocabulary/served-scheduling.ts'
import type { InstalledConfiguration, InstalledWebhook } from '../kube/vocabulary/webhook-configurations.ts'
import { WEBHOOKS } from '../webhooks/all.ts'
import { podsEnabled } from '../webhooks/pods/scope.ts'
import { type Rule, resourceIn, type Webhook } from '../webhooks/webhook.ts'
import type { Finding } from './finding.ts'
import { compareStatusPolicy, type StatusPolicyFacts } from './status-policy.ts'

export interface CoverageFacts {
  readonly config: Configuration
  readonly mutating: InstalledConfiguration | undefined
  readonly validating: InstalledConfiguration | undefined
  readonly namespaces: Iterable<{ readonly name: string; readonly labels: StringMap }>
  readonly namespacesWithDefaultQueue: readonly string[]
  readonly served: ServedScheduling
  /** Undefined while it is not known whether it is installed. */
  readonly statusPolicy: StatusPolicyFacts | undefined
}

/** The rooms in which installed conditions can differ from ours before a person is bored by the list. */
const MOST_NAMES = 5

/**
 * Two sides decide what Muster judges: the API server's configuration, which sends, and Muster's own, which says what
 * it wants. Where they disagree an object gets past its rules, or a review is made for nothing. This says where.
 */
export function compareCoverage(facts: CoverageFacts): readonly Finding[] {
  const needed = WEBHOOKS.filter(
    ({ isEnabled, advisory }) => !advisory && (isEnabled?.(facts.config, facts.served) ?? true),
  )
  const { config, statusPolicy } = facts
  const ofWebhooks = needed.flatMap(webhook => {
    const kind = webhook.mutating ? 'mutating' : 'validating'
    const entries = (facts[kind]?.webhooks ?? []).filter(entry => pathOf(entry) === webhook.path)
    if (entries.length === 0) {
      const what = resourcesIn(webhook.rules)
      return [slips(`all ${what}: ${kind} configuration ${WEBHOOK_CONFIGURATION} has no webhook for ${webhook.path}`)]
    }
    return [
      ...ruleFindings(webhook, entries),
      ...entries.flatMap(entry => gapFindings(webhook, entry)),
      ...namespaceFindings(webhook, entries, facts),
      ...schedulerFindings(webhook, entries, config),
      ...entries.flatMap(entry => [...queueFindings(webhook, entry, facts), ...conditionFindings(entry)]),
    ]
  })
  const ofPolicy = podsEnabled(config) && statusPolicy !== undefined ? compareStatusPolicy(config, statusPolicy) : []
  return [...ofWebhooks, ...ofPolicy]
}

const slips = (text: string): Finding => ({ kind: 'slips', text })
const wasted = (text: string): Finding => ({ kind: 'wasted', text })

function pathOf({ clientConfig }: InstalledWebhook): string | undefined {
  const { url, service } = clientConfig
  return url !== undefined && URL.canParse(url) ? new URL(url).pathname : service?.path
}

const resourcesIn = (rules: readonly Rule[]): string => [...new Set(rules.map(({ of }) => of.resource))].join(', ')

/** As a sentence calls them: one entry for a path is the rule, but Jobs have one for each kind. */
const nameOf = (entries: readonly InstalledWebhook[]): string =>
  `webhook${entries.length === 1 ? '' : 's'} ${entries.map(({ name }) => name).join(', ')}`

function ruleFindings({ rules }: Webhook, entries: readonly InstalledWebhook[]): readonly Finding[] {
  return rules.flatMap(rule => {
    const missing = rule.operations.filter(operation => !entries.some(entry => isSent(entry, rule, operation)))
    if (missing.length === 0) return []
    const what = `${missing.join(', ')} of ${resourceIn(rule)}`
    return [slips(`${what}: no rule of ${nameOf(entries)} names that, so ${rule.unseen}`)]
  })
}

function isSent({ rules = [] }: InstalledWebhook, rule: Rule, operation: Operation): boolean {
  return rules.some(
    ({ apiGroups, resources, operations }) =>
      includesAny(apiGroups, [rule.of.group, '*']) &&
      includesAny(operations, [operation, '*']) &&
      includesAny(resources, waysToName(rule)),
  )
}

/** `*` alone stands for the resources without their subresources, `pods/*` for the subresources and the pods. */
function waysToName(rule: Rule): readonly string[] {
  const { of, subresource } = rule
  if (subresource === undefined) return [of.resource, `${of.resource}/*`, '*', '*/*']
  return [resourceIn(rule), `${of.resource}/*`, `*/${subresource}`, '*/*']
}

const includesAny = (values: readonly string[] | undefined, wanted: readonly string[]): boolean =>
  values?.some(value => wanted.includes(value)) ?? false

/** Of what an entry is for, the part that it does not send all the same. */
function gapFindings({ rules }: Webhook, entry: InstalledWebhook): readonly Finding[] {
  const what = sentBy(entry, rules)
  if (what === '') return []
  const findings: Finding[] = []
  if (entry.failurePolicy === 'Ignore') {
    findings.push(slips(`all ${what} while Muster is away: failurePolicy of webhook ${entry.name} is Ignore`))
  }
  if (!isEmptySelector(entry.objectSelector)) {
    findings.push(slips(`${what} whose labels do not match: webhook ${entry.name} has an objectSelector`))
  }
  return findings
}

function sentBy(entry: InstalledWebhook, rules: readonly Rule[]): string {
  return resourcesIn(rules.filter(rule => rule.operations.some(operation => isSent(entry, rule, operation))))
}

function isEmptySelector(selector: LabelSelector | null | undefined): boolean {
  return Object.keys(selector?.matchLabels ?? {}).length === 0 && (selector?.matchExpressions ?? []).length === 0
}

/** Selectors are compared by what they select here and now: two ways to write the same thing are no finding. */
function namespaceFindings(
  { queueing, rules }: Webhook,
  entries: readonly InstalledWebhook[],
  { config, namespaces }: CoverageFacts,
): readonly Finding[] {
  if (queueing === undefined) return []
  const wanted = queueing.namespaces(config)
  const missed: string[] = []
  const needless: string[] = []
  for (const { name, labels } of namespaces) {
    const isWanted = matchesSelector(wanted, labels)
    const isSelected = entries.some(({ namespaceSelector }) => matchesSelector(namespaceSelector ?? {}, labels))
    if (isWanted && !isSelected) missed.push(name)
    if (isSelected && !isWanted) needless.push(name)
  }
  const where = `namespaceSelector of ${nameOf(entries)}`
  const what = resourcesIn(rules)
  return [
    ...(missed.length > 0 ? [slips(`${what} in ${named(missed)}: ${where}`)] : []),
    ...(needless.length > 0 ? [wasted(`${what} in ${named(needless)}: ${where}`)] : []),
  ]
}

function named(namespaces: readonly string[]): string {
  const shown = namespaces.slice(0, MOST_NAMES).join(', ')
  const more = namespaces.length - MOST_NAMES
  return `namespace${namespaces.length === 1 ? '' : 's'} ${shown}${more > 0 ? ` and ${more} more` : ''}`
}

/** What a condition on the queue label keeps out is judged by its text. */
function queueFindings(
  { queueing, rules }: Webhook,
  entry: InstalledWebhook,
  facts: CoverageFacts,
): readonly Finding[] {
  const waiting = rules.filter(rule => !rule.waitsForNothing && rule.operations.some(each => isSent(entry, rule, each)))
  if (queueing === undefined || waiting.length === 0) return []
  const { manageJobsWithoutQueueName } = facts.config
  const withDefault = facts.namespacesWithDefaultQueue
  const allWait = manageJobsWithoutQueueName || withDefault.length > 0
  const onLabel = entry.matchConditions?.find(({ expression }) => expression.includes(`'${QUEUE_NAME}' in`))
  const what = `${resourcesIn(waiting)} without ${QUEUE_NAME}`
  if (onLabel !== undefined && allWait) {
    const who = manageJobsWithoutQueueName ? '' : ` in ${named(withDefault)}`
    const why = manageJobsWithoutQueueName ? 'manageJobsWithoutQueueName is true' : 'a LocalQueue named default exists'
    const cause = `condition ${onLabel.name} of webhook ${entry.name} keeps them out`
    return [slips(`${what}${who}: ${why}, but ${cause}; kubectl apply -k manifests/overlays/all-pods`)]
  }
  if (onLabel !== undefined || allWait) return []
  return [wasted(`${what}: webhook ${entry.name} has no condition on the label; kubectl apply -k manifests/`)]
}

/** The name of KAI's scheduler stands in the conditions, too: the API server asks nobody for it. */
function schedulerFindings(
  { concerns, rules }: Webhook,
  entries: readonly InstalledWebhook[],
  config: Configuration,
): readonly Finding[] {
  const { schedulerName } = config.coScheduling.kai
  if (concerns === undefined) return []
  return entries
    .flatMap(entry => (entry.matchConditions ?? []).map(condition => ({ entry, condition })))
    .filter(({ condition: { expression } }) => expression.includes('schedulerName'))
    .filter(({ condition: { expression } }) => !expression.includes(`'${schedulerName}'`))
    .map(({ entry, condition }) => {
      const where = `condition ${condition.name} of webhook ${entry.name} names another scheduler`
      return slips(`${resourcesIn(rules)} of ${schedulerName}: coScheduling.kai.schedulerName, but ${where}`)
    })
}

/** Conditions that are not ours are the API server's to judge. */
function conditionFindings({ name: webhook, matchConditions = [] }: InstalledWebhook): readonly Finding[] {
  return matchConditions
    .filter(({ expression }) => !KNOWN_MARKS.some(mark => expression.includes(mark)))
    .map(({ name }) => ({
      kind: 'unclear',
      text: `condition ${name} of webhook ${webhook} is not one of Muster's manifests`,
    }))
}

const KNOWN_MARKS = [
  `'${QUEUE_NAME}' in`,
  `'${SCHEDULING}' in`,
  'has(object.spec.jobTemplate.spec.scheduling)',
  MANAGED,
  `'${QUEUED}'`,
  "key.startsWith('kueue.x-k8s.io/')",
  MIRROR_POD,
  `'${POD_GROUP}'`,
  `'${RESOURCE_IN_USE}' in`,
  "request.subResource != 'status'",
  `request.userInfo.username != '${OFFLINE_IDENTITY}'`,
  'system:serviceaccount:kube-system:generic-garbage-collector',
  `'${BREAK_GLASS}' in request.userInfo.groups`,
  "object.spec.priorityClassName == 'system-node-critical'",
  `!(request.namespace in ['kube-system', '${SYSTEM_NAMESPACE}'])`,
]
