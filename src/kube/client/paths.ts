import type { ListOptions, ObjectRef, Patch, Resource, WatchOptions } from '../vocabulary/api.ts'

/** The path of a collection (no ref name) or an object, below the server's own path. */
export function collectionPath(resource: Resource, namespace: string | undefined): string {
  const root = resource.group === '' ? '/api' : `/apis/${segment(resource.group)}`
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${segment(namespace)}` : ''
  return `${root}/${segment(resource.version)}${scope}/${segment(resource.plural)}`
}

export function objectPath(resource: Resource, ref: ObjectRef): string {
  if (resource.namespaced && ref.namespace === undefined) {
    throw new TypeError(`${resource.kind} ${ref.name}: a namespace is needed`)
  }
  const object = `${collectionPath(resource, ref.namespace)}/${segment(ref.name)}`
  return ref.subresource === undefined ? object : `${object}/${segment(ref.subresource)}`
}

/** What the API server serves: all groups, or the resources of one version of a group. */
export function discoveryPath(parts: readonly string[]): string {
  return ['/apis', ...parts.map(segment)].join('/')
}

export function listQuery(options: ListOptions & WatchOptions, watch: boolean): string {
  return queryString({
    watch: watch ? 'true' : undefined,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    limit: options.limit,
    continue: options.continue,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
    allowWatchBookmarks: options.allowWatchBookmarks,
    sendInitialEvents: options.sendInitialEvents,
    timeoutSeconds: options.timeoutSeconds,
  })
}

export function patchQuery(patch: Patch): string {
  return queryString({ fieldManager: patch.fieldManager, force: patch.type === 'apply' ? patch.force : undefined })
}

function queryString(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const parts: string[] = []
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) parts.push(`${name}=${encodeURIComponent(value)}`)
  }
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

/** A name of `..` would climb to another resource; encoding does not change dots, so refuse them. */
function segment(text: string): string {
  if (text === '' || text === '.' || text === '..') {
    throw new TypeError(`${JSON.stringify(text)} cannot be part of an API path`)
  }
  return encodeURIComponent(text)
}
