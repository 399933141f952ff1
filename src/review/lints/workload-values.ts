import type { Configuration } from '../../config/configuration.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { pathText, podTemplatesIn } from '../templates.ts'
import type { Found } from './catalog.ts'
import { invalid, metadataValues, missing, podSpecValues, show } from './values.ts'

interface Kind {
  readonly group: string
  readonly kind: string
}

const FINITE: readonly string[] = ['batch/Job', 'batch/CronJob', 'jobset.x-k8s.io/JobSet']
const ENDLESS: readonly string[] = [
  '/ReplicationController',
  'apps/Deployment',
  'apps/ReplicaSet',
  'apps/StatefulSet',
  'apps/DaemonSet',
]
const NAMED: readonly string[] = ['/Pod', ...FINITE, ...ENDLESS]

/** Values with which no API server takes a pod or what makes pods, and which nothing else here judges. */
export function valueFindings(object: Fields, { group, kind }: Kind, config: Configuration): readonly Found[] {
  const name = `${group}/${kind}`
  const policies = FINITE.includes(name) ? ['OnFailure', 'Never'] : ENDLESS.includes(name) ? ['Always'] : undefined
  const templates = podTemplatesIn(object, { group, kind }, config).flatMap(({ steps, template }) => {
    const at = `${pathText(steps)}.`
    return [...metadataValues(template.metadata, at), ...podSpecValues(template.spec, `${at}spec.`, policies)]
  })
  if (!NAMED.includes(name)) return templates
  const spec = isObject(object.spec) ? object.spec : {}
  return [
    ...metadataValues(object.metadata, ''),
    ...(name === '/Pod' ? podSpecValues(object.spec, 'spec.') : []),
    ...(name === 'batch/Job' ? jobValues(spec, 'spec.') : []),
    ...(name === 'batch/CronJob' ? cronValues(spec) : []),
    ...(name === 'jobset.x-k8s.io/JobSet' ? setValues(spec) : []),
    ...(ENDLESS.includes(name) ? selectorValues(spec, name) : []),
    ...templates,
  ]
}

const COUNTS = ['parallelism', 'completions', 'backoffLimit', 'activeDeadlineSeconds', 'ttlSecondsAfterFinished']

function jobValues(spec: Fields, at: string, needsPolicy = true): readonly Found[] {
  const { template } = spec
  const counts = COUNTS.flatMap(key => {
    const value = spec[key]
    if (value === undefined || value === null || (Number.isInteger(value) && Number(value) >= 0)) return []
    return [invalid(`${at}${key}`, `${key} is a whole number from 0 on, not ${show(value)}`)]
  })
  if (!isObject(template)) return [...counts, missing(`${at}template`, 'a Job needs the template of its pods')]
  const { restartPolicy } = isObject(template.spec) ? template.spec : {}
  if (!needsPolicy || restartPolicy !== undefined || !isObject(template.spec)) return counts
  const message =
    'a Job takes no pods with restartPolicy Always, which is what they have without one: write Never or OnFailure'
  return [...counts, missing(`${at}template.spec.restartPolicy`, message)]
}

const SCHEDULE =
  /^\s*(?:@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)|@every \S+|[\d*/,\-A-Za-z?]+(?:\s+[\d*/,\-A-Za-z?]+){4})\s*$/

function cronValues({ schedule, jobTemplate }: Fields): readonly Found[] {
  const { spec } = isObject(jobTemplate) ? jobTemplate : {}
  const isRight = typeof schedule !== 'string' || /[${]/.test(schedule) || SCHEDULE.test(schedule)
  return [
    ...(schedule === undefined ? [missing('spec.schedule', 'a CronJob needs a schedule, as "0 3 * * *"')] : []),
    ...(isRight
      ? []
      : [invalid('spec.schedule', `${show(schedule)} is no schedule: it has five fields, as "0 3 * * *"`)]),
    ...(isObject(spec) ? jobValues(spec, 'spec.jobTemplate.spec.') : []),
  ]
}

/** Its controller writes the restart policy of its Jobs where there is none. */
function setValues({ replicatedJobs }: Fields): readonly Found[] {
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
    return [
      ...(isTwice ? [invalid(`${at}.name`, `two of its Jobs have the name ${show(name)}`)] : []),
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
  const wanted = isPlain ? selector : selector.matchLabels
  const { labels } = isObject(template.metadata) ? template.metadata : {}
  const theirs = new Map(Object.entries(isObject(labels) ? labels : {}))
  const at = isPlain ? 'spec.selector' : 'spec.selector.matchLabels'
  return Object.entries(isObject(wanted) ? wanted : {}).flatMap(([key, value]) => {
    if (theirs.get(key) === value) return []
    return [invalid(`${at}[${key}]`, `the pods of its template do not have the label ${key}: ${show(value)}`)]
  })
}
