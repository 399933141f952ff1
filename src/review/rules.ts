import type { AdmissionRequest, GroupVersionKind, GroupVersionResource } from '../admission/review.ts'
import type { Configuration } from '../config/configuration.ts'
import { parseApiVersion } from '../kube/vocabulary/api-version.ts'
import { WEBHOOKS } from '../webhooks/all.ts'
import { isCalledFor, type ServedKind, type Webhook } from '../webhooks/webhook.ts'

const SERVED: readonly ServedKind[] = WEBHOOKS.flatMap(({ rules }) => rules.map(({ of }) => of))

/** The webhooks that the API server would call for a request, in its order: all that mutate, then all that validate. */
export function webhooksFor(request: AdmissionRequest, config: Configuration): readonly Webhook[] {
  const called = WEBHOOKS.filter(
    webhook => isCalledFor(webhook, request) && (webhook.concerns?.(request, config) ?? true),
  )
  return [...called.filter(({ mutating }) => mutating), ...called.filter(({ mutating }) => !mutating)]
}

export function kindOf(apiVersion: string, kind: string): GroupVersionKind {
  return { ...parseApiVersion(apiVersion), kind }
}

/** A kind that is not served has the plain plural of its name here; nobody asks for it. */
export function resourceOf(gvk: GroupVersionKind): GroupVersionResource {
  const { group, version, kind } = gvk
  return { group, version, resource: servedKind(gvk)?.resource ?? `${kind.toLowerCase()}s` }
}

export const isServed = (gvk: GroupVersionKind): boolean => servedKind(gvk) !== undefined

const servedKind = ({ group, kind }: GroupVersionKind): ServedKind | undefined =>
  SERVED.find(each => each.group === group && each.kind === kind)
