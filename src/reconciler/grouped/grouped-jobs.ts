import type { OptionalInformer } from '../../kube/cache/optional-informer.ts'
import type { EventRecorder } from '../../kube/coordination/events.ts'
import type { Resource } from '../../kube/vocabulary/api.ts'
import { controllerOf, type KubeObject } from '../../kube/vocabulary/objects.ts'
import { SCHEDULING_WORKLOADS } from '../../kube/vocabulary/resources.ts'
import type { ServedScheduling } from '../../kube/vocabulary/served-scheduling.ts'
import type { SchedulingWorkload } from '../../workload/builder/objects.ts'
import { GROUPED_KINDS, type GroupedKind, type GroupedObject } from '../../workload/grouped/grouped-object.ts'
import { asWorkload, parentIn } from '../../workload/mappers/parent.ts'
import { allToTheirEnd } from '../lanes.ts'
import type { Outcome, Performer } from '../performer.ts'
import { decideGrouped, failed, type GroupedUnit, type Told } from './decide-grouped.ts'

export interface GroupedJobsDeps {
  readonly jobs: ReadonlyMap<GroupedKind, OptionalInformer<GroupedObject>>
  /** The caches of the scheduler's objects, which others read, too. */
  readonly scheduling: ReadonlyMap<Resource, OptionalInformer<KubeObject>>
  readonly served: () => ServedScheduling
  readonly events: EventRecorder
  /** Puts a key into the work queue. */
  readonly add: (key: string) => void
}

/**
 * Makes the scheduler's objects of the Jobs and JobSets that have the mark, whatever is configured now: their pods name
 * a group already, and without it they would wait for ever.
 */
export class GroupedJobs {
  readonly #deps: GroupedJobsDeps

  constructor(deps: GroupedJobsDeps) {
    this.#deps = deps
    for (const [kind, informer] of deps.jobs) {
      informer.subscribe(({ object, type }) => {
        if (type === 'deleted') deps.events.forget(object.metadata.uid ?? '', 'Group')
        deps.add(keyOf(kind, object))
      })
    }
    for (const [resource, informer] of deps.scheduling) {
      if (resource.group !== SCHEDULING_WORKLOADS.v1beta1.group) continue
      informer.subscribe(({ object }) => this.#concerned(object))
    }
  }

  /** For a new leader, and when something else is served than before. */
  addAll(concerns: (object: KubeObject) => boolean): void {
    for (const [kind, informer] of this.#deps.jobs) {
      for (const object of informer.values()) if (concerns(object)) this.#deps.add(keyOf(kind, object))
    }
  }

  /** Whose object it is, and who takes his group from a Workload like this. */
  #concerned(object: KubeObject): void {
    const { namespace = '', ownerReferences } = object.metadata
    const owner = controllerOf(ownerReferences)
    for (const [kind, informer] of this.#deps.jobs) {
      const found = owner?.kind === kind.resource.kind ? informer.get(namespace, owner.name) : undefined
      if (found !== undefined) this.#deps.add(keyOf(kind, found))
      const parent = parentIn(object)
      if (parent === undefined) continue
      for (const child of informer.byIndex('parent', `${namespace}/${parent}`)) this.#deps.add(keyOf(kind, child))
    }
  }

  async reconcile(key: string, performer: Performer, turn: number): Promise<Outcome> {
    const unit = this.#unitFrom(key)
    const { steps, told } = decideGrouped(unit)
    for (const each of told) this.#tell(unit, each)
    const outcomes = await allToTheirEnd(
      steps.map(async ({ action, news }) => {
        const outcome = await performer.performAll([action], turn, (_action, message) => {
          this.#tell(unit, failed(unit, 'Create', message))
          return []
        })
        if (outcome === 'settled' && news !== undefined) this.#tell(unit, news)
        return outcome
      }),
    )
    return outcomes.find(outcome => outcome !== 'settled') ?? 'settled'
  }

  #unitFrom(key: string): GroupedUnit {
    const [word, namespace = '', name = ''] = key.split('/')
    const kind = GROUPED_KINDS.find(each => each.word === word)
    if (kind === undefined) throw new Error(`no kind of ${key} is grouped`)
    const { scheduling, served } = this.#deps
    return {
      kind,
      object: this.#deps.jobs.get(kind)?.get(namespace, name),
      served: served(),
      find: (resource, wanted) => scheduling.get(resource)?.get(namespace, wanted),
      workloadsFor: ({ kind, name }) => this.#workloadsFor(namespace, `${kind}/${name}`),
    }
  }

  #workloadsFor(namespace: string, parent: string): readonly SchedulingWorkload[] {
    return Object.values(SCHEDULING_WORKLOADS)
      .flatMap(resource => this.#deps.scheduling.get(resource)?.byIndex('parent', `${namespace}/${parent}`) ?? [])
      .flatMap(object => asWorkload({ ...object }) ?? [])
  }

  #tell({ kind, object }: GroupedUnit, { type, reason, note }: Told): void {
    if (object === undefined) return
    const { group, version } = kind.resource
    const { namespace, name = '', uid = '' } = object.metadata
    const regarding = { apiVersion: `${group}/${version}`, kind: kind.resource.kind, name, uid }
    const apart = reason === 'WorkloadCreated' || reason === 'PodGroupCreated'
    this.#deps.events.record({
      regarding: { ...regarding, ...(namespace !== undefined && { namespace }) },
      ...{ type, reason, note, action: 'Group' },
      ...(apart && { apart }),
    })
  }
}

export const isGroupedKey = (word: string): boolean => GROUPED_KINDS.some(kind => kind.word === word)

const keyOf = ({ word }: GroupedKind, { metadata: { namespace, name } }: KubeObject): string =>
  `${word}/${namespace}/${name}`
