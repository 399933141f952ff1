import { applyPatch } from '../../../src/admission/patch.ts'
import type { AdmissionRequest } from '../../../src/admission/review.ts'
import type { Denied } from '../../../src/admission/verdict.ts'
import { ApiError, type Resource } from '../../../src/kube/vocabulary/api.ts'
import { CREATOR } from '../../../src/kube/vocabulary/names.ts'
import { JOB_SETS, JOBS, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { JOB_WEBHOOKS } from '../../../src/webhooks/jobs/jobs.ts'
import { POD_GROUP_WEBHOOKS } from '../../../src/webhooks/pod-groups/pod-groups.ts'
import { POD_WEBHOOKS } from '../../../src/webhooks/pods/pods.ts'
import type { Rule, Webhook } from '../../../src/webhooks/webhook.ts'
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
    const webhooks = REVIEWED.get(call.resource)
    if (webhooks === undefined || call.who === UNREVIEWED) return call.object
    const called = webhooks.filter(webhook => isCalled(webhook, call, world()))
    const object = called
      .filter(({ mutating }) => mutating)
      .reduce((object, webhook) => {
        return mutate({ ...call, object }, webhook, world(), watcher)
      }, call.object)
    for (const webhook of called.filter(({ mutating }) => !mutating)) {
      const verdict = webhook.review(requestOf({ ...call, object }), world())
      if (verdict.kind !== 'allowed') refuse(verdict)
    }
    const refusal = plugin({ ...call, object })
    if (refusal !== undefined) throw new ApiError(403, 'Forbidden', refusal)
    return call.resource === PODS && call.operation === 'CREATE' ? stamped(object, call.who) : object
  }
}

/** Whose pod it is, where the webhooks do not say it. */
function stamped(object: Stored, who: string): Stored {
  const { annotations } = object.metadata
  if (annotations?.[CREATOR] !== undefined) return object
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [CREATOR]: who } } }
}

const REVIEWED: ReadonlyMap<Resource, readonly Webhook[]> = new Map([
  [PODS, [...POD_WEBHOOKS, ...POD_GROUP_WEBHOOKS]],
  [JOBS, JOB_WEBHOOKS],
  [JOB_SETS, JOB_WEBHOOKS],
])

/** Where the cluster has use for it, and by the match conditions of its configuration. */
function isCalled({ rules, isEnabled, concerns }: Webhook, call: AdmissionCall, world: World): boolean {
  if (!rules.some(rule => isFor(rule, call)) || isEnabled?.(world.config, world.scheduling()) === false) return false
  return concerns?.(requestOf(call), world.config) ?? true
}

function isFor({ of, subresource, operations }: Rule, call: AdmissionCall): boolean {
  return of.resource === call.resource.plural && subresource === call.subresource && operations.includes(call.operation)
}

function mutate(call: AdmissionCall, { review }: Webhook, world: World, watcher: AdmissionWatcher): Stored {
  const verdict = review(requestOf(call), world)
  if (verdict.kind !== 'allowed') return refuse(verdict)
  const object = applyPatch(call.object, verdict.patch)
  const again = review(requestOf({ ...call, object }), world)
  if (again.kind !== 'allowed' || again.patch.length > 0) {
    watcher.notIdempotent(object, `the second mutation says ${JSON.stringify(again)}`)
  }
  return object
}

function refuse(verdict: Denied): never {
  const message = `admission webhook denied the request: ${verdict.message}`
  throw new ApiError(verdict.code, verdict.reason, message, causedBy(verdict.errors))
}

function requestOf({ resource, operation, object, oldObject, subresource, who }: AdmissionCall): AdmissionRequest {
  const { name, namespace } = object.metadata
  const { group, version, kind, plural } = resource
  return {
    uid: 'review',
    kind: { group, version, kind },
    resource: { group, version, resource: plural },
    operation,
    object,
    userInfo: { username: who, groups: ['system:authenticated'] },
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    ...(oldObject !== undefined && { oldObject }),
    ...(subresource !== undefined && { subResource: subresource }),
  }
}
