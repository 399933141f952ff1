import type { QueueConfiguration } from '../src/config/configuration.ts'
import { builtinEngine } from '../src/engines/builtin/builtin.ts'
import { WORKLOADS } from '../src/engines/builtin/workloads.ts'
import type { KubeApi } from '../src/kube/vocabulary/api.ts'
import { OFFLINE_IDENTITY } from '../src/kube/vocabulary/names.ts'
import type { Pod } from '../src/kube/vocabulary/objects.ts'
import { PODS } from '../src/kube/vocabulary/resources.ts'
import { podForCache } from '../src/reconciler/cache-contents.ts'
import { decide } from '../src/reconciler/decide.ts'
import { perform } from '../src/reconciler/perform.ts'
import { type Records, unitFrom, unitKeyOf } from '../src/reconciler/unit.ts'
import type { Action } from '../src/workload/actions.ts'
import { groupNameOf } from '../src/workload/group.ts'
import { singlePodWorkloadName } from '../src/workload/names.ts'
import type { QueuedWorkload } from '../src/workload/queued-workload.ts'
import { asPod, asWorkload } from '../test/simulation/facts.ts'
import type { ModelServer, Stored } from '../test/simulation/model/server.ts'

/** More rounds than any unit needs until nothing is left to do for it. */
const MOST_ROUNDS = 10

/**
 * Brings units to where Muster would have brought them, by Muster's own decisions and without a connection between: the
 * population of a measurement has to be there, and how long that takes is no part of it.
 */
export class Seed {
  readonly #model: ModelServer
  readonly #api: KubeApi
  readonly #engine: ReturnType<typeof builtinEngine>

  constructor(model: ModelServer, queues: readonly QueueConfiguration[]) {
    this.#model = model
    this.#api = directly(model)
    this.#engine = builtinEngine(queues)
  }

  /** All pods of one unit, by name. */
  async settle(namespace: string, names: readonly string[]): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const pods = names.flatMap(name => this.#model.find(PODS, namespace, name) ?? [])
      const known = pods.map(pod => podForCache(asPod(pod)))
      const [first] = known
      if (first === undefined) return
      const key = unitKeyOf(first)
      const workload = this.#workloadOf(first)
      const now = this.#model.timestamp()
      const { actions } = decide(unitFrom(key, recordsFor(known, workload)), this.#engine, now)
      const admissions = (workload && this.#engine.decider?.decide(workload.spec.queueName, now)) ?? []
      if (actions.length + admissions.length === 0) return
      for (const action of [...actions, ...admissions]) await this.#perform(action)
    }
    throw new Error(`${names[0]} in ${namespace} does not come to rest`)
  }

  async #perform(action: Action): Promise<void> {
    const result = await perform(action, this.#api, (resource, object) => {
      if (resource === WORKLOADS) this.#engine.decider?.observe(this.#engine.forCache(object as QueuedWorkload), false)
    })
    if (result.kind === 'blocked') throw new Error(result.message)
  }

  #workloadOf(pod: Pod): QueuedWorkload | undefined {
    const { namespace, name = '', uid = '' } = pod.metadata
    const found = this.#model.find(WORKLOADS, namespace, groupNameOf(pod) ?? singlePodWorkloadName(name, uid))
    return found && this.#engine.forCache(asWorkload(found))
  }
}

function recordsFor(pods: readonly Pod[], workload: QueuedWorkload | undefined): Records {
  const workloads = workload === undefined ? [] : [workload]
  return {
    podsOf: () => pods,
    workloadsOf: () => workloads,
    workload: () => workload,
    ownedBy: uid => workloads.filter(({ metadata }) => metadata.ownerReferences?.some(owner => owner.uid === uid)),
    pod: (_, name) => pods.find(({ metadata }) => metadata.name === name),
    selects: () => true,
    owns: () => true,
    prebuiltOf: () => undefined,
  }
}

/** The API without a network. Nobody here lists or watches. */
function directly(model: ModelServer): KubeApi {
  const answer = <T>(object: Stored): Promise<T> => Promise.resolve(object as T)
  const never = (): never => {
    throw new Error('nobody asks for this here')
  }
  return {
    get: (resource, ref) => answer(model.get(resource, ref)),
    create: (resource, object) => answer(model.create(resource, object as Stored, OFFLINE_IDENTITY)),
    patch: (resource, ref, patch) => answer(model.patch(resource, ref, patch, OFFLINE_IDENTITY)),
    ...{ list: never, replace: never, delete: never, watch: never },
  }
}
