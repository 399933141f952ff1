import type { Configuration } from '../../config/configuration.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { nearest } from '../../kube/vocabulary/nearest.ts'
import { QUEUE_MARK } from '../../workload/pod-facts.ts'
import { podTemplatePaths } from '../template-paths.ts'
import { pathText, podTemplatesIn } from '../templates.ts'
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
  'JobSet spec': words(
    'replicatedJobs network successPolicy failurePolicy startupPolicy suspend coordinator managedBy ' +
      'ttlSecondsAfterFinished dependsOn volumeClaimPolicies scheduling',
  ),
  'replicated Job': words('name replicas template groupName dependsOn'),
  'spec of replicas': words(
    'replicas selector template minReadySeconds strategy revisionHistoryLimit progressDeadlineSeconds paused ' +
      'serviceName podManagementPolicy updateStrategy volumeClaimTemplates ordinals ' +
      'persistentVolumeClaimRetentionPolicy',
  ),
  container: words(
    'name image command args workingDir ports envFrom env resources resizePolicy restartPolicy restartPolicyRules ' +
      'volumeMounts volumeDevices livenessProbe readinessProbe startupProbe lifecycle terminationMessagePath ' +
      'terminationMessagePolicy imagePullPolicy securityContext stdin stdinOnce tty targetContainerName',
  ),
  resources: words('requests limits claims'),
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

/** Kinds whose spec holds replicas of one template. */
const REPLICATED: readonly string[] = [
  '/ReplicationController',
  'apps/Deployment',
  'apps/ReplicaSet',
  'apps/StatefulSet',
  'apps/DaemonSet',
]

/** Fields that no API server knows: a slip, or the right name at the wrong level. kubectl drops them or refuses them. */
export function fieldFindings(
  object: Fields,
  { group, kind }: { readonly group: string; readonly kind: string },
  config: Configuration,
): readonly Found[] {
  const name = `${group}/${kind}`
  const own = ownFields(object, name)
  const templates = podTemplatesIn(object, { group, kind }, config)
  if (templates.length === 0 && own.length === 0) {
    return wayFindings(object, podTemplatePaths({ group, kind }, config))
  }
  const theirs = templates.flatMap(({ steps, template }) => {
    const at = `${pathText(steps)}.`
    return [...level(template, 'template', at), ...podFields(template, at)]
  })
  return [...own, ...theirs]
}

/** Of the object itself, down to its pod templates. */
function ownFields(object: Fields, kind: string): readonly Found[] {
  if (REPLICATED.includes(kind)) {
    return [
      ...level(object, 'object', ''),
      ...level(object.metadata, 'metadata', 'metadata.'),
      ...level(object.spec, 'spec of replicas', 'spec.'),
    ]
  }
  switch (kind) {
    case 'jobset.x-k8s.io/JobSet':
      return [
        ...level(object, 'object', ''),
        ...level(object.metadata, 'metadata', 'metadata.'),
        ...level(object.spec, 'JobSet spec', 'spec.'),
        ...listOf(fieldsOf(object.spec).replicatedJobs).flatMap((each, index) => {
          const at = `spec.replicatedJobs[${index}].`
          const { template } = fieldsOf(each)
          return [
            ...level(each, 'replicated Job', at),
            ...level(template, 'template', `${at}template.`),
            ...jobFields(fieldsOf(template), `${at}template.`),
          ]
        }),
      ]
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
  const containers = ['containers', 'initContainers'].flatMap(key =>
    listOf(fieldsOf(spec)[key]).flatMap((container, index) => {
      const within = `${at}spec.${key}[${index}].`
      const { resources } = fieldsOf(container)
      return [...level(container, 'container', within), ...level(resources, 'resources', `${within}resources.`)]
    }),
  )
  return [...level(metadata, 'metadata', `${at}metadata.`), ...level(spec, 'pod spec', `${at}spec.`), ...containers]
}

function jobFields({ metadata, spec }: Fields, at: string): readonly Found[] {
  return [...level(metadata, 'metadata', `${at}metadata.`), ...level(spec, 'Job spec', `${at}spec.`)]
}

/** A slip on the way to the pod templates of a kind: they would be neither reviewed nor made. */
function wayFindings(object: Fields, patterns: readonly string[]): readonly Found[] {
  for (const pattern of patterns) {
    let value: Fields = object
    let at = ''
    for (const step of pattern.split('.')) {
      if (step === '*' || step.endsWith('[]')) break
      if (Object.hasOwn(value, step)) {
        value = fieldsOf(value[step])
        at += `${step}.`
        continue
      }
      const close = nearest(step, Object.keys(value))
      if (close === undefined) break
      return [
        { code: 'UnknownField', message: `there is no field ${close} here; did you mean ${step}?`, field: at + close },
      ]
    }
  }
  return []
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
  if (key === 'queueName') return `a queue is named by the label ${QUEUE_MARK.key}`
  if (key === 'template' && name === 'template') return 'it belongs into the spec'
  const home = HOMES.get(key)
  if (home !== undefined) return `it belongs into ${home === 'metadata' ? 'metadata' : `the ${home}`}`
  if (name === 'object' && key === 'template') return undefined
  const close = nearest(key, [...known])
  return close === undefined ? undefined : `did you mean ${close}?`
}

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
