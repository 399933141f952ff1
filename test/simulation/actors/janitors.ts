import type { Resource } from '../../../src/kube/vocabulary/api.ts'

import { NAMESPACES, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { isDeleting } from '../facts.ts'
import type { ModelServer, Stored } from '../model/server.ts'
import type { Agenda } from '../time/agenda.ts'
import type { Dice } from '../time/dice.ts'
import { ignoreRaces } from './nodes.ts'

const GC = 'system:generic-garbage-collector'
const NAMESPACE_CONTROLLER = 'system:namespace-controller'
const NAMESPACE_FINALIZER = 'kubernetes'
/** Holds an object until what it owns has been made to forget it (`--cascade=orphan`). */
export const ORPHAN = 'orphan'

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
      const ownerGone = resource === PODS && type === 'deleted'
      const dependentThere = resource === this.#server.workloads && type !== 'deleted'
      if (ownerGone || dependentThere) this.#sweepSoon()
      const orphans = after.metadata.finalizers?.includes(ORPHAN) && isDeleting(after)
      if (resource === PODS && type === 'updated' && orphans) this.#orphanSoon(after)
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
      for (const workload of this.#server.all(this.#server.workloads)) ignoreRaces(() => this.#collect(workload))
    })
  }

  /** An object whose owners are all gone goes too; of several owners, those that are gone are struck off. */
  #collect(object: Stored): void {
    const owners = object.metadata.ownerReferences ?? []
    if (owners.length === 0) return
    const { namespace, name = '', uid, resourceVersion } = object.metadata
    const ref = { name, ...(namespace !== undefined && { namespace }) }
    const solid = owners.filter(owner => this.#server.find(PODS, namespace, owner.name)?.metadata.uid === owner.uid)
    if (solid.length === 0) {
      if (!isDeleting(object))
        this.#server.remove(this.#server.workloads, ref, { ...(uid !== undefined && { uid }) }, GC)
    } else if (solid.length < owners.length) {
      const body = { metadata: { uid, resourceVersion, ownerReferences: solid } }
      this.#server.patch(this.#server.workloads, ref, { type: 'merge', body }, GC)
    }
  }

  #orphanSoon({ metadata: { namespace = '', name = '', uid } }: Stored): void {
    this.#agenda.after(50 + this.#dice.next() * 1500, () => {
      const pod = this.#server.find(PODS, namespace, name)
      if (pod?.metadata.uid !== uid || !pod?.metadata.finalizers?.includes(ORPHAN)) return
      for (const workload of this.#server.all(this.#server.workloads)) ignoreRaces(() => this.#strikeOff(workload, uid))
      const metadata = { '$deleteFromPrimitiveList/finalizers': [ORPHAN] }
      ignoreRaces(() => this.#server.patch(PODS, { namespace, name }, { type: 'strategic', body: { metadata } }, GC))
    })
  }

  #strikeOff({ metadata }: Stored, owner: string | undefined): void {
    const { namespace, name = '', uid, resourceVersion, ownerReferences = [] } = metadata
    const others = (ownerReferences ?? []).filter(reference => reference.uid !== owner)
    if (others.length === ownerReferences?.length) return
    const ref = { name, ...(namespace !== undefined && { namespace }) }
    const body = { metadata: { uid, resourceVersion, ownerReferences: others } }
    this.#server.patch(this.#server.workloads, ref, { type: 'merge', body }, GC)
  }

  #emptySoon(namespace: Stored): void {
    this.#agenda.after(200 + this.#dice.next() * 1500, () => {
      const name = namespace.metadata.name ?? ''
      if (this.#server.find(NAMESPACES, '', name)?.metadata.uid !== namespace.metadata.uid) return
      const pods = this.#in(name, PODS)
      // Nothing else is touched before the last pod is gone (OrderedNamespaceDeletion, KEP-5080).
      const resource = pods.length > 0 ? PODS : this.#server.workloads
      const objects = pods.length > 0 ? pods : this.#in(name, this.#server.workloads)
      for (const object of objects.filter(object => !isDeleting(object))) {
        const ref = { namespace: name, name: object.metadata.name ?? '' }
        ignoreRaces(() => this.#server.remove(resource, ref, {}, NAMESPACE_CONTROLLER))
      }
      if (objects.length > 0) this.#emptySoon(namespace)
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
