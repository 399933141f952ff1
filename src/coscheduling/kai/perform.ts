import type { KubeApi, Patch } from '../../kube/vocabulary/api.ts'
import { KAI_POD_GROUP, KAI_POD_GROUPS, KAI_SUBGROUP } from '../../kube/vocabulary/kai.ts'
import { POD_GROUP } from '../../kube/vocabulary/names.ts'
import { PODS } from '../../kube/vocabulary/resources.ts'
import { type Result, resultOf, type WriteBack } from '../../reconciler/perform.ts'
import { KAI_POD_GROUP_OUTLINE, WAITING_POD_OUTLINE } from './cache-contents.ts'
import type { KaiAction } from './decide.ts'

/** Carries one action out. What may pass (429, 5xx, the network) is thrown. */
export async function performKai(action: KaiAction, api: KubeApi, writeBack: WriteBack): Promise<Result> {
  try {
    await send(action, api, writeBack)
    return { kind: 'done' }
  } catch (error) {
    const result = resultOf(error)
    if (result.kind === 'stale') await reread(action, api, writeBack)
    return result
  }
}

/** A watch that lags would let us send the same thing again and again. What is gone the watch will tell. */
async function reread(action: KaiAction, api: KubeApi, writeBack: WriteBack): Promise<void> {
  const { resource, namespace, name, outline } = subjectOf(action)
  try {
    writeBack(resource, await api.get(resource, { namespace, name }, { outline }))
  } catch (error) {
    if (resultOf(error).kind !== 'gone') throw error
  }
}

function subjectOf(action: KaiAction) {
  if ('pod' in action) return { ...action.pod, resource: PODS, outline: WAITING_POD_OUTLINE }
  const { metadata } = action.kind === 'CreatePodGroup' ? action.wanted : action.known
  const { namespace = '', name = '' } = metadata
  return { namespace, name, resource: KAI_POD_GROUPS, outline: KAI_POD_GROUP_OUTLINE }
}

async function send(action: KaiAction, api: KubeApi, writeBack: WriteBack): Promise<void> {
  if (action.kind === 'CreatePodGroup') {
    writeBack(KAI_POD_GROUPS, await api.create(KAI_POD_GROUPS, action.wanted))
    return
  }
  const { namespace, name, resource, outline } = subjectOf(action)
  const patch = patchOf(action)
  writeBack(resource, await api.patch(resource, { namespace, name }, patch, { outline }))
}

function patchOf(action: Exclude<KaiAction, { kind: 'CreatePodGroup' }>): Patch {
  if (action.kind === 'PatchPodGroup') {
    const { uid, resourceVersion } = action.known.metadata
    return { type: 'merge', body: { ...action.change, metadata: { ...action.change.metadata, uid, resourceVersion } } }
  }
  const { uid, resourceVersion } = action.pod
  const spec = { schedulingGates: [{ $patch: 'delete', name: POD_GROUP }] }
  return { type: 'strategic', body: { metadata: { uid, resourceVersion, ...marksOf(action) }, spec } }
}

function marksOf(action: Extract<KaiAction, { kind: 'LinkPod' | 'LeavePod' }>): object {
  if (action.kind === 'LinkPod') {
    return { annotations: { [KAI_POD_GROUP]: action.podGroup }, labels: { [KAI_SUBGROUP]: null } }
  }
  return { labels: { [POD_GROUP]: null }, ...(action.unlinks && { annotations: { [KAI_POD_GROUP]: null } }) }
}
