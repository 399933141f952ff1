import type { ApiError, Resource } from '../../../src/kube/vocabulary/api.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { LEASES } from '../../../src/kube/vocabulary/resources.ts'

/** One request on its way, for whoever watches the wire. */
export interface Request {
  readonly verb: 'get' | 'list' | 'create' | 'replace' | 'patch' | 'delete' | 'watch'
  readonly resource: Resource
  readonly name: string
  readonly namespace: string | undefined
  readonly subresource: string | undefined
  readonly body: unknown
}

export interface Wire {
  /** A request leaves the replica. The returned function is called when the server has carried it out or refused. */
  sending(request: Request): (result: { readonly error?: ApiError }) => void
  /** The replica learns of an object: by a watch, or as the answer to a call. */
  received(resource: Resource, object: KubeObject): void
  /** A write of the replica was confirmed. */
  answered(request: Request, object: KubeObject): void
}

/** Leases are written all the time, by everybody: they count for nothing. */
export function isWrite({ verb, resource }: Request): boolean {
  return verb !== 'get' && verb !== 'list' && verb !== 'watch' && resource !== LEASES
}
