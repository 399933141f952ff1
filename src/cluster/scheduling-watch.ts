import type { Configuration } from '../config/configuration.ts'
import type { Discovery, KubeApi } from '../kube/vocabulary/api.ts'
import type { Clock } from '../kube/vocabulary/clock.ts'
import type { Log } from '../kube/vocabulary/log.ts'
import type { ReadinessCheck } from '../kube/vocabulary/readiness.ts'
import { CLUSTER_ROLES } from '../kube/vocabulary/resources.ts'
import {
  COMPOSITES_VERSION,
  JOB_CONTROLLER_ROLE,
  KAI_GROUP,
  KAI_VERSION,
  NOTHING_SERVED,
  SCHEDULING_GROUP,
  type ServedScheduling,
  schedulingVersionIn,
  servedSchedulingOf,
} from '../kube/vocabulary/served-scheduling.ts'
import { missingBackend } from '../workload/backend.ts'
import { orAbsent, resourcesIn, versionsIn } from './discovery.ts'

export interface SchedulingWatchDeps {
  readonly api: Pick<KubeApi, 'get'> & Discovery
  readonly clock: Clock
  readonly log: Log
  readonly config: Configuration['coScheduling']
  readonly count: (served: ServedScheduling) => void
}

/** How soon an API that was installed, or switched on, is noticed. No watch tells of API groups. */
const INTERVAL_MS = 30_000

/** Knows what the API server serves for placing pods together, and tells when that changes. */
export class SchedulingWatch {
  readonly #deps: SchedulingWatchDeps
  readonly #stopping = new AbortController()
  readonly #changed = new Set<() => void>()
  #served: ServedScheduling = NOTHING_SERVED
  #cancel: () => void = () => {}

  constructor(deps: SchedulingWatchDeps) {
    this.#deps = deps
  }

  get served(): ServedScheduling {
    return this.#served
  }

  onChange(changed: () => void): () => void {
    this.#changed.add(changed)
    return () => {
      this.#changed.delete(changed)
    }
  }

  /** Before anything is answered: a pod that is created without the name of its group never gets it. */
  async ask(): Promise<void> {
    const served = await discoverScheduling(this.#deps.api, this.#stopping.signal)
    this.#deps.count(served)
    const told = describeServed(served)
    if (told !== describeServed(this.#served) || this.#served === NOTHING_SERVED) {
      this.#deps.log.info({ scheduling: served }, `for placing pods together the API server serves ${told}`)
    }
    const before = JSON.stringify(this.#served)
    this.#served = served
    if (JSON.stringify(served) !== before) for (const changed of this.#changed) changed()
  }

  start(): void {
    this.#cancel = this.#deps.clock.after(INTERVAL_MS, () => {
      this.ask()
        .catch(error => {
          if (this.#stopping.signal.aborted) return
          this.#deps.log.warn({ err: error }, 'cannot see what the API server serves for placing pods together')
        })
        .finally(() => {
          if (!this.#stopping.signal.aborted) this.start()
        })
    })
  }

  stop(): void {
    this.#stopping.abort()
    this.#cancel()
  }

  readiness(): ReadinessCheck {
    const missing = missingBackend(this.#deps.config, this.#served)
    const name = 'co-scheduling'
    return missing === undefined
      ? { name, ok: true, reason: describeServed(this.#served) }
      : { name, ok: false, reason: missing }
  }
}

export function describeServed({ kubernetes, kai, jobController }: ServedScheduling): string {
  const parts = [
    ...(kubernetes
      ? [
          `${SCHEDULING_GROUP}/${kubernetes.version} with ${kubernetes.podGroups ? 'PodGroups' : 'Workloads only'}` +
            (kubernetes.composites ? ' and CompositePodGroups' : ''),
        ]
      : []),
    ...(jobController ? ["Jobs' groups by the Job controller"] : []),
    ...(kai ? ["KAI's PodGroups"] : []),
  ]
  return parts.length === 0 ? 'nothing' : parts.join(', ')
}

/** One request where nothing is served, and one more for each thing that may be. */
export async function discoverScheduling(
  api: SchedulingWatchDeps['api'],
  signal: AbortSignal,
): Promise<ServedScheduling> {
  const versions = versionsIn(await api.discover([], { signal }))
  const ofKubernetes = versions.get(SCHEDULING_GROUP) ?? []
  const version = schedulingVersionIn(ofKubernetes)
  const asked: (readonly [string, string])[] = [
    ...(version === undefined ? [] : [[SCHEDULING_GROUP, version] as const]),
    ...(version !== undefined && ofKubernetes.includes(COMPOSITES_VERSION)
      ? [[SCHEDULING_GROUP, COMPOSITES_VERSION] as const]
      : []),
    ...(versions.get(KAI_GROUP)?.includes(KAI_VERSION) ? [[KAI_GROUP, KAI_VERSION] as const] : []),
  ]
  const resources = new Map<string, readonly string[]>()
  for (const [group, at] of asked) {
    resources.set(`${group}/${at}`, resourcesIn(await orAbsent(api.discover([group, at], { signal }))))
  }
  const jobControllerRole =
    version === undefined
      ? undefined
      : await orAbsent(api.get(CLUSTER_ROLES, { name: JOB_CONTROLLER_ROLE }, { signal }))
  return servedSchedulingOf({ versions, resources, jobControllerRole })
}
