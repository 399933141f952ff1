import { ApiError, type KubeApi, type Patch, type Resource } from '../kube/vocabulary/api.ts'
import { ADMISSION_GATE, MANAGED } from '../kube/vocabulary/names.ts'
import { controllerOf, type KubeObject, type Pod } from '../kube/vocabulary/objects.ts'
import { fields } from '../kube/vocabulary/outline.ts'
import { PODS } from '../kube/vocabulary/resources.ts'
import { type Action, type Model, type Owner, subjectOf, type Target } from '../workload/actions.ts'
import { jobOutline } from '../workload/jobs/job-kinds.ts'
import { POD_OUTLINE } from './cache-contents.ts'
import { changeTo, hasSameController } from './ensure.ts'
import { areSeated } from './seated.ts'
import { withWholeTemplates } from './whole-templates.ts'

/** Where the API server's answers go, so that the next decision is never older than our own last write. */
export type WriteBack = (resource: Resource, object: KubeObject) => void

/**
 * - `done`: written, or already so.
 * - `stale`: the object has changed since we looked; the watch will bring the news.
 * - `gone`: it is not there any more, or another one of its name is.
 * - `ending`: its namespace is going, and takes with it who would have needed it. Nothing is to be tried again.
 * - `blocked`: the API server or an admission plugin refuses it; the message says why.
 */
export type Result =
  | { readonly kind: 'done' | 'stale' | 'gone' | 'ending' }
  | { readonly kind: 'blocked'; readonly message: string }

const DONE: Result = { kind: 'done' }
const STALE: Result = { kind: 'stale' }
const GONE: Result = { kind: 'gone' }
const ENDING: Result = { kind: 'ending' }

/** `NamespaceTerminatingCause` of k8s.io/api/core/v1, which the admission plugin NamespaceLifecycle gives. */
const NAMESPACE_TERMINATING = 'NamespaceTerminating'

/** Carries one action out. Errors that may pass (429, 5xx, the network) are thrown, so that the key is retried. */
export async function perform(action: Action, api: KubeApi, writeBack: WriteBack): Promise<Result> {
  try {
    return await send(action, api, writeBack)
  } catch (error) {
    const status = error instanceof ApiError ? error.status : undefined
    if (status !== 409 && !(status === 422 && meansStale(action))) return resultOf(error)
    await reread(action, api, writeBack)
    return STALE
  }
}

/** What became of a write that was not answered with an object. What may pass by itself is thrown. */
export function resultOf(error: unknown): Result {
  if (!(error instanceof ApiError)) throw error
  if (error.status === 404) return GONE
  if (error.status === 409) return STALE
  if (error.status === 403 || error.status === 422 || error.status === 400 || isUnjudged(error)) return refusal(error)
  throw error
}

/**
 * So the API server answers when a webhook that fails closed does not answer it. That may pass, and may last for days:
 * somebody else's policy engine that is down is the most common of all reasons why a gate does not fall.
 */
const isUnjudged = ({ status, reason }: ApiError): boolean => status === 500 && reason === 'InternalError'

/** Whether a refusal of what the write says means that it came too early or too late. */
function meansStale(action: Action): boolean {
  return action.kind === 'ReleaseWorkload' || (action.kind === 'PatchJob' && action.early === true)
}

/** What we hold of the object is old, and a watch that lags would let us send the same thing again and again. */
async function reread(action: Action, api: KubeApi, writeBack: WriteBack): Promise<void> {
  const { resource, namespace, name } = subjectOf(action)
  try {
    const outline = resource === PODS ? POD_OUTLINE : jobOutline(resource)
    writeBack(resource, await api.get(resource, { namespace, name }, outline === undefined ? {} : { outline }))
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
  }
}

/** A uid that does not match is answered with 422 on `metadata.uid`: the pod has a successor, nothing is blocked. */
function refusal({ status, causes, message }: ApiError): Result {
  if (status === 422 && causes.some(({ field }) => field === 'metadata.uid')) return GONE
  // Nothing can be created in a namespace that is going. Its pods go first, and one that is kept keeps all the others.
  if (status === 403 && causes.some(({ reason }) => reason === NAMESPACE_TERMINATING)) return ENDING
  return { kind: 'blocked', message }
}

async function send(action: Action, api: KubeApi, writeBack: WriteBack): Promise<Result> {
  switch (action.kind) {
    case 'EnsureObject':
      return await ensure(action, api, writeBack)
    case 'AddOwners': {
      const { ownerReferences, resourceVersion } = action
      const metadata = { uid: action.workload.uid, resourceVersion, ownerReferences }
      return await patchWorkload(action, api, writeBack, { type: 'merge', body: { metadata } })
    }
    case 'SetQueue': {
      const { queueName, resourceVersion, annotations, finalizers, terms } = action
      const also = { ...(annotations && { annotations }), ...(finalizers && { finalizers }) }
      const body = { metadata: { uid: action.workload.uid, resourceVersion, ...also }, spec: { queueName, ...terms } }
      return await patchWorkload(action, api, writeBack, { type: 'merge', body })
    }
    case 'HoldWorkload': {
      const { finalizers, resourceVersion } = action
      const metadata = { uid: action.workload.uid, resourceVersion, finalizers }
      return await patchWorkload(action, api, writeBack, { type: 'merge', body: { metadata } })
    }
    case 'SetStatus': {
      const { status, resourceVersion } = action
      const body = { metadata: { uid: action.workload.uid, resourceVersion }, status }
      return await patchWorkload(action, api, writeBack, { type: 'merge', body }, 'status')
    }
    case 'ReleaseWorkload': {
      const path = `/metadata/finalizers/${action.finalizerIndex}`
      const body = [
        { op: 'test', path: '/metadata/uid', value: action.workload.uid },
        { op: 'test', path, value: action.finalizer },
        { op: 'remove', path },
      ]
      return await patchWorkload(action, api, writeBack, { type: 'json', body })
    }
    case 'LiftGate': {
      // In one write: a pod that could start without the rest of its admission would start in the wrong place.
      const { labels, annotations, nodeSelector, tolerations, resourceVersion, gates = [] } = action.add
      const fallen = [ADMISSION_GATE, ...gates].map(name => ({ $patch: 'delete', name }))
      const metadata = {
        ...(resourceVersion !== undefined && { resourceVersion }),
        ...(labels && { labels }),
        ...(annotations && { annotations }),
      }
      const spec = {
        schedulingGates: fallen,
        ...(nodeSelector && { nodeSelector }),
        ...(tolerations && { tolerations }),
      }
      writeBack(PODS, await patchPod(api, action.pod, { metadata, spec }))
      return DONE
    }
    case 'RemoveFinalizer': {
      const metadata = { '$deleteFromPrimitiveList/finalizers': [MANAGED] }
      writeBack(PODS, await patchPod(api, action.pod, { metadata }))
      return DONE
    }
    case 'PatchJob':
      return await patchJob(action, api, writeBack)
    case 'UnlessPodsLeft':
      return await unlessPodsLeft(action, api, writeBack)
    case 'WhileSeated':
      if (!(await areSeated(action, api, pod => writeBack(PODS, pod)))) return STALE
      return await inTurn(action.actions, api, writeBack)
    case 'DeleteWorkload': {
      const { namespace, name, uid } = action.workload
      await api.delete(action.resource, { namespace, name }, { uid })
      await reread(action, api, writeBack)
      return DONE
    }
    case 'DeletePod':
      if (action.because !== undefined) await explainStop(action.pod, action.because, api)
      await api.delete(PODS, { namespace: action.pod.namespace, name: action.pod.name }, { uid: action.pod.uid })
      // It lives on for its grace period: without a look it would be deleted again with every event of its unit.
      await reread(action, api, writeBack)
      return DONE
  }
}

/**
 * Strategic merge by the gate's name and the finalizer's value: no index to race for, no field sent back that this
 * version does not know. With the uid in it the API server refuses to touch a successor of the same name.
 */
function patchPod(api: KubeApi, pod: Target, change: { metadata?: object; spec?: object }): Promise<Pod> {
  const body = { ...change, metadata: { uid: pod.uid, ...change.metadata } }
  const ref = { namespace: pod.namespace, name: pod.name }
  return api.patch<Pod>(PODS, ref, { type: 'strategic', body }, { outline: POD_OUTLINE })
}

/** Kueue's condition for who watches pods and wants to know why one went. Who may not say it stops it all the same. */
async function explainStop(pod: Target, because: NonNullable<Of<'DeletePod'>['because']>, api: KubeApi): Promise<void> {
  const { reason, message, at } = because
  const condition = { type: 'TerminationTarget', status: 'True', reason, message, lastTransitionTime: at }
  const body = { metadata: { uid: pod.uid }, status: { conditions: [condition] } }
  const ref = { namespace: pod.namespace, name: pod.name, subresource: 'status' }
  try {
    await api.patch<Pod>(PODS, ref, { type: 'strategic', body }, { outline: POD_OUTLINE })
  } catch (error) {
    if (!(error instanceof ApiError) || ![400, 403, 422].includes(error.status)) throw error
  }
}

/** The identity goes into the patch itself, in the words of its type: 409 for another version, 422 for another uid. */
async function patchJob(action: Of<'PatchJob'>, api: KubeApi, writeBack: WriteBack): Promise<Result> {
  const { resource, job, resourceVersion, subresource, patch } = action
  const { namespace, name, uid } = job
  const outline = jobOutline(resource)
  const identity = { uid, ...(resourceVersion !== undefined && { resourceVersion }) }
  const ref = { namespace, name, ...(subresource !== undefined && { subresource }) }
  const options = outline === undefined ? {} : { outline }
  writeBack(resource, await api.patch(resource, ref, withIdentity(patch, identity), options))
  return DONE
}

function withIdentity({ type, body }: Pick<Patch, 'type' | 'body'>, identity: Readonly<Record<string, string>>): Patch {
  if (type === 'json' && Array.isArray(body)) {
    const own = Object.entries(identity).map(([key, value]) => ({ op: 'add', path: `/metadata/${key}`, value }))
    return { type, body: [...own, ...body] }
  }
  const { metadata, ...rest } = body as { readonly metadata?: object }
  return { type, body: { ...rest, metadata: { ...metadata, ...identity } } }
}

/** A pod that has not ended may use what it was given, be it that its owner is gone or that it is on its way out. */
const LIVE = 'status.phase!=Succeeded,status.phase!=Failed'

async function unlessPodsLeft(action: Of<'UnlessPodsLeft'>, api: KubeApi, writeBack: WriteBack): Promise<Result> {
  const { namespace, labelSelector, actions } = action
  const query = { namespace, labelSelector, fieldSelector: LIVE, limit: 1, metadataOnly: true }
  const { items } = await api.list(PODS, query)
  return items.length > 0 ? STALE : await inTurn(actions, api, writeBack)
}

async function inTurn(actions: readonly Action[], api: KubeApi, writeBack: WriteBack): Promise<Result> {
  for (const next of actions) {
    const result = await perform(next, api, writeBack)
    if (result.kind !== 'done') return result
  }
  return DONE
}

async function patchWorkload(
  { resource, workload: { namespace, name } }: { readonly resource: Resource; readonly workload: Target },
  api: KubeApi,
  writeBack: WriteBack,
  patch: Patch,
  subresource?: string,
): Promise<Result> {
  const ref = { namespace, name, ...(subresource === undefined ? {} : { subresource }) }
  writeBack(resource, await api.patch(resource, ref, patch))
  return DONE
}

/**
 * Names are derived from what the object is for: a second leader's create meets the first one's object, and nothing is
 * doubled. What is there already is changed only if it is ours, and only after a decision that has seen it.
 */
async function ensure(action: Ensure, api: KubeApi, writeBack: WriteBack): Promise<Result> {
  const { resource, wanted, known, models, madeFor } = action
  if (known === undefined && madeFor !== undefined && !(await isThere(madeFor, api))) return GONE
  if (known === undefined && models !== undefined) return await createWhole({ ...action, models }, api, writeBack)
  if (known === undefined) return await create(resource, wanted, api, writeBack)
  if (!hasSameController(known, wanted)) return foreign(resource, known)
  const change = changeTo(known, wanted)
  if (change === undefined) return DONE
  const { name = '', namespace = '', uid, resourceVersion } = known.metadata
  const body = { ...change, metadata: { ...change.metadata, uid, resourceVersion } }
  writeBack(resource, await api.patch(resource, { namespace, name }, { type: 'merge', body }))
  return DONE
}

async function isThere({ resource, object: { namespace, name, uid } }: Owner, api: KubeApi): Promise<boolean> {
  const { metadata } = await api.get(resource, { namespace, name }, { outline: { metadata: fields('uid') } })
  return metadata.uid === uid
}

/** What nobody takes as a whole is taken with what admission reads of it: Kueue refuses a port that is there twice. */
async function createWhole(
  { resource, wanted, models }: Ensure & { readonly models: readonly Model[] },
  api: KubeApi,
  writeBack: WriteBack,
): Promise<Result> {
  const whole = await withWholeTemplates(wanted, models, api)
  if (whole === undefined) return await create(resource, wanted, api, writeBack)
  try {
    return await create(resource, whole, api, writeBack)
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 422 && error.status !== 400)) throw error
    return await create(resource, wanted, api, writeBack)
  }
}

async function create(resource: Resource, wanted: KubeObject, api: KubeApi, writeBack: WriteBack): Promise<Result> {
  try {
    writeBack(resource, await api.create(resource, wanted))
    return DONE
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
  }
  const { name = '', namespace = '' } = wanted.metadata
  const found = await api.get(resource, { namespace, name })
  writeBack(resource, found)
  // A group's Workload belongs to all its pods alike: whose it is, the next decision tells.
  const hasController = controllerOf(wanted.metadata.ownerReferences) !== undefined
  return hasController && !hasSameController(found, wanted) ? foreign(resource, found) : STALE
}

function foreign({ kind }: Resource, { metadata: { namespace, name, ownerReferences } }: KubeObject): Result {
  const owner = controllerOf(ownerReferences)
  const whose = owner === undefined ? 'somebody else' : `${owner.kind} ${owner.name}`
  return { kind: 'blocked', message: `${kind} ${namespace}/${name} belongs to ${whose}` }
}

type Of<Kind extends Action['kind']> = Extract<Action, { readonly kind: Kind }>
type Ensure = Of<'EnsureObject'>
