import { coSchedulers } from '../../cluster/co-schedulers.ts'
import { discoverScheduling } from '../../cluster/scheduling-watch.ts'
import { ApiError, type Discovery, type KubeApi, type Resource } from '../../kube/vocabulary/api.ts'
import { EVENTS, NAMESPACES, PODS } from '../../kube/vocabulary/resources.ts'
import type { Placement } from '../../reconciler/co-scheduler.ts'
import type { Installation } from '../installation.ts'
import { type Scope, scopeOf } from '../scope.ts'
import { nameOf } from '../sight.ts'

/** How far the caller's rights go. */
export interface Sights {
  readonly workloads: Scope
  readonly pods: Scope | undefined
  readonly namespaces: Scope | undefined
  readonly words: Scope | undefined
  /** Of each kind that schedulers place by; empty where there is none, or where not all of them may be read. */
  readonly scheduling: ReadonlyMap<Resource, Scope>
  readonly served: Placement['known']['served']
  readonly unseen: readonly string[]
}

/** Asks for one object of each kind. Undefined: not even the Workloads of the namespace may be read. */
export async function sightsFor(
  api: KubeApi & Discovery,
  { engine }: Installation,
  namespace: string,
): Promise<Sights | undefined> {
  const unseen: string[] = []
  const look = async (resource: Resource, whatFor: string): Promise<Scope | undefined> => {
    const scope = await scopeOf(api, resource, namespace)
    const where = resource.namespaced ? ' of all namespaces' : ''
    if (scope === undefined || scope.namespace !== undefined) {
      unseen.push(`${resource.kind}s${where}, ${whatFor} (needs list and watch on ${nameOf(resource)})`)
    }
    return scope
  }
  const workloads = await look(engine.workloads, 'and with them the whole of the queues')
  if (workloads === undefined) return undefined
  const [pods, namespaces, words] = [
    await look(PODS, 'and with them groups that are not complete'),
    await look(NAMESPACES, 'by which Muster may leave pods alone'),
    await look(EVENTS, 'and with them why a lift is refused'),
  ]
  const served = await discoverScheduling(api, new AbortController().signal)
  const scheduling = new Map<Resource, Scope>()
  for (const { resource } of coSchedulers().flatMap(({ kinds }) => kinds)) {
    const scope = await look(resource, 'and with them whether a scheduler has room for a group').catch(error => {
      if (error instanceof ApiError && error.status === 404) return 'absent' as const
      throw error
    })
    if (scope !== 'absent' && scope !== undefined) scheduling.set(resource, scope)
    // With half of what a scheduler goes by, it would seem to have forgotten the other half.
    else if (scope === undefined)
      return { ...{ workloads, pods, namespaces, words, served, unseen }, scheduling: new Map() }
  }
  return {
    workloads,
    pods,
    namespaces: namespaces?.namespace === undefined ? namespaces : undefined,
    words,
    scheduling,
    served,
    unseen,
  }
}
