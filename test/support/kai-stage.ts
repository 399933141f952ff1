import { slimOwner } from '../../src/coscheduling/kai/cache-contents.ts'
import { decideGroup, type KaiAction, type KaiUnit } from '../../src/coscheduling/kai/decide.ts'
import { identityOf, type Naming } from '../../src/coscheduling/kai/naming.ts'
import { type KaiPodGroup, type Owner, ownerOf } from '../../src/coscheduling/kai/objects.ts'
import type { KaiWorld } from '../../src/coscheduling/kai/resolve.ts'
import { isObject } from '../../src/kube/vocabulary/fields.ts'
import { KAI_POD_GROUP, KAI_SUBGROUP } from '../../src/kube/vocabulary/kai.ts'
import { POD_GROUP } from '../../src/kube/vocabulary/names.ts'
import type { KubeObject, OwnerReference, Pod } from '../../src/kube/vocabulary/objects.ts'
import { groupReferenceOf } from '../../src/workload/group-reference.ts'
import { awaitsPodGroup, podGroupMarkOf } from '../../src/workload/pod-facts.ts'
import { KEPT } from './kai-caches.ts'

type Fields = Readonly<Record<string, unknown>>

export interface Step {
  readonly create?: readonly Fields[]
  readonly change?: readonly Readonly<Record<string, Fields>>[]
  readonly delete?: readonly string[]
  readonly expect: Fields
}

export interface Case {
  readonly name: string
  readonly naming?: Naming
  readonly steps: readonly Step[]
}

const SHIPPED = ['train', 'build-preemptible', 'build', 'inference']

/** Objects by `kind/namespace/name`, and the translation let loose on them until it has nothing left to write. */
export class KaiStage {
  readonly #objects = new Map<string, KubeObject>()
  readonly #naming: Naming
  #held: Readonly<Record<string, string>> = {}
  #warnings: readonly string[] = []
  #born = 0

  constructor(naming: Naming) {
    this.#naming = naming
    for (const name of SHIPPED) this.play({ create: [{ priorityClass: name }], expect: {} })
  }

  play(step: Step): void {
    for (const key of step.delete ?? []) if (!this.#objects.delete(fullKey(key))) throw new Error(`no ${key}`)
    for (const short of step.create ?? []) this.#create(short)
    for (const changes of step.change ?? []) {
      for (const [key, patch] of Object.entries(changes)) this.#merge(fullKey(key), patch)
    }
  }

  /** Decides and writes until all is quiet; returns the kinds of what was written. */
  settle(): readonly string[] {
    const done: string[] = []
    for (let round = 0; round < 10; round++) {
      const written = this.#pass()
      if (written.length === 0) return done
      done.push(...written)
    }
    throw new Error(`it never comes to rest: ${done.join(', ')}`)
  }

  #pass(): readonly string[] {
    const written: string[] = []
    const held: Record<string, string> = {}
    const warnings: string[] = []
    for (const unit of this.#units()) {
      const decision = decideGroup(unit, reference => this.#owner(unit.namespace, reference), this.#world())
      for (const { pod, note } of decision.held) held[shortKey(pod)] = note
      warnings.push(...decision.warnings)
      for (const action of [...decision.ground, ...decision.pods]) {
        this.#write(action)
        written.push(action.kind)
      }
    }
    this.#held = held
    this.#warnings = warnings
    return written
  }

  #units(): readonly KaiUnit[] {
    const units = new Map<string, KaiUnit & { readonly pods: Pod[] }>()
    for (const object of this.#known('pod')) {
      const pod = object as Pod
      const reference = groupReferenceOf(pod)
      const namespace = pod.metadata.namespace ?? ''
      if (reference === undefined || podGroupMarkOf(pod) === undefined) continue
      const key = identityOf(namespace, reference)
      const unit = units.get(key) ?? { namespace, reference, pods: [] }
      unit.pods.push(pod)
      units.set(key, unit)
    }
    return [...units.values()]
  }

  #world(): KaiWorld {
    const find = <T extends KubeObject>(kind: string, namespace: string, name: string) => {
      const found = this.#objects.get(`${kind}/${namespace}/${name}`)
      return found && (KEPT[kind]?.(found) as T | undefined)
    }
    return {
      naming: this.#naming,
      apiVersion: 'scheduling.k8s.io/v1alpha1',
      workload: (namespace, name) => find('workload', namespace, name),
      podGroup: (namespace, name) => find('podGroup', namespace, name),
      kaiPodGroups: name =>
        this.#known('kaiPodGroup').filter(({ metadata }) => metadata.name === name) as KaiPodGroup[],
      topologies: () => this.#known('topology'),
      priorityClass: name => find<KubeObject & { globalDefault: boolean }>('priorityClass', '', name),
    }
  }

  #owner(namespace: string, { apiVersion, kind, name }: OwnerReference): Owner | 'absent' {
    const found = this.#objects.get(`owner/${namespace}/${name}`) ?? this.#objects.get(`podGroup/${namespace}/${name}`)
    return found === undefined ? 'absent' : slimOwner(ownerOf(found, apiVersion, kind))
  }

  #write(action: KaiAction): void {
    if (action.kind === 'CreatePodGroup') {
      this.#objects.set(`kaiPodGroup/${shortKey(action.wanted, true)}`, action.wanted)
    } else if (action.kind === 'PatchPodGroup') {
      this.#merge(`kaiPodGroup/${shortKey(action.known, true)}`, action.change as Fields)
    } else {
      const key = `pod/${action.pod.namespace}/${action.pod.name}`
      const links = action.kind === 'LinkPod'
      const annotations = links ? { [KAI_POD_GROUP]: action.podGroup } : action.unlinks ? { [KAI_POD_GROUP]: null } : {}
      const labels = links ? { [KAI_SUBGROUP]: null } : { [POD_GROUP]: null }
      this.#merge(key, { metadata: { annotations, labels }, spec: { schedulingGates: [] } })
    }
  }

  #merge(key: string, patch: Fields): void {
    const known = this.#objects.get(key)
    if (known === undefined) throw new Error(`no ${key}`)
    this.#objects.set(key, merged(known, patch) as KubeObject)
  }

  #all(kind: string): readonly KubeObject[] {
    return [...this.#objects].filter(([key]) => key.startsWith(`${kind}/`)).map(([, object]) => object)
  }

  #known(kind: string): readonly KubeObject[] {
    return this.#all(kind).flatMap(object => KEPT[kind]?.(object) ?? [])
  }

  #create(short: Fields): void {
    const [kind = '', name] = Object.entries(short)[0] ?? []
    const spec = short.spec as Fields | undefined
    if (kind === 'owner') this.#add(kind, String(short.name), short, {})
    else if (kind === 'workload') {
      this.#add(kind, String(name), short, { spec: { podGroups: short.podGroups, podGroupTemplates: short.templates } })
    } else if (kind === 'topology') {
      const levels = (short.levels as readonly string[]).map(nodeLabel => ({ nodeLabel }))
      this.#add(kind, String(name), { namespace: '' }, { spec: { levels } })
    } else if (kind === 'priorityClass') {
      this.#add(kind, String(name), { namespace: '' }, { globalDefault: short.globalDefault === true })
    } else if (kind === 'pod') this.#addPods(String(name), short)
    else this.#add(kind, String(name), short, { spec })
  }

  #addPods(name: string, short: Fields): void {
    const [workload, podGroup, podGroupReplicaKey] = (short.ref ?? []) as readonly string[]
    const spec = {
      schedulerName: 'kai-scheduler',
      ...(short.group !== undefined && { schedulingGroup: { podGroupName: short.group } }),
      ...(workload !== undefined && { workloadRef: { name: workload, podGroup, podGroupReplicaKey } }),
      schedulingGates: short.ungated ? [] : [{ name: POD_GROUP }],
      ...(short.spec as Fields),
    }
    const times = (short.times as number | undefined) ?? 1
    const names = times === 1 ? [name] : Array.from({ length: times }, (_, index) => `${name}-${index}`)
    const labels = { ...(short.labels as Fields), [POD_GROUP]: 'reference' }
    for (const each of names) this.#add('pod', each, { ...short, labels }, { spec, status: short.status })
  }

  #add(kind: string, name: string, short: Fields, fields: Fields): void {
    const namespace = (short.namespace as string | undefined) ?? 'ml'
    const owner = kind === 'owner' ? short.above : short.owner
    const owners = (short.owners ?? (owner === undefined ? [] : [owner])) as readonly string[]
    const metadata = {
      name,
      namespace,
      uid: (short.uid as string | undefined) ?? `uid-${namespace}-${kind}-${name}`,
      creationTimestamp: new Date(1_800_000_000_000 + 1000 * this.#born++).toISOString(),
      ...(short.deleting === true && { deletionTimestamp: '2027-01-15T08:00:00Z' }),
      ...(short.labels !== undefined && { labels: short.labels }),
      ...(short.annotations !== undefined && { annotations: short.annotations }),
      ...(owners.length > 0 && { ownerReferences: owners.map(referenceFrom) }),
    }
    this.#objects.set(`${kind}/${namespace}/${name}`, { metadata, ...fields } as KubeObject)
  }

  /** What the expectation is about, as it is: equal to it when all is well. */
  seen(expected: Fields): Fields {
    const seen: Record<string, unknown> = {}
    for (const [what, value] of Object.entries(expected)) seen[what] = this.#look(what, value)
    return seen
  }

  #look(what: string, value: unknown): unknown {
    const fields = value as Fields
    if (what === 'podGroups') {
      const groups = this.#all('kaiPodGroup').map(group => [shortKey(group, true), group] as const)
      return Object.fromEntries(groups.map(([key, group]) => [key, partOf(group, fields[key] ?? {})]))
    }
    if (what === 'held') {
      const texts = Object.entries(this.#held)
      return Object.fromEntries(
        texts.map(([pod, note]) => [pod, note.includes(String(fields[pod])) ? fields[pod] : note]),
      )
    }
    if (what === 'links') return this.#ofPods(fields, pod => pod.metadata.annotations?.[KAI_POD_GROUP] ?? null)
    if (what === 'labels') return this.#ofPods(fields, pod => partOf(pod.metadata.labels ?? {}, fields[shortKey(pod)]))
    const list = value as readonly string[]
    if (what === 'gone') return list.filter(key => !awaitsPodGroup(this.#pod(key)))
    if (what === 'kept') return list.filter(key => awaitsPodGroup(this.#pod(key)))
    if (what === 'left') return list.filter(key => isLeft(this.#pod(key)))
    if (what === 'warnings') return list.filter(word => this.#warnings.some(warning => warning.includes(word)))
    throw new Error(`nobody looks at ${what}`)
  }

  #ofPods(fields: Fields, look: (pod: Pod) => unknown): Fields {
    return Object.fromEntries(Object.keys(fields).map(key => [key, look(this.#pod(key))]))
  }

  #pod(key: string): Pod {
    const pod = this.#objects.get(fullKey(`pod/${key}`))
    if (pod === undefined) throw new Error(`no pod ${key}`)
    return pod as Pod
  }
}

const isLeft = (pod: Pod): boolean => !awaitsPodGroup(pod) && podGroupMarkOf(pod) === undefined

function fullKey(key: string): string {
  const [kind, ...rest] = key.split('/')
  return [kind, ...(rest.length === 1 ? ['ml', ...rest] : rest)].join('/')
}

function shortKey({ metadata: { namespace, name } }: KubeObject, full = false): string {
  return namespace === 'ml' && !full ? (name ?? '') : `${namespace}/${name}`
}

/** `batch/v1 Job name uid`, and `controller` behind it for one that is. */
function referenceFrom(text: string): OwnerReference {
  const [apiVersion = '', kind = '', name = '', uid = '', controller] = text.split(' ')
  return { apiVersion, kind, name, uid, ...(controller !== undefined && { controller: true }) }
}

function merged(known: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const result: Record<string, unknown> = isObject(known) ? { ...known } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = merged(result[key], value)
  }
  return result
}

/** The parts of a value that somebody named, with null for what is not there. */
function partOf(value: unknown, named: unknown): unknown {
  if (!isObject(named) || !isObject(value)) return value ?? null
  return Object.fromEntries(Object.keys(named).map(key => [key, partOf(value[key], named[key])]))
}
