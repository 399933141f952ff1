import { DEFAULT_CONFIGURATION, type QueueConfiguration } from '../src/config/configuration.ts'
import { WORKLOADS } from '../src/engines/builtin/workloads.ts'
import type { Pod } from '../src/kube/vocabulary/objects.ts'
import { PODS } from '../src/kube/vocabulary/resources.ts'
import { localWorld } from '../src/webhooks/local-world.ts'
import { queuedPod } from '../test/cluster/support/manifests.ts'
import { eventually } from '../test/cluster/support/wait.ts'
import { asPod, gatesOf } from '../test/simulation/facts.ts'
import { admissionChain } from '../test/simulation/model/admission.ts'
import { type Admission, type Change, ModelServer, type Stored } from '../test/simulation/model/server.ts'
import { Seed } from './scale-seed.ts'
import { createNamespaces } from './scale-streams.ts'

export const NAMESPACE = 'bench'
/** Nobody is ever admitted there. */
export const CLOSED = 'closed'
const ENDS = 'bench/ends'
const KUBELET = 'system:node:node-0'
/** The model counts from here. */
const EPOCH = Date.UTC(2026, 10, 16, 10)
const PATIENCE = { timeoutMs: 600_000 }

export interface Wanted {
  readonly pods: number
  readonly queue: (index: number) => string
  /** How many pods a group has. 1: single pods. */
  readonly group: number
}

/** Pods, a scheduler, kubelets and a garbage collector, as far as Muster can tell. */
export class ScaleCluster {
  readonly model: ModelServer
  /** Pods that have come through and are gone. */
  #ended = 0
  #names = 0
  readonly #seed: Seed
  readonly #owned = new Map<string, { readonly name: string; readonly namespace: string }>()

  constructor(queues: readonly QueueConfiguration[]) {
    this.model = new ModelServer(() => Date.now() - EPOCH, gatesNewPods())
    this.#seed = new Seed(this.model, queues)
    createNamespaces(this.model, [NAMESPACE, 'muster-system'])
    this.model.subscribe(change => {
      if (change.resource === WORKLOADS && change.type === 'created') this.#own(change.after)
      if (change.resource === PODS) this.#look(change)
    })
  }

  /** More pods that run, or wait, for as long as they are let, with all that Muster would have written for them. */
  async grow({ pods, queue, group }: Wanted): Promise<void> {
    for (let made = 0; made < pods; made += group)
      await this.#seed.settle(NAMESPACE, this.#create(group, queue(made), false))
  }

  /** Pods that come, run, succeed and are gone: as many as are wanted, `atOnce` at a time. Seconds that it took. */
  async pass({ pods, queue, group }: Wanted, atOnce: number): Promise<number> {
    const started = performance.now()
    const before = this.#ended
    for (let made = 0; made < pods; ) {
      while (made < pods && made - (this.#ended - before) < atOnce) {
        this.#create(group, queue(made), true)
        made += group
      }
      await new Promise(resolve => setTimeout(resolve, 5))
    }
    await eventually('all of them are gone', () => this.#ended - before >= pods, { ...PATIENCE, intervalMs: 5 })
    return (performance.now() - started) / 1000
  }

  /** One unit. Returns the names of its pods. */
  #create(group: number, queue: string, ends: boolean): readonly string[] {
    const unit = this.#names++
    const names = Array.from({ length: group }, (_, index) => `pod-${unit}-${index}`)
    for (const name of names) {
      const member = group > 1 ? { group: `group-${unit}`, count: group } : {}
      const pod = queuedPod({ namespace: NAMESPACE, name, queue, ...member }) as Pod
      this.model.create(PODS, ordinary(pod, ends) as unknown as Stored, 'tenant')
    }
    return names
  }

  #look({ type, before, after }: Change): void {
    const pod = asPod(after)
    const { uid = '', name = '', namespace = NAMESPACE } = pod.metadata
    const ref = { namespace, name }
    if (type === 'deleted') {
      this.#ended++
      const workload = this.#owned.get(uid)
      this.#owned.delete(uid)
      const found = workload && this.model.find(WORKLOADS, workload.namespace, workload.name)
      if (found !== undefined) setImmediate(() => this.#collect(found))
      return
    }
    const isFree = gatesOf(pod).length === 0
    if (isFree && !pod.spec.nodeName) setImmediate(() => this.#run(ref))
    if (pod.status?.phase !== 'Succeeded' || pod.metadata.finalizers?.length) return
    const isNews = before?.metadata.finalizers?.length
    if (isNews) setImmediate(() => this.model.remove(PODS, ref, { graceSeconds: 0 }, 'tenant'))
  }

  #run(ref: { readonly namespace: string; readonly name: string }): void {
    const found = this.model.find(PODS, ref.namespace, ref.name)
    if (found === undefined || asPod(found).spec.nodeName) return
    this.model.bind(ref, 'node-0')
    this.#report(ref, 'Running')
    if (found.metadata.annotations?.[ENDS] !== undefined) this.#report(ref, 'Succeeded')
  }

  #report(ref: { readonly namespace: string; readonly name: string }, phase: string): void {
    const isReady = phase === 'Running'
    const ready = { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: this.model.timestamp() }
    const state = isReady ? { running: {} } : { terminated: { exitCode: 0 } }
    const body = { status: { phase, conditions: [ready], containerStatuses: [{ name: 'main', state }] } }
    this.model.patch(PODS, { ...ref, subresource: 'status' }, { type: 'strategic', body }, KUBELET)
  }

  #own(workload: Stored): void {
    const { name = '', namespace = '', ownerReferences } = workload.metadata
    for (const { uid } of ownerReferences ?? []) this.#owned.set(uid, { name, namespace })
  }

  /** What has lost all its owners is deleted. */
  #collect(workload: Stored): void {
    const { name = '', namespace = '', ownerReferences } = workload.metadata
    const current = this.model.find(WORKLOADS, namespace, name)
    if (current === undefined || ownerReferences?.some(({ uid }) => this.#owned.has(uid))) return
    this.model.remove(WORKLOADS, { namespace, name }, {}, 'garbage-collector')
  }
}

/** New pods go through the real webhooks; what Muster changes in them afterwards needs no review here. */
function gatesNewPods(): Admission {
  const world = localWorld(DEFAULT_CONFIGURATION)
  const chain = admissionChain(
    () => world,
    { notIdempotent: () => {} },
    () => undefined,
  )
  return call => (call.resource === PODS && call.operation === 'CREATE' ? chain(call) : call.object)
}

/** With what pods have besides what Muster reads: environment, volumes, and the records of who wrote which field. */
function ordinary({ metadata, spec, ...pod }: Pod, ends: boolean): object {
  const env = Array.from({ length: 12 }, (_, index) => ({ name: `SETTING_${index}`, value: 'a value of some length' }))
  const volumeMounts = [{ name: 'scratch', mountPath: '/scratch' }]
  const owned = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f:field-number-${index}`, { '.': {} }]))
  const manager = { manager: 'kubectl-create', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' }
  return {
    ...pod,
    metadata: {
      ...metadata,
      annotations: { ...metadata.annotations, ...(ends && { [ENDS]: 'true' }) },
      managedFields: [{ ...manager, fieldsV1: owned }],
    },
    spec: {
      ...spec,
      containers: spec.containers?.map(container => ({ ...container, env, volumeMounts })),
      volumes: [{ name: 'scratch', emptyDir: {} }],
    },
  }
}
