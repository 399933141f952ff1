import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { nearest } from '../../kube/vocabulary/nearest.ts'
import type { Found } from './catalog.ts'
import { PREFIXES } from './known-keys.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** The fields that people write, level by level. A field of a later Kubernetes is let pass unless it looks like one. */
const LEVELS = {
  object: words('apiVersion kind metadata spec status'),
  metadata: words(
    'name generateName namespace labels annotations finalizers ownerReferences uid resourceVersion generation ' +
      'creationTimestamp deletionTimestamp deletionGracePeriodSeconds managedFields selfLink',
  ),
  'pod spec': words(
    'containers initContainers ephemeralContainers volumes restartPolicy terminationGracePeriodSeconds ' +
      'activeDeadlineSeconds dnsPolicy nodeSelector serviceAccountName serviceAccount automountServiceAccountToken ' +
      'nodeName hostNetwork hostPID hostIPC shareProcessNamespace securityContext imagePullSecrets hostname subdomain ' +
      'affinity schedulerName tolerations hostAliases priorityClassName priority dnsConfig readinessGates ' +
      'runtimeClassName enableServiceLinks preemptionPolicy overhead topologySpreadConstraints setHostnameAsFQDN os ' +
      'hostUsers schedulingGates schedulingGroup resourceClaims resources hostnameOverride workloadRef',
  ),
  'Job spec': words(
    'parallelism completions activeDeadlineSeconds podFailurePolicy successPolicy backoffLimit backoffLimitPerIndex ' +
      'maxFailedIndexes selector manualSelector template ttlSecondsAfterFinished completionMode suspend ' +
      'podReplacementPolicy managedBy scheduling',
  ),
  'CronJob spec': words(
    'schedule timeZone startingDeadlineSeconds concurrencyPolicy suspend jobTemplate successfulJobsHistoryLimit ' +
      'failedJobsHistoryLimit',
  ),
  template: words('metadata spec'),
} as const

type Level = keyof typeof LEVELS
/** Where a field that stands at the wrong level is looked for: those that are nowhere else. */
const TELLING: readonly (readonly [string, Level])[] = [
  ...['labels', 'annotations', 'generateName'].map(key => [key, 'metadata'] as const),
  ...['containers', 'initContainers', 'restartPolicy', 'nodeSelector', 'tolerations', 'schedulingGates'].map(
    key => [key, 'pod spec'] as const,
  ),
  ...['parallelism', 'completions', 'completionMode', 'scheduling', 'backoffLimit'].map(
    key => [key, 'Job spec'] as const,
  ),
  ...['schedule', 'jobTemplate'].map(key => [key, 'CronJob spec'] as const),
]
const HOMES: ReadonlyMap<string, Level> = new Map(TELLING)

/** Fields that no API server knows: a slip, or the right name at the wrong level. kubectl drops them or refuses them. */
export function fieldFindings(object: Fields, kind: string): readonly Found[] {
  switch (kind) {
    case '/Pod':
      return [...level(object, 'object', ''), ...podFields(object, '')]
    case 'batch/Job':
      return [...level(object, 'object', ''), ...jobFields(object, '')]
    case 'batch/CronJob': {
      const spec = fieldsOf(object.spec)
      const jobTemplate = fieldsOf(spec.jobTemplate)
      return [
        ...level(object, 'object', ''),
        ...level(object.metadata, 'metadata', 'metadata.'),
        ...level(spec, 'CronJob spec', 'spec.'),
        ...level(jobTemplate, 'template', 'spec.jobTemplate.'),
        ...jobFields(jobTemplate, 'spec.jobTemplate.'),
      ]
    }
    default:
      return []
  }
}

function podFields({ metadata, spec }: Fields, at: string): readonly Found[] {
  return [...level(metadata, 'metadata', `${at}metadata.`), ...level(spec, 'pod spec', `${at}spec.`)]
}

function jobFields({ metadata, spec }: Fields, at: string): readonly Found[] {
  const template = fieldsOf(fieldsOf(spec).template)
  return [
    ...level(metadata, 'metadata', `${at}metadata.`),
    ...level(spec, 'Job spec', `${at}spec.`),
    ...level(template, 'template', `${at}spec.template.`),
    ...podFields(template, `${at}spec.template.`),
  ]
}

function level(value: unknown, name: Level, at: string): readonly Found[] {
  if (!isObject(value)) return []
  const known = LEVELS[name]
  const found: Found[] = []
  for (const key of Object.keys(value)) {
    if (known.has(key)) continue
    const hint = hintFor(key, name, known)
    if (hint === undefined) continue
    const field = /^\w+$/.test(key) ? at + key : `${at.replace(/\.$/, '')}[${key}]`
    found.push({ code: 'UnknownField', message: `there is no field ${key} here; ${hint}`, field })
  }
  return found
}

function hintFor(key: string, name: Level, known: ReadonlySet<string>): string | undefined {
  if (PREFIXES.some(prefix => key.startsWith(prefix))) return 'keys like this stand in metadata.labels or annotations'
  const home = HOMES.get(key)
  if (home !== undefined) return `it belongs into ${home === 'metadata' ? 'metadata' : `the ${home}`}`
  if (name === 'object' && key === 'template') return undefined
  const close = nearest(key, [...known])
  return close === undefined ? undefined : `did you mean ${close}?`
}

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})
