import { isLabelKey, isLabelValue, isSubdomain, MAX_LABEL_LENGTH } from '../kube/vocabulary/formats.ts'
import { KNOWN_FRAMEWORKS } from '../kube/vocabulary/frameworks.ts'
import { NAMESPACE_NAME_LABEL, SYSTEM_NAMESPACE } from '../kube/vocabulary/names.ts'
import { nearest } from '../kube/vocabulary/nearest.ts'
import type { LabelSelector, StringMap, Toleration } from '../kube/vocabulary/objects.ts'
import { parseQuantity, QuantityError } from '../kube/vocabulary/quantities.ts'
import { matchesSelector } from '../kube/vocabulary/selectors.ts'
import {
  type Configuration,
  DEFAULT_CONFIGURATION,
  type QueueConfiguration,
  type SchedulingAllowList,
} from './configuration.ts'
import { checkControllers, controllerWarnings } from './controllers.ts'
import { shown } from './schema-errors.ts'
import { type ConfigError, formatConfigError, type Path, type Report, type Source } from './source.ts'

/** The file after the schema has checked it: the shape is right, anything may be missing. */
export interface GivenConfiguration {
  readonly engine?: 'builtin' | 'kueue'
  readonly manageJobsWithoutQueueName?: boolean
  readonly integrations?: {
    readonly frameworks?: readonly string[]
    readonly podOptions?: { readonly namespaceSelector?: LabelSelector; readonly podSelector?: LabelSelector }
  }
  readonly guard?: Partial<Configuration['guard']>
  readonly queues?: readonly GivenQueue[]
  readonly unlistedQueues?: Configuration['unlistedQueues']
  readonly review?: Partial<Configuration['review']>
  readonly coScheduling?: GivenCoScheduling
  readonly jobs?: {
    readonly scheduling?: {
      readonly allow?: Partial<SchedulingAllowList>
      readonly namespaces?: readonly {
        readonly selector: LabelSelector
        readonly allow: Partial<SchedulingAllowList>
      }[]
    }
    readonly parallelism?: Partial<Configuration['jobs']['parallelism']>
  }
}

interface GivenCoScheduling extends Partial<Pick<CoScheduling, 'backend' | 'jobs'>> {
  readonly kubernetes?: Partial<CoScheduling['kubernetes']>
  readonly kai?: Partial<CoScheduling['kai']>
}

type CoScheduling = Configuration['coScheduling']

type GivenQueue = Pick<QueueConfiguration, 'name'> & Partial<QueueConfiguration>

/** What a schema cannot say: rules over several fields, and formats that need an explanation. */
export function ruleErrors(given: GivenConfiguration, source: Source): readonly ConfigError[] {
  const errors: ConfigError[] = []
  const report = (path: Path, message: string): void => {
    errors.push(source.error(path, message))
  }
  const podOptions = given.integrations?.podOptions
  checkSelector(podOptions?.namespaceSelector, ['integrations', 'podOptions', 'namespaceSelector'], report)
  checkSelector(podOptions?.podSelector, ['integrations', 'podOptions', 'podSelector'], report)
  checkControllers(given.guard?.controllers ?? {}, given.integrations?.frameworks, report)
  checkQueues(given.queues ?? [], report)
  checkSchedulers(given.coScheduling ?? {}, report)
  const scheduling = given.jobs?.scheduling
  checkAllow(scheduling?.allow, ['jobs', 'scheduling', 'allow'], report)
  for (const [index, entry] of (scheduling?.namespaces ?? []).entries()) {
    checkSelector(entry.selector, ['jobs', 'scheduling', 'namespaces', index, 'selector'], report)
    checkAllow(entry.allow, ['jobs', 'scheduling', 'namespaces', index, 'allow'], report)
  }
  return errors
}

const LABEL_KEY = 'is not a label key: write it as name or domain/name, with letters, digits, "-", "_" and "."'
const LABEL_VALUE =
  'is not a label value: at most 63 letters, digits, "-", "_" and ".", and a letter or digit at both ends'

function checkSelector(selector: LabelSelector | undefined, path: Path, report: Report): void {
  checkLabels(selector?.matchLabels, [...path, 'matchLabels'], report)
  for (const [index, { key, operator, values }] of (selector?.matchExpressions ?? []).entries()) {
    const at: Path = [...path, 'matchExpressions', index]
    if (!isLabelKey(key)) report([...at, 'key'], `${shown(key)} ${LABEL_KEY}`)
    const needsValues = operator === 'In' || operator === 'NotIn'
    const count = values?.length ?? 0
    if (needsValues && count === 0) report([...at, 'values'], `operator ${operator} needs at least one value`)
    if (!needsValues && count > 0) report([...at, 'values'], `operator ${operator} takes no values: remove them`)
    for (const [position, value] of (values ?? []).entries()) {
      if (!isLabelValue(value)) report([...at, 'values', position], `${shown(value)} ${LABEL_VALUE}`)
    }
  }
}

function checkLabels(labels: StringMap | null | undefined, path: Path, report: Report): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    if (!isLabelKey(key)) report([...path, key], `${shown(key)} ${LABEL_KEY}`)
    else if (!isLabelValue(value)) report([...path, key], `${shown(value)} ${LABEL_VALUE}`)
  }
}

function checkQueues(queues: readonly GivenQueue[], report: Report): void {
  const seen = new Map<string, number>()
  for (const [index, queue] of queues.entries()) {
    const path: Path = ['queues', index, 'name']
    const earlier = seen.get(queue.name)
    // Pods name their queue in a label, so a name that no label can hold would wait for a pod that never comes.
    if (!isSubdomain(queue.name) || queue.name.length > MAX_LABEL_LENGTH) {
      report(path, `${shown(queue.name)} is not a queue name: at most 63 lower-case letters, digits, "-" and "."`)
    } else if (earlier !== undefined) {
      report(path, `${shown(queue.name)} is already the name of queues[${earlier}]`)
    } else seen.set(queue.name, index)
    for (const [resource, amount] of Object.entries(queue.limits ?? {})) checkLimit(resource, amount, index, report)
    checkLabels(queue.nodeLabels, ['queues', index, 'nodeLabels'], report)
    checkSelector(queue.namespaces, ['queues', index, 'namespaces'], report)
    for (const [position, toleration] of (queue.tolerations ?? []).entries()) {
      checkToleration(toleration, ['queues', index, 'tolerations', position], report)
    }
  }
}

/** What the API server would refuse when the first pod of the queue is lifted is refused here, before it starts. */
function checkToleration({ key, operator, value, effect, tolerationSeconds }: Toleration, path: Path, report: Report) {
  if (key === undefined) {
    if (operator !== 'Exists') report(path, 'has no key: only operator Exists tolerates every taint')
  } else if (!isLabelKey(key)) report([...path, 'key'], `${shown(key)} ${LABEL_KEY}`)
  if (operator === 'Exists' && value) report([...path, 'value'], 'operator Exists takes no value: remove it')
  else if (!isLabelValue(value ?? '')) report([...path, 'value'], `${shown(value)} ${LABEL_VALUE}`)
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    report([...path, 'tolerationSeconds'], 'needs effect NoExecute: no other effect ends with time')
  }
}

function checkLimit(resource: string, amount: string | number, queue: number, report: Report): void {
  const path: Path = ['queues', queue, 'limits', resource]
  if (!isLabelKey(resource)) {
    report(path, `${shown(resource)} is not a resource name: write it as cpu, memory, pods or domain/name`)
    return
  }
  // Above 2^53 the YAML number is no longer the one that was written; as a string it stays exact.
  if (typeof amount === 'number' && Number.isInteger(amount) && !Number.isSafeInteger(amount)) {
    report(path, 'is too large for a YAML number: put it in quotes')
    return
  }
  try {
    if (parseQuantity(amount).nano < 0n) report(path, `${shown(amount)} is negative: a limit is 0 or more`)
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error
    report(path, error.message)
  }
}

/** One scheduler cannot place by two kinds of groups: its pods would go to whichever was asked first. */
function checkSchedulers({ kubernetes, kai }: GivenCoScheduling, report: Report): void {
  const { coScheduling } = DEFAULT_CONFIGURATION
  const names = kubernetes?.schedulerNames ?? coScheduling.kubernetes.schedulerNames
  const index = names.indexOf(kai?.schedulerName ?? coScheduling.kai.schedulerName)
  if (index < 0) return
  const at: Path = kubernetes?.schedulerNames
    ? ['coScheduling', 'kubernetes', 'schedulerNames', index]
    : ['coScheduling', 'kai', 'schedulerName']
  report(at, `${shown(names[index])} is the scheduler of both backends: name it in one of them`)
}

function checkAllow(allow: Partial<SchedulingAllowList> | undefined, path: Path, report: Report): void {
  const keys = allow?.topologyKeys ?? []
  for (const [index, key] of keys.entries()) {
    const at: Path = [...path, 'topologyKeys', index]
    if (key === '*') {
      if (keys.length > 1) report(at, '"*" allows every key and must stand alone: remove it or the other keys')
    } else if (!isLabelKey(key)) report(at, `${shown(key)} ${LABEL_KEY}`)
  }
}

/** What is legal and probably not meant. */
export function warningsOf(given: GivenConfiguration, source: Source): readonly string[] {
  const warnings: string[] = []
  const warn = (path: Path, message: string): void => {
    warnings.push(formatConfigError(source.error(path, message)))
  }
  for (const [index, name] of (given.integrations?.frameworks ?? []).entries()) {
    // Kueue lets others plug in, so an unknown name may be right.
    if (KNOWN_FRAMEWORKS.includes(name)) continue
    const close = nearest(name, KNOWN_FRAMEWORKS)
    const hint = close === undefined ? '' : `; did you mean "${close}"?`
    warn(['integrations', 'frameworks', index], `${shown(name)} is not a framework name that Kueue ships${hint}`)
  }
  controllerWarnings(given.guard?.controllers ?? {}, warn)
  // Kueue refuses such a configuration. Gated system pods are how a cluster locks itself out: after a full restart
  // the pods that Muster needs would wait for Muster.
  const selector = given.integrations?.podOptions?.namespaceSelector
  for (const namespace of selector === undefined ? [] : ['kube-system', SYSTEM_NAMESPACE]) {
    if (!matchesSelector(selector, { [NAMESPACE_NAME_LABEL]: namespace })) continue
    warn(
      ['integrations', 'podOptions', 'namespaceSelector'],
      `selects ${namespace}, whose pods may be needed before Muster can lift a gate: exclude it with ` +
        `{key: ${NAMESPACE_NAME_LABEL}, operator: NotIn, values: [kube-system, ${SYSTEM_NAMESPACE}]}`,
    )
  }
  return warnings
}
