import type { Configuration } from '../../config/configuration.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { isDnsLabel } from '../../kube/vocabulary/formats.ts'
import type { LabelSelector, StringMap } from '../../kube/vocabulary/objects.ts'
import { matchesSelector } from '../../kube/vocabulary/selectors.ts'
import { pathText, podTemplatesIn } from '../templates.ts'
import type { Found } from './catalog.ts'
import { HOST } from './host-names.ts'
import { jobSetValues } from './jobset-values.ts'
import { podParts } from './pod-parts.ts'
import { podSpecValues } from './pod-values.ts'
import { scheduleProblem } from './schedules.ts'
import { shapeFindings } from './shapes.ts'
import { invalid, isPlaceholder, metadataValues, missing, show } from './values.ts'

interface Kind {
  readonly group: string
  readonly kind: string
}

const JOB_SET = 'jobset.x-k8s.io/JobSet'
const FINITE: readonly string[] = ['batch/Job', 'batch/CronJob', JOB_SET]
const ENDLESS: readonly string[] = [
  '/ReplicationController',
  'apps/Deployment',
  'apps/ReplicaSet',
  'apps/StatefulSet',
  'apps/DaemonSet',
]
const NAMED: readonly string[] = ['/Pod', ...FINITE, ...ENDLESS]
/** Of which webhooks say themselves that labels and annotations are no texts. */
const JUDGED: readonly string[] = ['/Pod', 'batch/Job', JOB_SET]

/** Values with which no API server takes a pod or what makes pods, and which nothing else here judges. */
export function valueFindings(object: Fields, { group, kind }: Kind, config: Configuration): readonly Found[] {
  const name = `${group}/${kind}`
  const policies = FINITE.includes(name) ? ['OnFailure', 'Never'] : ENDLESS.includes(name) ? ['Always'] : undefined
  // Its controller writes the policy of a JobSet's pods where there is none.
  const emptyIs = name === JOB_SET ? 'OnFailure' : 'Always'
  const claimed = claimsIn(object.spec)
  const templates = podTemplatesIn(object, { group, kind }, config).flatMap(({ steps, template }) => {
    const at = `${pathText(steps)}.`
    return [
      ...metadataValues(template.metadata, at),
      ...podSpecValues(template.spec, `${at}spec.`, policies, emptyIs),
      // What controllers of others add to their pods nobody here knows.
      ...(NAMED.includes(name) ? podParts(template.spec, `${at}spec.`, claimed) : []),
    ]
  })
  const texts = JUDGED.includes(name) ? [] : shapeFindings(object.metadata, 'metadata', 'metadata.')
  if (!NAMED.includes(name)) return [...texts, ...templates]
  const spec = isObject(object.spec) ? object.spec : {}
  return [
    ...texts,
    ...metadataValues(object.metadata, ''),
    ...(name === '/Pod' ? [...podSpecValues(object.spec, 'spec.'), ...podParts(object.spec, 'spec.', [])] : []),
    ...(name === 'batch/Job' ? [...jobValues(spec, 'spec.'), ...jobNames(nameIn(object), spec)] : []),
    ...(name === 'batch/CronJob' ? [...cronValues(spec), ...nameLength(nameIn(object), CRON_NAME)] : []),
    ...(name === JOB_SET ? [...setValues(spec, nameIn(object)), ...jobSetValues(spec, nameIn(object))] : []),
    ...(ENDLESS.includes(name) ? [...shapeFindings(spec, 'replicas', 'spec.'), ...selectorValues(spec, name)] : []),
    ...templates,
  ]
}

/** The volumes that a StatefulSet, or a JobSet, gives each of its pods. */
function claimsIn(spec: unknown): readonly string[] {
  const { volumeClaimTemplates, volumeClaimPolicies } = isObject(spec) ? spec : {}
  const policies = Array.isArray(volumeClaimPolicies) ? volumeClaimPolicies : []
  return [volumeClaimTemplates, ...policies.map((policy: unknown) => isObject(policy) && policy.templates)]
    .flatMap((claims): readonly unknown[] => (Array.isArray(claims) ? claims : []))
    .map(claim => nameIn(isObject(claim) ? claim : {}))
}

const SECONDS = 'activeDeadlineSeconds'
const COUNTS = ['parallelism', 'completions', 'backoffLimit', SECONDS, 'ttlSecondsAfterFinished']

function jobValues(spec: Fields, at: string, needsPolicy = true): readonly Found[] {
  const { template } = spec
  const counts = COUNTS.flatMap(key => {
    const value = spec[key]
    const bits = key === SECONDS ? 63 : 31
    const isCount = Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** bits
    if (value === undefined || value === null || isCount) return []
    if (typeof value === 'string' && isPlaceholder(value)) return []
    return [invalid(`${at}${key}`, `${key} is a whole number from 0 on, of ${bits} bits, not ${show(value)}`)]
  })
  const isIndexed = spec.completionMode === 'Indexed'
  const wrong = [
    ...counts,
    ...shapeFindings(spec, 'job', at),
    ...(isIndexed && spec.completions == null
      ? [missing(`${at}completions`, 'an Indexed Job needs the number of its completions')]
      : []),
    ...(spec.backoffLimitPerIndex != null && !isIndexed
      ? [missing(`${at}completionMode`, 'backoffLimitPerIndex needs completionMode Indexed')]
      : []),
  ]
  if (!isObject(template)) return [...wrong, missing(`${at}template`, 'a Job needs the template of its pods')]
  const { restartPolicy } = isObject(template.spec) ? template.spec : {}
  if (!needsPolicy || restartPolicy !== undefined || !isObject(template.spec)) return wrong
  const message =
    'a Job takes no pods with restartPolicy Always, which is what they have without one: write Never or OnFailure'
  return [...wrong, missing(`${at}template.spec.restartPolicy`, message)]
}

/** In the label that the pods of a Job get, and in the names of the Jobs that a CronJob makes of its own. */
const JOB_NAME = 63
const CRON_NAME = 52

const nameIn = ({ metadata }: Fields): string => {
  const { name } = isObject(metadata) ? metadata : {}
  return typeof name === 'string' && !isPlaceholder(name) ? name : ''
}

function nameLength(name: string, most: number): readonly Found[] {
  if (name.length <= most) return []
  return [invalid('metadata.name', `no API server takes a name of more than ${most} characters here`)]
}

/** The pods of an Indexed Job have their index and its name as their host name, which has no dots. */
function jobNames(name: string, { completionMode, completions }: Fields): readonly Found[] {
  const isHost = completionMode === 'Indexed' && Number.isInteger(completions) && Number(completions) > 0 && name !== ''
  const last = `${name}-${Number(completions) - 1}`
  if (!isHost || isDnsLabel(last)) return nameLength(name, JOB_NAME)
  const message = `${show(last)} would be the host name of a pod: lower-case letters, digits and "-", at most 63 of them`
  return [invalid('metadata.name', message)]
}

function cronValues(cron: Fields): readonly Found[] {
  const { schedule, jobTemplate } = cron
  const { spec } = isObject(jobTemplate) ? jobTemplate : {}
  const problem = typeof schedule !== 'string' || /[${]/.test(schedule) ? undefined : scheduleProblem(schedule)
  return [
    ...shapeFindings(cron, 'cron', 'spec.'),
    ...(schedule === undefined ? [missing('spec.schedule', 'a CronJob needs a schedule, as "0 3 * * *"')] : []),
    ...(problem === undefined ? [] : [invalid('spec.schedule', `${show(schedule)} is no schedule: ${problem}`)]),
    ...(isObject(spec) ? jobValues(spec, 'spec.jobTemplate.spec.') : []),
  ]
}

/** Its controller writes the restart policy of its Jobs where there is none. */
function setValues({ replicatedJobs }: Fields, set: string): readonly Found[] {
  if (!Array.isArray(replicatedJobs) || replicatedJobs.length === 0) {
    return [missing('spec.replicatedJobs', 'a JobSet needs the list of its Jobs')]
  }
  const names = new Set<unknown>()
  return replicatedJobs.flatMap((each: unknown, index): readonly Found[] => {
    if (!isObject(each)) return []
    const { name, replicas, template } = each
    const at = `spec.replicatedJobs[${index}]`
    const isTwice = name !== undefined && names.has(name)
    names.add(name)
    const isCount = replicas === undefined || replicas === null || Number.isInteger(replicas)
    const last = `${set}-${String(name)}-${Math.max(Number(replicas ?? 1) - 1, 0)}`
    const isNamed = set === '' || typeof name !== 'string' || isPlaceholder(name) || !isCount || HOST.test(last)
    return [
      ...(isTwice ? [invalid(`${at}.name`, `two of its Jobs have the name ${show(name)}`)] : []),
      ...(isNamed
        ? []
        : [invalid(`${at}.name`, `a Job of it would be called ${show(last)}, which no API server takes`)]),
      ...(isCount ? [] : [invalid(`${at}.replicas`, `replicas is a whole number, not ${show(replicas)}`)]),
      ...(isObject(template) && isObject(template.spec)
        ? jobValues(template.spec, `${at}.template.spec.`, false)
        : [missing(`${at}.template.spec`, 'the template of a Job needs its spec, with the template of its pods')]),
    ]
  })
}

/** A selector that does not select the pods of the template. */
function selectorValues({ selector, template }: Fields, kind: string): readonly Found[] {
  const isPlain = kind === '/ReplicationController'
  if (!isObject(template)) return [missing('spec.template', 'it needs the template of its pods')]
  if (!isObject(selector)) return isPlain ? [] : [missing('spec.selector', 'it needs a selector that selects its pods')]
  if (!isPlain && [selector.matchLabels, selector.matchExpressions].every(isEmpty)) {
    return [invalid('spec.selector', 'no API server takes an empty selector: it would select the pods of others')]
  }
  const wanted = isPlain ? selector : selector.matchLabels
  const { labels } = isObject(template.metadata) ? template.metadata : {}
  const theirs = new Map(Object.entries(isObject(labels) ? labels : {}))
  const at = isPlain ? 'spec.selector' : 'spec.selector.matchLabels'
  const expressions = isPlain ? [] : expressionValues(selector.matchExpressions, isObject(labels) ? labels : {})
  const named = Object.entries(isObject(wanted) ? wanted : {}).flatMap(([key, value]) => {
    if (theirs.get(key) === value) return []
    return [invalid(`${at}[${key}]`, `the pods of its template do not have the label ${key}: ${show(value)}`)]
  })
  return [...named, ...expressions]
}

function expressionValues(expressions: unknown, labels: Fields): readonly Found[] {
  if (!Array.isArray(expressions)) return []
  return expressions.flatMap((expression: unknown, index): readonly Found[] => {
    const field = `spec.selector.matchExpressions[${index}]`
    try {
      const selector = { matchExpressions: [expression] } as unknown as LabelSelector
      if (!isObject(expression) || matchesSelector(selector, labels as StringMap)) return []
      return [invalid(field, 'it does not select the pods of the template')]
    } catch (error) {
      return [invalid(field, error instanceof Error ? error.message : String(error))]
    }
  })
}

const isEmpty = (value: unknown): boolean => value == null || Object.keys(value).length === 0
