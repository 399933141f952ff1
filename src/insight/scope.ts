import { ApiError, type KubeApi, type Resource } from '../kube/vocabulary/api.ts'

/** What is watched: everything, or what is in one namespace. */
export interface Scope {
  readonly namespace?: string
}

/** As wide as the caller's rights go: all namespaces, or this one; undefined where not even that may be read. */
export async function scopeOf(
  api: Pick<KubeApi, 'list'>,
  resource: Resource,
  namespace: string,
): Promise<Scope | undefined> {
  for (const scope of [{}, { namespace }]) {
    try {
      await api.list(resource, { ...scope, limit: 1 })
      return scope
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error
    }
  }
  return undefined
}
