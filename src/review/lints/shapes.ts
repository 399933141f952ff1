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
    'preemptionPolicy:PreemptLowerPriority|Never affinity:map securityContext:map imagePullSecrets:map[] ' +
    'hostAliases:map[] topologySpreadConstraints:map[] resourceClaims:map[] readinessGates:map[] resources:resources',
  container:
    'image:text command:text[] args:text[] workingDir:text env:variable[] envFrom:map[] ports:port[] ' +
    'volumeMounts:mount[] volumeDevices:map[] imagePullPolicy:Always|IfNotPresent|Never terminationMessagePath:text ' +
    'terminationMessagePolicy:File|FallbackToLogsOnError stdin:flag stdinOnce:flag tty:flag lifecycle:map ' +
    'securityContext:map resources:resources livenessProbe:probe readinessProbe:probe startupProbe:probe',
  variable: 'name:text value:text valueFrom:map',
  port: 'name:text containerPort:1..65535 hostPort:0..65535 protocol:TCP|UDP|SCTP hostIP:text',
  mount: 'name:text mountPath:text subPath:text subPathExpr:text readOnly:flag',
  volume: 'name:text',
  gate: 'name:text',
  toleration:
    'key:text operator:Exists|Equal|Lt|Gt effect:NoSchedule|PreferNoSchedule|NoExecute value:text tolerationSeconds:integer',
  resources: 'requests:map limits:map claims:map[]',
  probe:
    'exec:map httpGet:map tcpSocket:map grpc:map initialDelaySeconds:count periodSeconds:count timeoutSeconds:count ' +
    'failureThreshold:count successThreshold:count terminationGracePeriodSeconds:integer',
  job: 'completionMode:NonIndexed|Indexed podReplacementPolicy:TerminatingOrFailed|Failed manualSelector:flag managedBy:text',
  cron:
    'schedule:text timeZone:text concurrencyPolicy:Allow|Forbid|Replace suspend:flag startingDeadlineSeconds:integer ' +
    'successfulJobsHistoryLimit:count failedJobsHistoryLimit:count',
  replicas:
    'replicas:count minReadySeconds:count revisionHistoryLimit:count progressDeadlineSeconds:count paused:flag ' +
    'serviceName:text podManagementPolicy:OrderedReady|Parallel',
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
