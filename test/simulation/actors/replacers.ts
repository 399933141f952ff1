import { GROUP_NAME, GROUP_ROLE, QUEUE_NAME } from '../../../src/kube/vocabulary/names.ts'

import { PODS } from '../../../src/kube/vocabulary/resources.ts'
import { asPod, asWorkload, conditionOf, groupOf, isDeleting, phaseOf } from '../facts.ts'
import type { ModelServer, Stored } from '../model/server.ts'
import type { Agenda } from '../time/agenda.ts'
import type { Dice } from '../time/dice.ts'
import { ignoreRaces, OUTCOME } from './nodes.ts'

/** On a pod: a controller keeps its place filled. The value says how often it was replaced already. */
export const REPLACED = 'sim/replaced'
/** On a pod: the replacement has the same name, as in a StatefulSet, and comes as soon as the name is free. */
export const SAME_NAME = 'sim/same-name'
const MOST_REPLACEMENTS = 2
const TEMPLATE_LABELS: ReadonlySet<string> = new Set([QUEUE_NAME, GROUP_NAME, GROUP_ROLE])

/** As a Job does it: a member that failed or went away is created anew under another name. */
export class Replacers {
  readonly #agenda: Agenda
  readonly #server: ModelServer
  readonly #dice: Dice
  readonly #done = new Set<string>()

  constructor(agenda: Agenda, server: ModelServer, dice: Dice) {
    this.#agenda = agenda
    this.#server = server
    this.#dice = dice
    server.subscribe(({ resource, type, after }) => {
      const { annotations, uid = '' } = after.metadata
      if (resource !== PODS || annotations?.[REPLACED] === undefined || this.#done.has(uid)) return
      const phase = phaseOf(asPod(after))
      const sameName = annotations[SAME_NAME] !== undefined
      const over = type === 'deleted' || (!sameName && (phase === 'Failed' || isDeleting(after)))
      if (phase === 'Succeeded' || !over) return
      this.#done.add(uid)
      this.#agenda.after(sameName ? 1 : 20 + this.#dice.next() * 3000, () => this.#replace(after))
    })
  }

  #replace(pod: Stored): void {
    const { namespace, name = '', annotations, labels } = pod.metadata
    const times = Number(annotations?.[REPLACED] ?? 0) + 1
    const workload = this.#server.find(this.#server.workloads, namespace, groupOf(asPod(pod)) ?? '')
    if (times > MOST_REPLACEMENTS || (workload && conditionOf(asWorkload(workload), 'Finished') === 'True')) return
    const { nodeName: _, schedulingGates: __, ...spec } = pod.spec as Record<string, unknown>
    const kept = Object.fromEntries(
      Object.entries(annotations ?? {}).filter(([key]) => key.startsWith('sim/') || key.includes('pod-group')),
    )
    const metadata = {
      name: annotations?.[SAME_NAME] === undefined ? `${name}-r` : name,
      ...(namespace !== undefined && { namespace }),
      labels: Object.fromEntries(Object.entries(labels ?? {}).filter(([key]) => TEMPLATE_LABELS.has(key))),
      annotations: { ...kept, [REPLACED]: String(times), ...(times === MOST_REPLACEMENTS && { [OUTCOME]: 'succeed' }) },
    }
    ignoreRaces(() => this.#server.create(PODS, { metadata, spec }, 'system:serviceaccount:ml:jobs'))
  }
}
