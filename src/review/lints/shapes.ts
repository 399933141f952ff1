import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import type { Found } from './catalog.ts'
import { invalid, isPlaceholder, show } from './values.ts'

const INT32 = 2 ** 31 - 1

/**
 * What the fields are that people write, as the API has them: `text`, `flag`, `map`, whole numbers by their range, `[]`
 * behind what there is a list of, `{}` behind what a map holds, words with `|` between them, or another shape. A field
 * that is not here may be anything, and so may one that is null: it is as good as left out.
 */
const SHAPES = {
  metadata: 'labels:text{} annotations:text{} finalizers:text[]',
  pod:
    'containers:container[] initContainers:container[] volumes:volume[] tolerations:toleration[] schedulingGates:gate[] ' +
    'nodeSelector:text{} serviceAccountName:text serviceAccount:text nodeName:text hostname:text subdomain:text ' +
    'schedulerName:text priorityClassName:text runtimeClassName:text terminationGracePeriodSeconds:integer ' +
    `activeDeadlineSeconds:1..${INT32} priority:${-INT32 - 1}..${INT32} automountServiceAccountToken:flag ` +
    'hostNetwork:flag hostPID:flag hostIPC:flag hostUsers:flag shareProcessNamespace:flag setHostnameAsFQDN:flag ' +
    'enableServiceLinks:flag dnsPolicy:ClusterFirst|ClusterFirstWithHostNet|Default|None ' +
    'preemptionPolicy:PreemptLowerPriority|Never affinity:affinity securityContext:podSecurity ' +
    'imagePullSecrets:reference[] hostAliases:map[] topologySpreadConstraints:spread[] resourceClaims:map[] ' +
    'readinessGates:map[] resources:resources',
  container:
    'image:text command:text[] args:text[] workingDir:text env:variable[] envFrom:variables[] ports:port[] ' +
    'volumeMounts:mount[] volumeDevices:map[] imagePullPolicy:Always|IfNotPresent|Never terminationMessagePath:text ' +
    'terminationMessagePolicy:File|FallbackToLogsOnError stdin:flag stdinOnce:flag tty:flag lifecycle:lifecycle ' +
    'securityContext:security resources:resources livenessProbe:probe readinessProbe:probe startupProbe:probe',
  variable: 'name:text value:text valueFrom:source',
  source: 'fieldRef:fieldRef resourceFieldRef:map configMapKeyRef:keyRef secretKeyRef:keyRef',
  fieldRef: 'fieldPath:text apiVersion:text',
  keyRef: 'name:text key:text optional:flag',
  variables: 'prefix:text configMapRef:reference secretRef:reference',
  reference: 'name:text optional:flag',
  port: 'name:text containerPort:1..65535 hostPort:0..65535 protocol:TCP|UDP|SCTP hostIP:text',
  mount: 'name:text mountPath:text subPath:text subPathExpr:text readOnly:flag',
  volume: 'name:text emptyDir:map hostPath:hostPath configMap:map secret:map persistentVolumeClaim:claim projected:map',
  hostPath: 'path:text type:text',
  claim: 'claimName:text readOnly:flag',
  gate: 'name:text',
  toleration:
    'key:text operator:Exists|Equal|Lt|Gt effect:NoSchedule|PreferNoSchedule|NoExecute value:text tolerationSeconds:integer',
  resources: 'requests:map limits:map claims:map[]',
  probe:
    'exec:exec httpGet:httpGet tcpSocket:map grpc:map initialDelaySeconds:count periodSeconds:count timeoutSeconds:count ' +
    'failureThreshold:count successThreshold:count terminationGracePeriodSeconds:integer',
  lifecycle: 'postStart:handler preStop:handler',
  handler: 'exec:exec httpGet:httpGet tcpSocket:map sleep:map',
  exec: 'command:text[]',
  httpGet: 'path:text host:text scheme:HTTP|HTTPS httpHeaders:map[]',
  security:
    'runAsUser:integer runAsGroup:integer runAsNonRoot:flag privileged:flag allowPrivilegeEscalation:flag ' +
    'readOnlyRootFilesystem:flag capabilities:capabilities seccompProfile:map',
  capabilities: 'add:text[] drop:text[]',
  podSecurity:
    'runAsUser:integer runAsGroup:integer runAsNonRoot:flag fsGroup:integer supplementalGroups:integer[] ' +
    'fsGroupChangePolicy:OnRootMismatch|Always seccompProfile:map',
  affinity: 'nodeAffinity:nodeAffinity podAffinity:podAffinity podAntiAffinity:podAffinity',
  nodeAffinity:
    'requiredDuringSchedulingIgnoredDuringExecution:nodeTerms preferredDuringSchedulingIgnoredDuringExecution:preferred[]',
  nodeTerms: 'nodeSelectorTerms:nodeTerm[]',
  nodeTerm: 'matchExpressions:nodeExpression[] matchFields:nodeExpression[]',
  nodeExpression: 'key:text operator:In|NotIn|Exists|DoesNotExist|Gt|Lt values:text[]',
  preferred: 'weight:1..100 preference:nodeTerm',
  podAffinity:
    'requiredDuringSchedulingIgnoredDuringExecution:podTerm[] preferredDuringSchedulingIgnoredDuringExecution:weighted[]',
  weighted: 'weight:1..100 podAffinityTerm:podTerm',
  podTerm:
    'topologyKey:text namespaces:text[] labelSelector:selector namespaceSelector:selector matchLabelKeys:text[] ' +
    'mismatchLabelKeys:text[]',
  selector: 'matchLabels:text{} matchExpressions:expression[]',
  expression: 'key:text operator:In|NotIn|Exists|DoesNotExist values:text[]',
  spread:
    `maxSkew:1..${INT32} topologyKey:text whenUnsatisfiable:DoNotSchedule|ScheduleAnyway labelSelector:selector ` +
    `minDomains:1..${INT32} nodeAffinityPolicy:Honor|Ignore nodeTaintsPolicy:Honor|Ignore matchLabelKeys:text[]`,
  job:
    'completionMode:NonIndexed|Indexed podReplacementPolicy:TerminatingOrFailed|Failed manualSelector:flag ' +
    'managedBy:text podFailurePolicy:failurePolicy successPolicy:successPolicy',
  failurePolicy: 'rules:failureRule[]',
  failureRule: 'action:FailJob|FailIndex|Ignore|Count onExitCodes:exitCodes onPodConditions:map[]',
  exitCodes: 'containerName:text operator:In|NotIn values:integer[]',
  successPolicy: 'rules:successRule[]',
  successRule: 'succeededIndexes:text succeededCount:count',
  cron:
    'schedule:text timeZone:text concurrencyPolicy:Allow|Forbid|Replace suspend:flag startingDeadlineSeconds:integer ' +
    'successfulJobsHistoryLimit:count failedJobsHistoryLimit:count',
  replicas:
    'replicas:count minReadySeconds:count revisionHistoryLimit:count progressDeadlineSeconds:count paused:flag ' +
    'serviceName:text podManagementPolicy:OrderedReady|Parallel strategy:strategy updateStrategy:updateStrategy',
  strategy: 'type:Recreate|RollingUpdate rollingUpdate:map',
  updateStrategy: 'type:RollingUpdate|OnDelete rollingUpdate:map',
} as const

export type ShapeName = keyof typeof SHAPES

/** What is wrong with a value at a field, if anything is. */
type Check = (value: unknown, field: string, found: Found[]) => void

/** Where the value is not what the API takes there, all the way down. `at` ends with a dot, or is empty. */
export function shapeFindings(value: unknown, shape: ShapeName, at: string): readonly Found[] {
  const found: Found[] = []
  if (isObject(value)) checkFields(value, CHECKS.get(shape), at, found)
  return found
}

function checkFields(value: Fields, checks: ReadonlyMap<string, Check> | undefined, at: string, found: Found[]): void {
  for (const key in value) {
    const check = checks?.get(key)
    const each = value[key]
    if (check === undefined || each === null || (typeof each === 'string' && isPlaceholder(each))) continue
    check(each, at + key, found)
  }
}

const CHECKS: ReadonlyMap<string, ReadonlyMap<string, Check>> = new Map(
  Object.entries(SHAPES).map(([name, fields]) => [
    name,
    new Map(
      fields.split(' ').map(field => {
        const colon = field.indexOf(':')
        return [field.slice(0, colon), checkOf(field.slice(colon + 1))] as const
      }),
    ),
  ]),
)

function checkOf(type: string): Check {
  if (type.endsWith('[]')) return listOf(checkOf(type.slice(0, -2)))
  if (type.endsWith('{}')) return mapOf(checkOf(type.slice(0, -2)))
  if (type.includes('|')) return words(type.split('|'))
  const [min, max] = type.split('..')
  if (max !== undefined) return whole(Number(min), Number(max))
  switch (type) {
    case 'text':
      return fits(value => typeof value === 'string', 'a text', ': put it in quotes')
    case 'flag':
      return fits(value => typeof value === 'boolean', 'true or false', ', without quotes')
    case 'map':
      return fits(isObject, 'a map')
    case 'count':
      return whole(0, INT32)
    case 'integer':
      return fits(Number.isInteger, 'a whole number')
    default:
      return (value, field, found) => {
        if (isObject(value)) checkFields(value, CHECKS.get(type), `${field}.`, found)
        else wrong(value, field, 'a map', found)
      }
  }
}

function fits(is: (value: unknown) => boolean, what: string, remedy = ''): Check {
  return (value, field, found) => {
    if (is(value)) return
    const helps = typeof value !== 'object'
    found.push(invalid(field, `${lastOf(field)} is ${what}, not ${show(value)}${helps ? remedy : ''}`))
  }
}

function whole(min: number, max: number): Check {
  const isWithin = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= min && Number(value) <= max
  return fits(isWithin, `a whole number from ${min} to ${max}`)
}

/** No word at all is what it is without the field. */
function words(known: readonly string[]): Check {
  return fits(value => value === '' || known.includes(value as string), known.join(' or '))
}

function wrong(value: unknown, field: string, what: string, found: Found[]): void {
  fits(() => false, what)(value, field, found)
}

function listOf(check: Check): Check {
  return (value, field, found) => {
    if (!Array.isArray(value)) wrong(value, field, 'a list', found)
    else for (const [index, item] of value.entries()) if (item !== null) check(item, `${field}[${index}]`, found)
  }
}

function mapOf(check: Check): Check {
  return (value, field, found) => {
    if (!isObject(value)) wrong(value, field, 'a map', found)
    else for (const key in value) if (value[key] !== null) check(value[key], `${field}[${key}]`, found)
  }
}

/** The name of a field, without the way to it. */
const lastOf = (field: string): string => field.slice(lastDot(field) + 1)

/** Keys of maps, which have dots of their own, stand in brackets. */
function lastDot(field: string): number {
  const bracket = field.endsWith(']') ? field.lastIndexOf('[') : field.length
  return field.lastIndexOf('.', bracket)
}
