import type { Configuration } from '../config/configuration.ts'
import { MANAGED, OFFLINE_IDENTITY, QUEUE_NAME, WEBHOOK_CONFIGURATION } from '../kube/vocabulary/names.ts'
import type { LabelSelector, StringMap } from '../kube/vocabulary/objects.ts'
import { matchesSelector } from '../kube/vocabulary/selectors.ts'
import type { InstalledConfiguration, InstalledWebhook } from '../kube/vocabulary/webhook-configurations.ts'

/**
 * - `slips`: pods that Muster's configuration wants queued and that the API server does not send.
 * - `wasted`: pods that are sent although Muster's configuration ignores them.
 * - `unclear`: a condition that nobody but the API server can judge.
 */
export interface Finding {
  readonly kind: 'slips' | 'wasted' | 'unclear'
  readonly text: string
}

export interface CoverageFacts {
  readonly config: Configuration
  readonly mutating: InstalledConfiguration | undefined
  readonly validating: InstalledConfiguration | undefined
  readonly namespaces: Iterable<{ readonly name: string; readonly labels: StringMap }>
  readonly namespacesWithDefaultQueue: readonly string[]
}

const NEEDED = [
  { kind: 'mutating', path: '/mutate/pods', operations: ['CREATE'] },
  { kind: 'validating', path: '/validate/pods', operations: ['CREATE', 'UPDATE'] },
] as const

/** The rooms in which installed conditions can differ from ours before a person is bored by the list. */
const MOST_NAMES = 5

/**
 * Two configurations decide which pods are queued: the API server's, which sends them, and Muster's, which judges them.
 * Where they disagree a pod runs past its queue, or a review is made for nothing. This says where.
 */
export function compareCoverage(facts: CoverageFacts): readonly Finding[] {
  if (!facts.config.integrations.frameworks.includes('pod')) return []
  return NEEDED.flatMap(({ kind, path, operations }) => {
    const webhook = facts[kind]?.webhooks?.find(candidate => pathOf(candidate) === path)
    if (webhook === undefined) {
      return [slips(`all pods: ${kind} configuration ${WEBHOOK_CONFIGURATION} has no webhook for ${path}`)]
    }
    return [...ruleFindings(webhook, operations), ...namespaceFindings(webhook, facts), ...podFindings(webhook, facts)]
  })
}

const slips = (text: string): Finding => ({ kind: 'slips', text })

function pathOf({ clientConfig }: InstalledWebhook): string | undefined {
  const { url, service } = clientConfig
  return url !== undefined && URL.canParse(url) ? new URL(url).pathname : service?.path
}

function ruleFindings(webhook: InstalledWebhook, operations: readonly string[]): readonly Finding[] {
  const covers = (operation: string): boolean =>
    (webhook.rules ?? []).some(
      rule => includes(rule.apiGroups, '') && includes(rule.resources, 'pods') && includes(rule.operations, operation),
    )
  const findings = operations
    .filter(operation => !covers(operation))
    .map(operation => slips(`${operation} of pods: no rule of webhook ${webhook.name} names it`))
  if (webhook.failurePolicy === 'Ignore') {
    findings.push(slips(`all pods while Muster is away: failurePolicy of webhook ${webhook.name} is Ignore`))
  }
  if (!isEmptySelector(webhook.objectSelector)) {
    findings.push(slips(`pods whose labels do not match: webhook ${webhook.name} has an objectSelector`))
  }
  return findings
}

const includes = (values: readonly string[] | undefined, wanted: string): boolean =>
  values?.some(value => value === wanted || value === '*') ?? false

function isEmptySelector(selector: LabelSelector | null | undefined): boolean {
  return Object.keys(selector?.matchLabels ?? {}).length === 0 && (selector?.matchExpressions ?? []).length === 0
}

/** Selectors are compared by what they select here and now: two ways to write the same thing are no finding. */
function namespaceFindings(webhook: InstalledWebhook, { config, namespaces }: CoverageFacts): readonly Finding[] {
  const wanted = config.integrations.podOptions.namespaceSelector
  const missed: string[] = []
  const needless: string[] = []
  for (const { name, labels } of namespaces) {
    const isWanted = matchesSelector(wanted, labels)
    const isSent = matchesSelector(webhook.namespaceSelector ?? {}, labels)
    if (isWanted && !isSent) missed.push(name)
    if (isSent && !isWanted) needless.push(name)
  }
  return [
    ...(missed.length > 0 ? [slips(`pods in ${named(missed)}: namespaceSelector of webhook ${webhook.name}`)] : []),
    ...(needless.length > 0
      ? [{ kind: 'wasted' as const, text: `pods in ${named(needless)}: namespaceSelector of webhook ${webhook.name}` }]
      : []),
  ]
}

function named(namespaces: readonly string[]): string {
  const shown = namespaces.slice(0, MOST_NAMES).join(', ')
  const more = namespaces.length - MOST_NAMES
  return `namespace${namespaces.length === 1 ? '' : 's'} ${shown}${more > 0 ? ` and ${more} more` : ''}`
}

/** What a condition on our labels keeps out is judged by its text; other conditions are the API server's to judge. */
function podFindings(webhook: InstalledWebhook, facts: CoverageFacts): readonly Finding[] {
  const findings: Finding[] = []
  const { manageJobsWithoutQueueName } = facts.config
  const withDefault = facts.namespacesWithDefaultQueue
  const conditions = webhook.matchConditions ?? []
  const onLabels = conditions.find(({ expression }) => expression.includes(`'${QUEUE_NAME}' in`))
  if (onLabels !== undefined && (manageJobsWithoutQueueName || withDefault.length > 0)) {
    const who = manageJobsWithoutQueueName ? '' : ` in ${named(withDefault)}`
    const why = manageJobsWithoutQueueName ? 'manageJobsWithoutQueueName is true' : 'a LocalQueue named default exists'
    findings.push(
      slips(
        `pods without ${QUEUE_NAME}${who}: ${why}, but condition ${onLabels.name} of webhook ${webhook.name} keeps them out; kubectl apply -k manifests/overlays/all-pods`,
      ),
    )
  }
  if (onLabels === undefined && !manageJobsWithoutQueueName && withDefault.length === 0) {
    const text = `pods without ${QUEUE_NAME}: webhook ${webhook.name} has no condition on the label; kubectl apply -k manifests/`
    findings.push({ kind: 'wasted', text })
  }
  for (const { name, expression } of conditions) {
    if (KNOWN_MARKS.some(mark => expression.includes(mark))) continue
    findings.push({
      kind: 'unclear',
      text: `condition ${name} of webhook ${webhook.name} is not one of Muster's manifests`,
    })
  }
  return findings
}

const KNOWN_MARKS = [
  `'${QUEUE_NAME}' in`,
  MANAGED,
  'kubernetes.io/config.mirror',
  "request.subResource != 'status'",
  `request.userInfo.username != '${OFFLINE_IDENTITY}'`,
]
