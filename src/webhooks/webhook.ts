import type { AdmissionRequest, Operation } from '../admission/review.ts'
import type { Verdict } from '../admission/verdict.ts'
import type { Configuration } from '../config/configuration.ts'
import type { LabelSelector } from '../kube/vocabulary/objects.ts'
import type { ServedScheduling } from '../kube/vocabulary/served-scheduling.ts'
import type { World } from './world.ts'

/**
 * One admission endpoint, and all there is to know about it: where it listens, what it has to be sent, and the pure
 * function that decides. The server, the review thread, `muster review` and the coverage check read it here, and a
 * test holds the manifests to it: another webhook is one more value.
 */
export interface Webhook {
  /** As metrics and logs call it, and as the review thread finds it. */
  readonly name: string
  readonly path: string
  readonly mutating: boolean
  readonly rules: readonly Rule[]
  /** Whether the configuration, and what the cluster has, leave a use for it; without this there always is one. */
  readonly isEnabled?: (config: Configuration, served: ServedScheduling) => boolean
  /** It only warns: nothing gets past Muster where it is not called, so nothing waits for it either. */
  readonly advisory?: boolean
  readonly queueing?: Queueing
  /** As its match conditions say it: what the API server does not send is not reviewed offline either. */
  readonly concerns?: (request: AdmissionRequest, config: Configuration) => boolean
  /** A review of more bytes than this is decided in the thread for large ones; without it all are decided at once. */
  readonly threadAbove?: number
  readonly review: (request: AdmissionRequest, world: World) => Verdict
}

export interface ServedKind {
  readonly group: string
  /** The one whose fields are read. The API server converts the others (`matchPolicy: Equivalent`). */
  readonly version: string
  readonly kind: string
  readonly resource: string
}

/** As a rule of a webhook configuration: operations on a resource itself, or on one of its subresources. */
export interface Rule {
  readonly of: ServedKind
  readonly subresource?: string
  readonly operations: readonly Operation[]
  /** Objects of the kind are in no queue, also where the webhook is for those that are. */
  readonly waitsForNothing?: boolean
  /** What happens unseen where no installed rule says the same: half a sentence for who reads the coverage check. */
  readonly unseen: string
}

/** A webhook for objects that wait in queues: the configuration says where. Others judge all they get. */
export interface Queueing {
  readonly namespaces: (config: Configuration) => LabelSelector
}

/** Pods and Jobs wait in the same namespaces. */
export const QUEUEING: Queueing = {
  namespaces: config => config.integrations.podOptions.namespaceSelector,
}

/**
 * A review up to this size is decided at once: it takes a few milliseconds at most. The largest legal one takes a
 * hundred times as long, and nobody else would be answered meanwhile.
 */
export const LARGE_BODY = 64 * 1024

/** Whether the API server calls the webhook for a request, as far as rules decide. */
export function isCalledFor(
  { rules }: Pick<Webhook, 'rules'>,
  { resource, subResource, operation }: AdmissionRequest,
): boolean {
  return rules.some(
    ({ of, subresource, operations }) =>
      of.group === resource.group &&
      of.resource === resource.resource &&
      (subresource ?? '') === (subResource ?? '') &&
      operations.includes(operation),
  )
}

/** As rules write it: `pods`, `pods/status`. */
export const resourceIn = ({ of, subresource }: Rule): string =>
  subresource === undefined ? of.resource : `${of.resource}/${subresource}`
