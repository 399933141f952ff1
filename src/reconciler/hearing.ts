import type { KubeObject } from '../kube/vocabulary/objects.ts'
import { uidOf } from '../workload/pod-facts.ts'
import type { Caches } from './caches.ts'
import { objectKey } from './co-scheduler.ts'
import type { Engine } from './engine.ts'
import { jobKeyOf } from './jobs/job-unit.ts'
import { supersededKeyOf } from './superseded.ts'
import type { NamespaceScope, ServedPort } from './surroundings.ts'
import { isStray, type Records, strayKeyOf, unitKeyOf, unitKeyOfWorkload } from './unit.ts'

/** What is to be looked at because of what was heard. */
export interface Heard {
  /** Whatever it is: how far the cluster has come. */
  readonly saw: (object: KubeObject) => void
  /** A key for the work queue. */
  readonly add: (key: string) => void
  /** Every unit and every Job, or those that it concerns. */
  readonly addAll: (concerns?: (object: KubeObject) => boolean) => void
  readonly addJobs: (concerns: (object: KubeObject) => boolean) => void
  readonly addQueues: () => void
  /** It is gone: nothing that was told of it counts any more. */
  readonly forget: (object: KubeObject) => void
  readonly remember: (stray: string) => void
  /** Whether what changes has to be looked at: before that everything is looked at anyway, once. */
  readonly isLed: () => boolean
}

export interface Around {
  readonly engine: Engine
  readonly scope: NamespaceScope
  readonly scheduling: ServedPort
}

/** Turns every change into the keys of the units and queues that it concerns. Returns how to hear no more of what outlives the caches. */
export function listen(
  caches: Caches,
  around: Around,
  records: Pick<Records, 'ownedBy'>,
  to: Heard,
): readonly (() => void)[] {
  listenToPods(caches, records, to)
  listenToJobs(caches, to)
  listenToEngine(caches, around.engine, to)
  return listenAround(around, to)
}

function listenToPods({ pods, scheduling }: Caches, records: Pick<Records, 'ownedBy'>, to: Heard): void {
  pods.subscribe(({ object, previous, type }) => {
    to.saw(object)
    if (type === 'deleted') to.forget(object)
    if (type === 'deleted' && isStray(object)) to.remember(strayKeyOf(object))
    if (previous !== undefined) to.add(unitKeyOf(previous))
    to.add(unitKeyOf(object))
    for (const workload of records.ownedBy(uidOf(object))) to.add(unitKeyOfWorkload(workload))
  })
  for (const [resource, informer] of scheduling) {
    informer.subscribe(({ object: { metadata } }) => {
      for (const namespace of [metadata.namespace ?? '', '']) {
        const key = objectKey(resource, namespace, metadata.name ?? '')
        for (const pod of pods.byIndex('placed', key)) to.add(unitKeyOf(pod))
      }
    })
  }
}

function listenToJobs({ jobs, limitRanges }: Caches, to: Heard): void {
  for (const [kind, informer] of jobs) {
    informer.subscribe(({ object, type }) => {
      to.saw(object)
      if (type === 'deleted') to.forget(object)
      to.add(jobKeyOf(kind, object))
    })
  }
  // What its pods will ask for may be another amount now. There may be one in each of thousands of namespaces.
  limitRanges.subscribe(({ object: { metadata } }) => {
    if (to.isLed()) to.addJobs(job => job.metadata.namespace === metadata.namespace)
  })
}

function listenToEngine({ pods, workloads, background, superseded }: Caches, engine: Engine, to: Heard): void {
  for (const [kind, informer] of background) {
    informer.subscribe(({ object, type }) => {
      kind.see(object, type === 'deleted')
      // Who is told by it, and who waits for it, nobody knows but the engine; it changes seldom.
      if (to.isLed()) to.addAll()
    })
  }
  superseded?.subscribe(({ object }) => to.add(supersededKeyOf(object)))
  workloads.subscribe(({ object, type }) => {
    to.saw(object)
    const queues = engine.decider?.observe(object, type === 'deleted') ?? []
    for (const queue of queues) to.add(`queue/${queue}`)
    to.add(unitKeyOfWorkload(object))
    const { namespace, name } = object.metadata
    for (const pod of pods.byIndex('prebuilt', `${namespace}/${name}`)) to.add(unitKeyOf(pod))
  })
}

function listenAround({ engine, scope, scheduling }: Around, to: Heard): readonly (() => void)[] {
  // Who waits for what is not served any more, or is now, would hear of it from nobody else.
  const served = scheduling.onChange(() => {
    if (to.isLed()) to.addAll()
  })
  engine.onChange?.(() => {
    if (!to.isLed()) return
    to.addAll()
    to.addQueues()
  })
  const selected = scope.onChange(namespace => {
    // There may be thousands of namespaces.
    if (to.isLed()) to.addAll(({ metadata }) => metadata.namespace === namespace)
  })
  return [served, selected]
}
