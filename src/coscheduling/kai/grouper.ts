import type { CachePorts } from '../../kube/cache/cache-set.ts'
import { WorkQueue } from '../../kube/cache/work-queue.ts'
import type { EventRecorder } from '../../kube/coordination/events.ts'
import type { Resource } from '../../kube/vocabulary/api.ts'
import { KAI_POD_GROUPS } from '../../kube/vocabulary/kai.ts'
import type { KubeObject, Pod } from '../../kube/vocabulary/objects.ts'
import { PODS } from '../../kube/vocabulary/resources.ts'
import { SCHEDULING_GROUP } from '../../kube/vocabulary/served-scheduling.ts'
import { allToTheirEnd, type Lanes } from '../../reconciler/lanes.ts'
import type { Result } from '../../reconciler/perform.ts'
import type { ServedPort } from '../../reconciler/surroundings.ts'
import { Tenure } from '../../reconciler/tenure.ts'
import { groupReferenceOf } from '../../workload/group-reference.ts'
import { KaiCaches, sourceKey } from './caches.ts'
import { decideGroup, type Held, type KaiAction, type KaiDecision, type KaiUnit, leave } from './decide.ts'
import { identityOf, type Naming, podGroupName } from './naming.ts'
import type { KaiPodGroup } from './objects.ts'
import { OwnerLookups } from './owner-lookups.ts'
import { performKai } from './perform.ts'
import type { KaiWorld } from './resolve.ts'

export interface KaiGrouperDeps extends CachePorts {
  readonly naming: Naming
  /** Whether KAI is among the backends; if not, whoever waits for it is let go. */
  readonly enabled: boolean
  readonly scheduling: ServedPort
  readonly events: EventRecorder
  readonly lanes: Lanes
  readonly acted: (action: KaiAction['kind'], result: Result['kind'] | 'error') => void
  readonly isLeader: () => boolean
  /** Tells the reconciler, which has caches of its own, what was written. */
  readonly wrote: (resource: Resource, object: KubeObject) => void
}

const WORKERS = 8
/** Owners are not watched: what was wrong above a pod is looked at again. */
const LOOK_AGAIN_MS = 30_000
/** A chain of owners has to be fetched link by link, that of the PodGroup as it is included. */
const MOST_ROUNDS = 12

/**
 * Keeps pods of KAI that name a group of Kubernetes behind their gate until that group is there, gives them a PodGroup
 * of KAI, and lets them go. Every change of what they name is looked at when it comes.
 */
export class KaiGrouper {
  readonly #deps: KaiGrouperDeps
  readonly #caches: KaiCaches
  readonly #queue: WorkQueue
  readonly #owners: OwnerLookups
  /** Names that are being written, and for whom: two groups that want one name must not both find it free. */
  readonly #claims = new Map<string, string>()
  readonly #tenure: Tenure
  #unsubscribe: () => void = () => {}

  constructor(deps: KaiGrouperDeps) {
    const { api, clock, random, log } = deps
    this.#deps = deps
    this.#tenure = new Tenure(deps.isLeader)
    this.#caches = new KaiCaches(deps, deps.naming)
    this.#queue = new WorkQueue({ clock, random, log })
    this.#owners = new OwnerLookups(api, clock)
    this.#subscribe()
  }

  #subscribe(): void {
    const { pods, workloads, podGroups, kaiPodGroups, topologies, priorityClasses } = this.#caches
    pods.subscribe(({ object, type }) => {
      if (type === 'deleted') this.#deps.events.forget(object.metadata.uid ?? '', 'Group')
      this.#queue.add(unitKeyOf(object))
    })
    for (const informer of podGroups) {
      informer.subscribe(({ object: { metadata } }) =>
        this.#addReferring(metadata.namespace, `PodGroup/${metadata.name}`),
      )
    }
    for (const informer of workloads) {
      informer.subscribe(({ object: { metadata } }) => {
        const source = `Workload/${metadata.name}`
        this.#addReferring(metadata.namespace, source)
        const made = podGroups.flatMap(groups =>
          groups.byIndex('workload', sourceKey(metadata.namespace ?? '', source)),
        )
        for (const group of made) this.#addReferring(metadata.namespace, `PodGroup/${group.metadata.name}`)
      })
    }
    kaiPodGroups.subscribe(({ object }) => {
      for (const pod of pods.byIndex('name', object.metadata.name ?? '')) this.#queue.add(unitKeyOf(pod))
    })
    topologies.subscribe(() => this.#addAll())
    priorityClasses.subscribe(() => this.#addAll())
    this.#unsubscribe = this.#deps.scheduling.onChange(() => this.#look())
  }

  #addReferring(namespace: string | undefined, source: string): void {
    for (const pod of this.#caches.pods.byIndex('source', sourceKey(namespace ?? '', source))) {
      this.#queue.add(unitKeyOf(pod))
    }
  }

  #addAll(): void {
    for (const pod of this.#caches.pods.values()) this.#queue.add(unitKeyOf(pod))
  }

  /** Whether there is a KAI is known before the first look, and may change. */
  #look(): void {
    if (!this.#deps.enabled || !this.#deps.scheduling.served.kai) return
    this.#caches.others.start()
    this.#caches.whenSynced().then(
      () => this.#addAll(),
      () => {},
    )
  }

  get synced(): boolean {
    const waits = this.#deps.enabled && this.#deps.scheduling.served.kai
    return waits ? this.#caches.synced : this.#caches.pods.synced
  }

  async start(): Promise<void> {
    this.#caches.pods.start()
    this.#look()
    await this.#caches.whenSynced()
    this.#queue.start(WORKERS, key => this.#reconcile(key))
  }

  /** For a new leader: what its predecessor wrote last is in the caches before anything is decided. */
  async resync(): Promise<void> {
    if (await this.#tenure.begin(() => this.#caches.refresh())) this.#addAll()
  }

  pause(): void {
    this.#tenure.end()
  }

  async stop(): Promise<void> {
    this.#unsubscribe()
    await this.#queue.stop()
    await this.#caches.stop()
  }

  async #reconcile(key: string): Promise<'done' | 'retry'> {
    const { turn } = this.#tenure
    if (!this.#tenure.leads(turn)) return 'done'
    const pods = this.#caches.pods.byIndex('unit', key === NAMELESS ? '' : key)
    if (!this.#deps.enabled || key === NAMELESS) return await this.#performAll(pods.flatMap(leave), turn)
    if (!this.#deps.scheduling.served.kai || !this.#caches.synced) return 'done'
    const unit = unitOf(pods)
    if (unit === undefined) return 'done'
    const name = podGroupName(unit.namespace, unit.reference, this.#deps.naming)
    const claimed = this.#claims.get(name) ?? key
    if (claimed !== key) return 'retry'
    this.#claims.set(name, key)
    try {
      return await this.#group(key, unit, turn)
    } finally {
      this.#claims.delete(name)
    }
  }

  async #group(key: string, unit: KaiUnit, turn: number): Promise<'done' | 'retry'> {
    const decision = await this.#decide(unit)
    this.#tell(decision.held)
    const { uid = '', name = '', namespace = '' } = unit.pods[0]?.metadata ?? {}
    for (const warning of decision.warnings) this.#deps.log.warn({ namespace, name, uid }, warning)
    const written = await this.#performAll(decision.ground, turn, unit)
    if (written === 'retry') return 'retry'
    if (decision.held.length > 0) this.#queue.addAfter(key, LOOK_AGAIN_MS)
    return await this.#performAll(decision.pods, turn, unit)
  }

  async #decide(unit: KaiUnit): Promise<KaiDecision> {
    const world = this.#world()
    const owners = this.#owners.forDecision(unit.namespace)
    for (let round = 0; ; round++) {
      const decision = decideGroup(unit, owners.find, world)
      if (decision.asks.length === 0) return decision
      if (round === MOST_ROUNDS)
        throw new Error(`the owners of ${unit.namespace} are still asked for after ${round} rounds`)
      // They may be many, and nobody's gate waits behind them.
      await Promise.all(decision.asks.map(each => this.#deps.lanes.run(3, () => owners.lookUp(each))))
    }
  }

  /** One after the other would take a group of hundreds seconds: the lanes set the pace. */
  async #performAll(actions: readonly KaiAction[], turn: number, unit?: KaiUnit): Promise<'done' | 'retry'> {
    const results = await allToTheirEnd(actions.map(action => this.#perform(action, turn, unit)))
    return results.includes('retry') ? 'retry' : 'done'
  }

  async #perform(action: KaiAction, turn: number, unit: KaiUnit | undefined): Promise<'done' | 'retry'> {
    const { lanes, api, acted } = this.#deps
    try {
      const result = await lanes.run(action.kind === 'LinkPod' ? 0 : 1, async () =>
        this.#tenure.leads(turn)
          ? await performKai(action, api, (resource, object) => this.#wrote(resource, object))
          : undefined,
      )
      if (result === undefined) return 'done'
      acted(action.kind, result.kind)
      if (result.kind === 'blocked') {
        const pods = unit?.pods ?? []
        const refused = 'pod' in action ? pods.filter(({ metadata }) => metadata.uid === action.pod.uid) : pods
        this.#tell(refused.map(pod => ({ pod, note: `${action.kind} was refused: ${result.message}` })))
        throw new Error(`${action.kind} was refused: ${result.message}`)
      }
      const isOver = result.kind === 'ending' || (result.kind === 'gone' && 'pod' in action)
      return result.kind === 'done' || isOver ? 'done' : 'retry'
    } catch (error) {
      acted(action.kind, 'error')
      throw error
    }
  }

  #wrote(resource: Resource, object: KubeObject): void {
    this.offer(resource, object)
    this.#deps.wrote(resource, object)
  }

  /** What this replica has written, here or in its other loop. */
  offer(resource: Resource, object: KubeObject): void {
    if (resource === PODS) this.#caches.pods.offer(object as Pod)
    if (resource === KAI_POD_GROUPS) this.#caches.kaiPodGroups.offer(object as KaiPodGroup)
  }

  #tell(held: readonly Held[]): void {
    for (const { pod, note } of held) {
      const { namespace = '', name = '', uid = '' } = pod.metadata
      const regarding = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid }
      this.#deps.events.record({ regarding, type: 'Warning', reason: 'PodGrouperWarning', action: 'Group', note })
    }
  }

  #world(): KaiWorld {
    const { workloads, podGroups, kaiPodGroups, topologies, priorityClasses } = this.#caches
    const version = this.#deps.scheduling.served.kubernetes?.version ?? 'v1beta1'
    return {
      naming: this.#deps.naming,
      apiVersion: `${SCHEDULING_GROUP}/${version}`,
      workload: (namespace, name) => workloads.map(each => each.get(namespace, name)).find(each => each !== undefined),
      podGroup: (namespace, name) => podGroups.map(each => each.get(namespace, name)).find(each => each !== undefined),
      kaiPodGroups: name => kaiPodGroups.byIndex('name', name),
      topologies: () => topologies.values(),
      priorityClass: name => {
        const found = priorityClasses.get('', name)
        return found === undefined ? undefined : { globalDefault: found.globalDefault === true }
      },
    }
  }
}

/** Of pods that carry the mark and name nothing: nobody will ever make a group for them. */
const NAMELESS = 'none'

function unitKeyOf(pod: Pod): string {
  const reference = groupReferenceOf(pod)
  return reference === undefined ? NAMELESS : identityOf(pod.metadata.namespace ?? '', reference)
}

function unitOf(pods: readonly Pod[]): KaiUnit | undefined {
  const [first] = pods
  const reference = first === undefined ? undefined : groupReferenceOf(first)
  if (first === undefined || reference === undefined) return undefined
  return { namespace: first.metadata.namespace ?? '', reference, pods }
}
