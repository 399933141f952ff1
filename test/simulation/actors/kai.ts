import { KAI_POD_GROUP, KAI_POD_GROUPS, KAI_WRITTEN } from '../../../src/kube/vocabulary/kai.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import { PODS } from '../../../src/kube/vocabulary/resources.ts'
import { asPod, isDeleting } from '../facts.ts'
import type { ModelServer, Stored } from '../model/server.ts'
import type { Agenda } from '../time/agenda.ts'
import type { Dice } from '../time/dice.ts'
import { ignoreRaces, KAI } from './nodes.ts'

const SCHEDULER = 'system:serviceaccount:kai-scheduler:scheduler'
const POD_GROUPER = 'system:serviceaccount:kai-scheduler:pod-grouper'

/**
 * KAI as it ships. Its pod-grouper gives every pod that has an owner, or no link, a PodGroup of its own, gated or not,
 * once for every change of the pod; its scheduler writes on PodGroups what it thinks of them.
 */
export class Kai {
  readonly #agenda: Agenda
  readonly #server: ModelServer
  readonly #dice: Dice

  constructor(agenda: Agenda, server: ModelServer, dice: Dice) {
    this.#agenda = agenda
    this.#server = server
    this.#dice = dice
    server.subscribe(({ resource, type, after }) => {
      if (type === 'deleted' || isDeleting(after)) return
      if (resource === KAI_POD_GROUPS && type === 'created') this.#judgeSoon(after)
      if (resource === PODS && wantsRegrouping(asPod(after))) this.#regroupSoon(after)
    })
  }

  #regroupSoon({ metadata: { namespace = '', name = '', uid = '' } }: Stored): void {
    this.#agenda.after(50 + this.#dice.next() * 2000, () => {
      const pod = this.#server.find(PODS, namespace, name)
      if (pod?.metadata.uid !== uid || pod === undefined || isDeleting(pod) || !wantsRegrouping(asPod(pod))) return
      const group = `pg-${name}-${uid}`
      const owner = { apiVersion: 'v1', kind: 'Pod', name, uid }
      const metadata = { name: group, namespace, ownerReferences: [owner] }
      ignoreRaces(() => this.#server.create(KAI_POD_GROUPS, { metadata, spec: { minMember: 1 } }, POD_GROUPER))
      const body = { metadata: { annotations: { [KAI_POD_GROUP]: group } } }
      ignoreRaces(() => this.#server.patch(PODS, { namespace, name }, { type: 'merge', body }, POD_GROUPER))
    })
  }

  /** What it says of a group, and what it, or who moves a group to another queue of KAI's, notes there. */
  #judgeSoon({ metadata: { namespace = '', name = '' } }: Stored): void {
    const ref = { namespace, name }
    const write = (at: typeof ref & { subresource?: string }, body: object) =>
      this.#agenda.after(50 + this.#dice.next() * 3000, () => {
        ignoreRaces(() => this.#server.patch(KAI_POD_GROUPS, at, { type: 'merge', body }, SCHEDULER))
      })
    if (this.#dice.chance(0.4)) {
      const held = { type: 'UnschedulableOnNodePool', status: 'True', message: 'not enough room' }
      write({ ...ref, subresource: 'status' }, { status: { schedulingConditions: [held] } })
    }
    if (this.#dice.chance(0.4)) {
      const [, started = ''] = KAI_WRITTEN
      write(ref, { metadata: { annotations: { [started]: 'now' } }, spec: { queue: 'moved' } })
    }
  }
}

const wantsRegrouping = ({ metadata, spec }: Pod): boolean =>
  spec.schedulerName === KAI &&
  ((metadata.ownerReferences ?? []).length > 0 || metadata.annotations?.[KAI_POD_GROUP] === undefined)
