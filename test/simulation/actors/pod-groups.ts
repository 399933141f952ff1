import { POD_GROUPS, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { asPod, isDeleting, isTerminal } from '../facts.ts'
import type { ModelServer, Stored } from '../model/server.ts'
import type { Agenda } from '../time/agenda.ts'
import type { Dice } from '../time/dice.ts'
import { ignoreRaces } from './nodes.ts'

/** Kubernetes 1.37 with PodGroups. */
export const POD_GROUP = POD_GROUPS.v1beta1
export const PROTECTION = 'scheduling.k8s.io/podgroup-protection'

/** The controller that keeps a deleted PodGroup as long as a pod names it that has not ended. */
export class PodGroupProtection {
  readonly #agenda: Agenda
  readonly #server: ModelServer
  readonly #dice: Dice

  constructor(agenda: Agenda, server: ModelServer, dice: Dice) {
    this.#agenda = agenda
    this.#server = server
    this.#dice = dice
    server.subscribe(({ resource, after, before }) => {
      if (resource === POD_GROUP && isDeleting(after)) this.#lookSoon(after)
      const named = resource === PODS ? podGroupOf(before ?? after) : undefined
      const group = named && server.find(POD_GROUP, after.metadata.namespace, named)
      if (group && isDeleting(group)) this.#lookSoon(group)
    })
  }

  #lookSoon({ metadata: { namespace = '', name = '', uid } }: Stored): void {
    this.#agenda.after(20 + this.#dice.next() * 1000, () => {
      const group = this.#server.find(POD_GROUP, namespace, name)
      if (group === undefined || group.metadata.uid !== uid || !isDeleting(group)) return
      const inUse = this.#server
        .all(PODS)
        .some(pod => pod.metadata.namespace === namespace && podGroupOf(pod) === name && !isTerminal(asPod(pod)))
      if (inUse) return
      const metadata = { '$deleteFromPrimitiveList/finalizers': [PROTECTION] }
      const ref = { namespace, name }
      ignoreRaces(() =>
        this.#server.patch(POD_GROUP, ref, { type: 'strategic', body: { metadata } }, 'system:podgroup-protection'),
      )
    })
  }
}

export const podGroupOf = (pod: Stored): string | undefined => asPod(pod).spec.schedulingGroup?.podGroupName
