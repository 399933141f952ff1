import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { isDnsLabel, isLabelKey } from '../../kube/vocabulary/formats.ts'
import type { Found } from './catalog.ts'
import { invalid, isPlaceholder, missing, show } from './values.ts'

/**
 * What the parts of a pod need of each other. What is not there is a warning, since it may be in what the manifest is a
 * patch of; what excludes each other is an error. `claimed`: volumes that their owner adds.
 */
export function podParts(spec: unknown, at: string, claimed: readonly string[]): readonly Found[] {
  if (!isObject(spec)) return []
  const volumes = new Set<unknown>([...claimed, ...itemsOf(spec.volumes).map(({ item }) => item.name)])
  const claims = new Set(itemsOf(spec.resourceClaims).map(({ item }) => item.name))
  return [
    ...['containers', 'initContainers'].flatMap(list =>
      itemsOf(spec[list]).flatMap(({ item, index }) =>
        containerParts(item, `${at}${list}[${index}]`, { volumes, claims }),
      ),
    ),
    ...itemsOf(spec.volumes).flatMap(({ item, index }) => volumeParts(item, `${at}volumes[${index}]`)),
    ...itemsOf(spec.tolerations).flatMap(({ item, index }) => tolerationParts(item, `${at}tolerations[${index}]`)),
    ...itemsOf(spec.schedulingGates).flatMap(({ item, index }) => gateParts(item, `${at}schedulingGates[${index}]`)),
    ...itemsOf(spec.topologySpreadConstraints).flatMap(({ item, index }) =>
      needed(item, `${at}topologySpreadConstraints[${index}]`, 'topologyKey', 'whenUnsatisfiable', 'maxSkew'),
    ),
  ]
}

interface Known {
  readonly volumes: ReadonlySet<unknown>
  readonly claims: ReadonlySet<unknown>
}

function containerParts(container: Fields, at: string, { volumes, claims }: Known): readonly Found[] {
  const { image, ports, env, volumeMounts, volumeDevices, resources, lifecycle } = container
  const paths = new Set<unknown>()
  const names = new Set<unknown>()
  return [
    ...(isEmpty(image) ? [missing(`${at}.image`, 'a container needs an image')] : []),
    ...itemsOf(ports).flatMap(({ item, index }) => [
      ...needed(item, `${at}.ports[${index}]`, 'containerPort'),
      ...twice(item.name, names, `${at}.ports[${index}].name`, 'two ports of a container have the name'),
    ]),
    ...itemsOf(env).flatMap(({ item, index }) => variableParts(item, `${at}.env[${index}]`)),
    ...itemsOf(volumeMounts).flatMap(({ item, index }) => [
      ...needed(item, `${at}.volumeMounts[${index}]`, 'mountPath'),
      ...unknown(item, volumes, `${at}.volumeMounts[${index}].name`, 'volume'),
      ...twice(item.mountPath, paths, `${at}.volumeMounts[${index}].mountPath`, 'two volumes are mounted at'),
    ]),
    ...itemsOf(volumeDevices).flatMap(({ item, index }) =>
      unknown(item, volumes, `${at}.volumeDevices[${index}].name`, 'volume'),
    ),
    ...itemsOf(isObject(resources) ? resources.claims : undefined).flatMap(({ item, index }) =>
      unknown(item, claims, `${at}.resources.claims[${index}].name`, 'claim'),
    ),
    ...PROBES.flatMap(probe => handlerParts(container[probe], `${at}.${probe}`)),
    ...HOOKS.flatMap(hook =>
      handlerParts(isObject(lifecycle) ? lifecycle[hook] : undefined, `${at}.lifecycle.${hook}`),
    ),
  ]
}

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe']
const HOOKS = ['postStart', 'preStop']
const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep']

/** A probe, or a hook: it does one thing. */
function handlerParts(handler: unknown, at: string): readonly Found[] {
  if (!isObject(handler)) return []
  const set = HANDLERS.filter(key => isThere(handler, key))
  if (set.length === 1) return []
  if (set.length === 0)
    return [missing(at, `${at.slice(at.lastIndexOf('.') + 1)} asks nothing: say ${HANDLERS.slice(0, 4).join(', ')}`)]
  return [invalid(at, `no API server takes ${set.join(' and ')} at once`)]
}

function variableParts(variable: Fields, at: string): readonly Found[] {
  const { value, valueFrom } = variable
  const isBoth = isObject(valueFrom) && typeof value === 'string' && value !== ''
  const isFromNothing = isObject(valueFrom) && Object.values(valueFrom).every(each => each == null)
  return [
    ...needed(variable, at, 'name'),
    ...(isBoth ? [invalid(`${at}.valueFrom`, 'no API server takes value and valueFrom at once')] : []),
    ...(isFromNothing
      ? [missing(`${at}.valueFrom`, 'valueFrom says from where: fieldRef, configMapKeyRef, secretKeyRef')]
      : []),
  ]
}

function volumeParts(volume: Fields, at: string): readonly Found[] {
  const { name } = volume
  const sources = Object.keys(volume).filter(key => key !== 'name' && isThere(volume, key))
  const isNamed = typeof name !== 'string' || name === '' || isPlaceholder(name) || isDnsLabel(name)
  return [
    ...needed(volume, at, 'name'),
    ...(isNamed
      ? []
      : [
          invalid(
            `${at}.name`,
            `no API server takes ${show(name)} as the name of a volume: lower-case letters, digits and "-"`,
          ),
        ]),
    ...(sources.length > 1
      ? [invalid(`${at}.${sources[1]}`, `a volume is one thing, and not ${sources.join(' and ')}`)]
      : []),
  ]
}

function tolerationParts(toleration: Fields, at: string): readonly Found[] {
  const { key, operator, value, effect, tolerationSeconds } = toleration
  const takesAll = operator === 'Exists'
  const wrong = (field: string, message: string): readonly Found[] => [invalid(`${at}.${field}`, message)]
  return [
    ...(isEmpty(key) && !takesAll ? wrong('key', 'without a key, operator must be Exists') : []),
    ...(takesAll && !isEmpty(value) ? wrong('value', 'with operator Exists there is no value') : []),
    ...(tolerationSeconds != null && effect !== 'NoExecute'
      ? wrong('tolerationSeconds', 'tolerationSeconds counts with effect NoExecute only')
      : []),
  ]
}

function gateParts(gate: Fields, at: string): readonly Found[] {
  const { name } = gate
  if (typeof name !== 'string' || name === '' || isPlaceholder(name)) return needed(gate, at, 'name')
  if (isLabelKey(name)) return []
  return [invalid(`${at}.name`, `no API server takes the gate ${show(name)}: a domain and a name, as example.com/gate`)]
}

const needed = (item: Fields, at: string, ...keys: readonly string[]): readonly Found[] =>
  keys.filter(key => isEmpty(item[key])).map(key => missing(`${at}.${key}`, `${key} is needed here`))

function unknown({ name }: Fields, known: ReadonlySet<unknown>, field: string, what: string): readonly Found[] {
  if (known.has(name) || (typeof name === 'string' && isPlaceholder(name))) return []
  return [missing(field, `there is no ${what} ${show(name ?? '')} in this pod`)]
}

function twice(value: unknown, seen: Set<unknown>, field: string, what: string): readonly Found[] {
  if (isEmpty(value)) return []
  if (seen.has(value)) return [invalid(field, `${what} ${show(value)}`)]
  seen.add(value)
  return []
}

interface Item {
  readonly item: Fields
  readonly index: number
}

const itemsOf = (list: unknown): readonly Item[] =>
  Array.isArray(list) ? list.flatMap((item, index) => (isObject(item) ? [{ item, index }] : [])) : []

const isThere = (fields: Fields, key: string): boolean => fields[key] !== undefined && fields[key] !== null
const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === ''
