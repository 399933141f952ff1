import { applyPatch } from '../../../src/admission/patch.ts'
import type { AdmissionRequest } from '../../../src/admission/review.ts'
import type { Denied } from '../../../src/admission/verdict.ts'
import { ApiError } from '../../../src/kube/vocabulary/api.ts'
import { CREATOR } from '../../../src/kube/vocabulary/names.ts'
import { PODS } from '../../../src/kube/vocabulary/resources.ts'
import { reviewPodMutation, reviewPodValidation } from '../../../src/webhooks/pods/pods.ts'
import type { World } from '../../../src/webhooks/world.ts'
import { causedBy } from './refusals.ts'
import type { Admission, AdmissionCall, Stored } from './server.ts'

/** Writes as somebody whom no webhook sees: what Muster keeps from happening there it must bear here. */
export const UNREVIEWED = 'system:unreviewed'

export interface AdmissionWatcher {
  /** The mutator's output, mutated again, must come out as it was, and the validator must take it (I7). */
  notIdempotent(object: Stored, detail: string): void
}

/** Another plugin in the chain: why it refuses a call, or undefined. */
export type Plugin = (call: AdmissionCall) => string | undefined

/** The admission chain with the real webhooks in it: mutation, then validation of the result, then other plugins. */
export function admissionChain(world: () => World, watcher: AdmissionWatcher, plugin: Plugin): Admission {
  return call => {
    if (call.resource !== PODS || call.who === UNREVIEWED) return call.object
    const object = call.operation === 'CREATE' ? mutate(call, world(), watcher) : call.object
    const verdict = reviewPodValidation(requestOf({ ...call, object }), world())
    if (verdict.kind !== 'allowed') refuse(verdict)
    const refusal = plugin({ ...call, object })
    if (refusal !== undefined) throw new ApiError(403, 'Forbidden', refusal)
    return call.operation === 'CREATE' ? stamped(object, call.who) : object
  }
}

/** Whose pod it is, where the webhooks do not say it. */
function stamped(object: Stored, who: string): Stored {
  const { annotations } = object.metadata
  if (annotations?.[CREATOR] !== undefined) return object
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [CREATOR]: who } } }
}

function mutate(call: AdmissionCall, world: World, watcher: AdmissionWatcher): Stored {
  const verdict = reviewPodMutation(requestOf(call), world)
  if (verdict.kind !== 'allowed') return refuse(verdict)
  const object = applyPatch(call.object, verdict.patch)
  const again = reviewPodMutation(requestOf({ ...call, object }), world)
  if (again.kind !== 'allowed' || again.patch.length > 0) {
    watcher.notIdempotent(object, `the second mutation says ${JSON.stringify(again)}`)
  }
  return object
}

function refuse(verdict: Denied): never {
  const message = `admission webhook denied the request: ${verdict.message}`
  throw new ApiError(verdict.code, verdict.reason, message, causedBy(verdict.errors))
}

function requestOf({ operation, object, oldObject, subresource, who }: AdmissionCall): AdmissionRequest {
  const { name, namespace } = object.metadata
  return {
    uid: 'review',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    operation,
    object,
    userInfo: { username: who, groups: ['system:authenticated'] },
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    ...(oldObject !== undefined && { oldObject }),
    ...(subresource !== undefined && { subResource: subresource }),
  }
}
