import type { AdmissionRequest } from '../../admission/review.ts'
import { allowed, type Verdict } from '../../admission/verdict.ts'
import type { Configuration } from '../../config/configuration.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import type { ServedScheduling } from '../../kube/vocabulary/served-scheduling.ts'
import { annotationPath, type FieldError, forbidden, labelPath, MAX_ERRORS } from '../../validation/field-error.ts'
import { isGuardedKey } from '../../workload/pod-facts.ts'
import { guardVerdict, unlessBreakGlass, whoMay } from '../exemption.ts'
import { kaiEnabled } from '../pod-groups/scope.ts'
import { isCalledFor, LARGE_BODY, type Rule, type Webhook } from '../webhook.ts'
import type { World } from '../world.ts'
import { PODS } from './pods.ts'
import { podsEnabled } from './scope.ts'

/**
 * `/validate/bindings`: the API server writes the labels and annotations of a Binding over those of the pod and asks
 * nobody, neither a webhook for pods nor its own rules for their updates. No scheduler has a reason to write ours, nor
 * to put a pod into another gang of KAI; and who declares a pod the copy of a static one takes it out of every review to
 * come.
 */
export function reviewBinding(request: AdmissionRequest, world: World): Verdict {
  if (!isCalledFor({ rules: RULES }, request)) return allowed('NotOurs')
  if (!isEnabled(world.config, world.scheduling())) return allowed('PodsNotEnabled')
  const metadata: unknown = request.object?.metadata
  const { labels, annotations } = isObject(metadata) ? metadata : ({} as Fields)
  const keys = [...guardedKeys(labels, labelPath), ...guardedKeys(annotations, annotationPath)]
  if (keys.length === 0) return allowed('Valid')
  const detail = `a Binding says where the pod runs, and nothing of its queue or group; ${whoMay(world)}`
  return guardVerdict(
    keys.slice(0, MAX_ERRORS).map((path): FieldError => forbidden(path, detail)),
    [],
    request,
    world,
  )
}

/** Pods of KAI have a link to keep, also where no pod waits in a queue. */
const isEnabled = (config: Configuration, served: ServedScheduling): boolean =>
  podsEnabled(config) || kaiEnabled(config, served)

function guardedKeys(map: unknown, pathOf: (key: string) => string): readonly string[] {
  if (!isObject(map)) return []
  return Object.keys(map).filter(isGuardedKey).map(pathOf)
}

const BINDINGS = { group: '', version: 'v1', kind: 'Binding', resource: 'bindings' } as const

const UNSEEN = "whoever binds a pod may write over Muster's marks"

const RULES: readonly Rule[] = [
  // The older way to say the same is still there.
  { of: BINDINGS, operations: ['CREATE'], unseen: UNSEEN },
  { of: PODS, subresource: 'binding', operations: ['CREATE'], unseen: UNSEEN },
]

export const BINDING_WEBHOOKS: readonly Webhook[] = [
  {
    name: 'validate-bindings',
    path: '/validate/bindings',
    mutating: false,
    rules: RULES,
    isEnabled,
    threadAbove: LARGE_BODY,
    review: unlessBreakGlass(reviewBinding),
  },
]
