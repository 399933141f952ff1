import { ApiError, type KubeApi } from '../kube/vocabulary/api.ts'
import type { Clock } from '../kube/vocabulary/clock.ts'
import { ownerResource } from '../kube/vocabulary/frameworks.ts'
import type { Log } from '../kube/vocabulary/log.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import type { ReadinessCheck } from '../kube/vocabulary/readiness.ts'

export interface PodGrouperWatchDeps {
  readonly api: Pick<KubeApi, 'get'>
  readonly clock: Clock
  readonly log: Log
  /** Whether there is a KAI that Muster works with. */
  readonly concerns: () => boolean
}

/** Where KAI's operator puts it. */
const POD_GROUPER = { namespace: 'kai-scheduler', name: 'pod-grouper' }
const DEPLOYMENTS = ownerResource({ apiVersion: 'apps/v1', kind: 'Deployment' })
/** Its flags that keep it away from pods, each with a list of labels that it wants. */
const SELECTORS = ['--pod-label-selector', '--namespace-label-selector']
const INTERVAL_MS = 30_000

interface Deployment extends KubeObject {
  readonly spec?: {
    readonly replicas?: number | null
    readonly template?: {
      readonly spec?: {
        readonly containers?:
          | readonly { readonly command?: readonly string[] | null; readonly args?: readonly string[] | null }[]
          | null
      } | null
    }
  }
}

/** What to tell of KAI's own pod-grouper, or nothing if it keeps away from pods that name a group. */
export function podGrouperRemark(deployment: Deployment | undefined): string | undefined {
  if (deployment === undefined || deployment.spec?.replicas === 0) return undefined
  const containers = deployment.spec?.template?.spec?.containers ?? []
  const words = containers.flatMap(({ command, args }) => [...(command ?? []), ...(args ?? [])])
  if (words.some(word => SELECTORS.some(flag => word === flag || word.startsWith(`${flag}=`)))) return undefined
  return (
    `KAI's pod-grouper in ${POD_GROUPER.namespace} groups every pod anew, also those that name a group: Muster keeps ` +
    'their links, and it leaves PodGroups without pods behind. To keep it away, set global.podLabelSelector or ' +
    'global.namespaceLabelSelector of its Config to what such pods or namespaces do not have'
  )
}

/** Looks now and then how KAI's own pod-grouper is set up. It never keeps Muster from being ready. */
export class PodGrouperWatch {
  readonly #deps: PodGrouperWatchDeps
  #remark: string | undefined
  #cancel: () => void = () => {}

  constructor(deps: PodGrouperWatchDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#look()
      .catch(error => this.#deps.log.warn({ err: error }, "cannot see how KAI's pod-grouper is set up"))
      .finally(() => {
        this.#cancel = this.#deps.clock.after(INTERVAL_MS, () => this.start())
      })
  }

  stop(): void {
    this.#cancel()
  }

  readiness(): ReadinessCheck {
    return { name: 'kai-pod-grouper', ok: true, ...(this.#remark !== undefined && { reason: this.#remark }) }
  }

  async #look(): Promise<void> {
    const remark = this.#deps.concerns() ? podGrouperRemark(await this.#deployment()) : undefined
    if (remark !== undefined && remark !== this.#remark) this.#deps.log.warn({}, remark)
    this.#remark = remark
  }

  async #deployment(): Promise<Deployment | undefined> {
    try {
      return await this.#deps.api.get<Deployment>(DEPLOYMENTS, POD_GROUPER)
    } catch (error) {
      if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return undefined
      throw error
    }
  }
}
