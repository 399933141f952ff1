import { ApiError } from '../../../src/kube/vocabulary/api.ts'
import { KAI_POD_GROUP, KAI_POD_GROUPS } from '../../../src/kube/vocabulary/kai.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import { COMPOSITE_POD_GROUPS, POD_GROUPS, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { asPod, gatesOf, isDeleting, isTerminal, saysItIsOver } from '../facts.ts'
import type { ModelServer, Stored } from '../model/server.ts'
import type { Agenda } from '../time/agenda.ts'
import type { Dice } from '../time/dice.ts'

/** How a pod behaves once it runs; written on the pod itself, so that a manifest says everything about it. */
export const RUN_MS = 'sim/run-ms'
export const OUTCOME = 'sim/outcome'
/** The scheduler of pods that name it. */
export const KAI = 'kai-scheduler'

/** One more than can be lost, so that there is always a place to go. */
const NODES = ['node-1', 'node-2', 'node-3', 'node-4']
const NODE_CONTROLLER_MS = 15_000
const POD_GC_MS = 25_000

/** The scheduler and the kubelets: bind what has no gate, run it, end it, and stop what is deleted. */
export class Nodes {
  readonly #agenda: Agenda
  readonly #server: ModelServer
  readonly #dice: Dice
  readonly #lost = new Set<string>()
  /** What the kubelet last said of a pod, by its uid: it believes its own eyes, whatever others write there. */
  readonly #phases = new Map<string, string>()

  constructor(agenda: Agenda, server: ModelServer, dice: Dice) {
    this.#agenda = agenda
    this.#server = server
    this.#dice = dice
    server.subscribe(({ resource, type, before, after }) => {
      if (resource !== PODS || type === 'deleted') return
      this.#look(before === undefined ? undefined : asPod(before), asPod(after))
    })
  }

  /** A node is lost and the controllers are not through with it. */
  get troubled(): boolean {
    return this.#lost.size > 0
  }

  lose(node: string): void {
    this.#lost.add(node)
    const eachPod = (act: (object: Stored) => void) => {
      for (const object of this.#server.all(PODS)) {
        if (asPod(object).spec.nodeName === node) ignoreRaces(() => act(object))
      }
    }
    this.#agenda.after(NODE_CONTROLLER_MS, () =>
      eachPod(object => this.#remove(object, undefined, 'system:node-controller')),
    )
    // The node object goes, and with it the hope that its kubelet will ever confirm anything.
    this.#agenda.after(POD_GC_MS, () => {
      eachPod(object => {
        if (!isTerminal(asPod(object))) this.#giveUp(asPod(object))
        this.#remove(object, 0, 'system:pod-garbage-collector')
      })
      this.#lost.delete(node)
    })
  }

  #look(before: Pod | undefined, pod: Pod): void {
    const { nodeName } = pod.spec
    const said = this.#phases.get(pod.metadata.uid ?? '')
    if (said !== undefined && pod.status?.phase !== said) this.#later(500, 5000, pod, current => this.#correct(current))
    if (isDeleting(pod)) {
      if (nodeName && !(before && isDeleting(before))) this.#later(100, 6_000, pod, current => this.#stop(current))
      return
    }
    if (!nodeName) {
      const wanted = (pod: Pod) => gatesOf(pod).length === 0 && !saysItIsOver(pod)
      const ready = wanted(pod)
      const wasReady = before !== undefined && wanted(before)
      // KAI goes round in cycles of a second and more.
      const [low, high] = pod.spec.schedulerName === KAI ? [300, 3000] : [5, 300]
      if (ready && !wasReady) this.#later(low, high, pod, current => this.#schedule(current))
    } else if (!before?.spec.nodeName) {
      this.#later(50, 800, pod, current => this.#run(current))
    }
  }

  #schedule(pod: Pod): void {
    if (saysItIsOver(pod)) return
    // Whether all of a gang fit is for the real scheduler to say; without its groups no pod is looked at by either.
    if (!this.#hasItsGroups(pod)) {
      this.#later(200, 600, pod, current => this.#schedule(current))
      return
    }
    const nodes = NODES.filter(node => !this.#lost.has(node))
    const { namespace = '', name = '' } = pod.metadata
    this.#server.bind({ namespace, name }, this.#dice.pick(nodes))
  }

  #hasItsGroups(pod: Pod): boolean {
    const { namespace } = pod.metadata
    // KAI goes by the link alone, and by the name in it alone.
    if (pod.spec.schedulerName === KAI) {
      const link = pod.metadata.annotations?.[KAI_POD_GROUP]
      return this.#server.all(KAI_POD_GROUPS).some(({ metadata }) => metadata.name === link)
    }
    const name = pod.spec.schedulingGroup?.podGroupName
    if (name === undefined) return true
    const podGroup = this.#server.find(POD_GROUPS.v1beta1, namespace, name)
    const above = podGroup && parentOf(podGroup)
    return (
      podGroup !== undefined &&
      (above === undefined || Boolean(this.#server.find(COMPOSITE_POD_GROUPS, namespace, above)))
    )
  }

  #run(pod: Pod): void {
    if (isDeleting(pod) || this.#hasEnded(pod) || this.#isLost(pod)) return
    this.#report(pod, 'Running')
    const runMs = Number(pod.metadata.annotations?.[RUN_MS] ?? 1000)
    this.#later(runMs, runMs, pod, current => {
      if (isDeleting(current) || this.#hasEnded(current) || this.#isLost(current)) return
      const succeeds = current.metadata.annotations?.[OUTCOME] !== 'fail'
      this.#report(current, succeeds ? 'Succeeded' : 'Failed')
    })
  }

  /** The containers are down: the kubelet says how they ended and confirms the deletion. */
  #stop(pod: Pod): void {
    if (this.#isLost(pod)) return
    if (!this.#hasEnded(pod)) this.#report(pod, 'Failed')
    this.#remove(pod as Stored, 0, 'system:node')
  }

  #isLost(pod: Pod): boolean {
    return this.#lost.has(pod.spec.nodeName ?? '')
  }

  #hasEnded({ metadata: { uid = '' } }: Pod): boolean {
    return this.#phases.has(uid) && this.#phases.get(uid) !== 'Running'
  }

  /** Somebody wrote another phase than the kubelet: it says again what it sees. */
  #correct(pod: Pod): void {
    const said = this.#phases.get(pod.metadata.uid ?? '')
    if (said !== undefined && pod.status?.phase !== said && !this.#isLost(pod)) this.#report(pod, said)
  }

  #report(pod: Pod, phase: string): void {
    this.#phases.set(pod.metadata.uid ?? '', phase)
    const state = phase === 'Running' ? { running: {} } : { terminated: { exitCode: phase === 'Failed' ? 1 : 0 } }
    this.#setStatus(pod, { phase, containerStatuses: [{ name: 'main', state }] }, 'system:node')
  }

  /** Nobody is left who could say what became of the containers. */
  #giveUp(pod: Pod): void {
    this.#phases.delete(pod.metadata.uid ?? '')
    const lost = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC' }
    this.#setStatus(pod, { phase: 'Failed', conditions: [lost] }, 'system:pod-garbage-collector')
  }

  #setStatus(pod: Pod, status: object, who: string): void {
    const { namespace = '', name = '' } = pod.metadata
    const ref = { namespace, name, subresource: 'status' }
    this.#server.patch(PODS, ref, { type: 'merge', body: { status } }, who)
  }

  #remove(pod: Stored, graceSeconds: number | undefined, who: string): void {
    const { namespace = '', name = '', uid } = pod.metadata
    const options = { ...(uid !== undefined && { uid }), ...(graceSeconds !== undefined && { graceSeconds }) }
    this.#server.remove(PODS, { namespace, name }, options, who)
  }

  #later(low: number, high: number, { metadata }: Pod, act: (pod: Pod) => void): void {
    this.#agenda.after(low + this.#dice.next() * (high - low), () => {
      const current = this.#server.find(PODS, metadata.namespace, metadata.name ?? '')
      if (current !== undefined && current.metadata.uid === metadata.uid) ignoreRaces(() => act(asPod(current)))
    })
  }
}

/** The group of groups that a PodGroup is under. */
export const parentOf = ({ spec }: Stored): string | undefined =>
  (spec as { readonly parentCompositePodGroupName?: string } | undefined)?.parentCompositePodGroupName

/** Somebody else was faster, or the API server refuses: an actor shrugs. Bugs of the model are not shrugged off. */
export function ignoreRaces(act: () => void): ApiError | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}
