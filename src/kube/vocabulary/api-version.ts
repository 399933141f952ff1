export interface GroupVersion {
  readonly group: string
  readonly version: string
}

/** `batch/v1` is version v1 of group batch. The core group has no name, and no slash. */
export function parseApiVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf('/')
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) }
}
