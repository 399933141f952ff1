import type { Resource } from '../../../src/kube/vocabulary/api.ts'
import { KAI_POD_GROUPS } from '../../../src/kube/vocabulary/kai.ts'
import type { OwnerReference } from '../../../src/kube/vocabulary/objects.ts'

import {
  COMPOSITE_POD_GROUPS,
  JOB_SETS,
  JOBS,
  NAMESPACES,
  POD_GROUPS,
  PODS,
  SCHEDULING_WORKLOADS,
} from '../../../src/kube/vocabulary/resources.ts'
import { isDeleting } from '../facts.ts'
import type { ModelServer, Stored } from '../model/server.ts'
import type { Agenda } from '../time/agenda.ts'
import type { Dice } from '../time/dice.ts'
import { ignoreRaces } from './nodes.ts'

export const GC = 'system:generic-garbage-collector'
const NAMESPACE_CONTROLLER = 'system:namespace-controller'
const NAMESPACE_FINALIZER = 'kubernetes'
/** Holds an object until what it owns has been made to forget it (`--cascade=orphan`). */
export const ORPHAN = 'orphan'
/** Holds an object until what it owns is gone (`--cascade=foreground`). */
export const FOREGROUND = 'foregroundDeletion'

/** What schedulers place by. A PodGroup of KAI may belong to one of Kubernetes. */
const OWNERS: readonly Resource[] = [PODS, JOBS, JOB_SETS, POD_GROUPS.v1beta1]
const PLACING: readonly Resource[] = [
  POD_GROUPS.v1beta1,
  SCHEDULING_WORKLOADS.v1beta1,
  KAI_POD_GROUPS,
  COMPOSITE_POD_GROUPS,
]

/** The controllers of Kubernetes that clean up: the garbage collector of owner references, and that of namespaces. */
export class Janitors {
  readonly #agenda: Agenda
  readonly #server: ModelServer
  readonly #dice: Dice
  #sweeping = false

  constructor(agenda: Agenda, server: ModelServer, dice: Dice) {
    this.#agenda = agenda
    this.#server = server
    this.#dice = dice
    server.subscribe(({ resource, type, after }) => {
      const owns = OWNERS.includes(resource)
      const ownerGone = (owns || resource === this.#server.workloads) && type === 'deleted'
      const dependent = resource === this.#server.workloads || PLACING.includes(resource)
      const dependentThere = dependent && type !== 'deleted'
      if (ownerGone || dependentThere) this.#sweepSoon()
      const finalizers = (isDeleting(after) && after.metadata.finalizers) || []
      if (owns && type === 'updated' && finalizers.includes(ORPHAN)) this.#orphanSoon(resource, after)
      if (resource === JOBS && type === 'updated' && finalizers.includes(FOREGROUND)) this.#clearSoon(after)
      if (resource === NAMESPACES && type === 'updated' && isDeleting(after)) this.#emptySoon(after)
    })
  }

  createNamespace(name: string): void {
    const metadata = { name, labels: { 'kubernetes.io/metadata.name': name }, finalizers: [NAMESPACE_FINALIZER] }
    this.#server.create(NAMESPACES, { metadata }, 'admin')
  }

  #sweepSoon(): void {
    if (this.#sweeping) return
    this.#sweeping = true
    this.#agenda.after(50 + this.#dice.next() * 1500, () => {
      this.#sweeping = false
      for (const resource of [this.#server.workloads, JOBS, PODS, ...PLACING]) {
        for (const object of this.#server.all(resource)) ignoreRaces(() => this.#collect(resource, object))
      }
    })
  }

  /** An object whose owners are all gone goes too; of several owners, those that are gone are struck off. */
  #collect(resource: Resource, object: Stored): void {
    const owners = object.metadata.ownerReferences ?? []
    if (owners.length === 0) return
    const { namespace, name = '', uid, resourceVersion } = object.metadata
    const ref = { name, ...(namespace !== undefined && { namespace }) }
    const kinds = [JOBS, JOB_SETS, this.#server.workloads, POD_GROUPS.v1beta1]
    const kindOf = ({ kind }: OwnerReference) => kinds.find(known => known.kind === kind) ?? PODS
    const solid = owners.filter(
      owner => this.#server.find(kindOf(owner), namespace, owner.name)?.metadata.uid === owner.uid,
    )
    if (solid.length === 0) {
      if (!isDeleting(object)) this.#server.remove(resource, ref, { ...(uid !== undefined && { uid }) }, GC)
    } else if (solid.length < owners.length) {
      const body = { metadata: { uid, resourceVersion, ownerReferences: solid } }
      this.#server.patch(resource, ref, { type: 'merge', body }, GC)
    }
  }

  #orphanSoon(kind: Resource, { metadata: { namespace = '', name = '', uid } }: Stored): void {
    this.#agenda.after(50 + this.#dice.next() * 1500, () => {
      const owner = this.#server.find(kind, namespace, name)
      if (owner?.metadata.uid !== uid || !owner?.metadata.finalizers?.includes(ORPHAN)) return
      for (const resource of [this.#server.workloads, PODS]) {
        for (const object of this.#server.all(resource)) ignoreRaces(() => this.#strikeOff(resource, object, uid))
      }
      this.#release(kind, { namespace, name }, ORPHAN)
    })
  }

  #strikeOff(resource: Resource, { metadata }: Stored, owner: string | undefined): void {
    const { namespace, name = '', uid, resourceVersion, ownerReferences = [] } = metadata
    const others = (ownerReferences ?? []).filter(reference => reference.uid !== owner)
    if (others.length === ownerReferences?.length) return
    const ref = { name, ...(namespace !== undefined && { namespace }) }
    const body = { metadata: { uid, resourceVersion, ownerReferences: others } }
    this.#server.patch(resource, ref, { type: 'merge', body }, GC)
  }

  /** What the Job owns goes first, and the Job when nothing of it is left. */
  #clearSoon({ metadata: { namespace = '', name = '', uid } }: Stored): void {
    this.#agenda.after(50 + this.#dice.next() * 1500, () => {
      const job = this.#server.find(JOBS, namespace, name)
      if (job?.metadata.uid !== uid || job === undefined) return
      let left = 0
      for (const resource of [this.#server.workloads, PODS]) {
        for (const object of this.#server.all(resource)) {
          if (!object.metadata.ownerReferences?.some(owner => owner.uid === uid)) continue
          left++
          const ref = { namespace, name: object.metadata.name ?? '' }
          if (!isDeleting(object)) ignoreRaces(() => this.#server.remove(resource, ref, {}, GC))
        }
      }
      if (left > 0) this.#clearSoon(job)
      else this.#release(JOBS, { namespace, name }, FOREGROUND)
    })
  }

  #release(resource: Resource, ref: { namespace: string; name: string }, finalizer: string): void {
    const metadata = { '$deleteFromPrimitiveList/finalizers': [finalizer] }
    ignoreRaces(() => this.#server.patch(resource, ref, { type: 'strategic', body: { metadata } }, GC))
  }

  #emptySoon(namespace: Stored): void {
    this.#agenda.after(200 + this.#dice.next() * 1500, () => {
      const name = namespace.metadata.name ?? ''
      if (this.#server.find(NAMESPACES, '', name)?.metadata.uid !== namespace.metadata.uid) return
      const pods = this.#in(name, PODS)
      // Nothing else is touched before the last pod is gone (OrderedNamespaceDeletion, KEP-5080).
      const next = pods.length > 0 ? [PODS] : [JOB_SETS, JOBS, this.#server.workloads, ...PLACING]
      const found = next.flatMap(resource => this.#in(name, resource).map(object => ({ resource, object })))
      for (const { resource, object } of found.filter(({ object }) => !isDeleting(object))) {
        const ref = { namespace: name, name: object.metadata.name ?? '' }
        ignoreRaces(() => this.#server.remove(resource, ref, {}, NAMESPACE_CONTROLLER))
      }
      if (found.length > 0) this.#emptySoon(namespace)
      else {
        const body = { metadata: { finalizers: null } }
        this.#server.patch(NAMESPACES, { name }, { type: 'merge', body }, NAMESPACE_CONTROLLER)
      }
    })
  }

  #in(namespace: string, resource: Resource): readonly Stored[] {
    return this.#server.all(resource).filter(({ metadata }) => metadata.namespace === namespace)
  }
}
