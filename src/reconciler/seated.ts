import { ApiError, type KubeApi } from '../kube/vocabulary/api.ts'
import type { Pod } from '../kube/vocabulary/objects.ts'
import { PODS } from '../kube/vocabulary/resources.ts'
import type { Action, Target } from '../workload/actions.ts'
import { takesPlace, uidOf } from '../workload/pod-facts.ts'
import { POD_OUTLINE } from './cache-contents.ts'

/** Whether all of them have their places now, as the API server says. Who has not is known from here on. */
export async function areSeated(
  { namespace, labelSelector, seated }: Extract<Action, { readonly kind: 'WhileSeated' }>,
  api: KubeApi,
  see: (pod: Pod) => void,
): Promise<boolean> {
  const selected = labelSelector === undefined ? [] : await listed(api, namespace, labelSelector)
  const known = new Map(selected.map(pod => [uidOf(pod), pod]))
  for (const target of seated) {
    const pod = known.get(target.uid) ?? (await found(api, target))
    if (pod !== undefined && uidOf(pod) === target.uid && takesPlace(pod)) continue
    if (pod !== undefined) see(pod)
    return false
  }
  return true
}

async function listed(api: KubeApi, namespace: string, labelSelector: string): Promise<readonly Pod[]> {
  const { items } = await api.list<Pod>(PODS, { namespace, labelSelector, outline: POD_OUTLINE })
  return items
}

async function found(api: KubeApi, { namespace, name }: Target): Promise<Pod | undefined> {
  try {
    return await api.get<Pod>(PODS, { namespace, name }, { outline: POD_OUTLINE })
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}
