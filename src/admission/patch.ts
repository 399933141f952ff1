import { assign, isObject } from '../kube/vocabulary/fields.ts'

/** One operation of a JSON Patch (RFC 6902). Muster takes away nothing but its own marks. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string; readonly value?: never }

type Container = Record<string, unknown> | unknown[]

/** A JSON Pointer (RFC 6901) to the given segments: `~` and `/` inside a segment are escaped. */
export function pointer(...segments: readonly (string | number)[]): string {
  let path = ''
  for (const segment of segments) path += `/${escaped(String(segment))}`
  return path
}

function escaped(segment: string): string {
  if (!segment.includes('~') && !segment.includes('/')) return segment
  return segment.replaceAll('~', '~0').replaceAll('/', '~1')
}

function segmentsOf(path: string): readonly string[] {
  if (!path.startsWith('/')) throw new PatchError(path, 'a JSON Pointer starts with "/"')
  const segments = path.slice(1).split('/')
  for (let index = 0; index < segments.length; index++) {
    const segment = segments[index] ?? ''
    if (segment.includes('~')) segments[index] = unescaped(segment, path)
  }
  return segments
}

function unescaped(segment: string, path: string): string {
  let text = ''
  let from = 0
  for (let at = segment.indexOf('~'); at !== -1; at = segment.indexOf('~', from)) {
    const code = segment.charCodeAt(at + 1)
    if (code !== 0x30 && code !== 0x31) throw new PatchError(path, '"~" must be written as "~0"')
    text += segment.slice(from, at) + (code === 0x30 ? '~' : '/')
    from = at + 2
  }
  return text + segment.slice(from)
}

/** A patch that does not fit its document. The API server fails the user's request for it, even under `Ignore`. */
class PatchError extends Error {
  constructor(path: string, problem: string) {
    super(`patch does not apply at "${path}": ${problem}`)
    this.name = 'PatchError'
  }
}

/**
 * The document after the patch. The input stays as it was: only the containers on a touched path are copied.
 * Nothing is created implicitly.
 */
export function applyPatch<T>(document: T, operations: readonly PatchOperation[]): T {
  const owned = new Set<Container>()
  let root: unknown = document
  for (const operation of operations) root = applyOperation(root, operation, owned)
  return root as T
}

/** The objects that a patch adds keys to, each by the keys that lead to it. */
export type Parents = readonly (readonly string[])[]

/**
 * Throws when the patch does not fit the document. The patches that Muster makes add keys to objects that are there:
 * for those, looking is enough, at a fraction of the price of applying them. Everything else is applied to see.
 * `parents` is for who asks about one patch again and again.
 */
export function checkPatch(
  document: unknown,
  operations: readonly PatchOperation[],
  parents: Parents | undefined = parentsOf(operations),
): void {
  if (parents === undefined || !parents.every(keys => leadsToObject(document, keys))) applyPatch(document, operations)
}

/** Undefined where looking is not enough: it does more than add, or writes to what it has added itself. */
export function parentsOf(operations: readonly PatchOperation[]): Parents | undefined {
  const parents: (readonly string[])[] = []
  for (const [index, { op, path }] of operations.entries()) {
    const last = path.lastIndexOf('/')
    if (op !== 'add' || !path.startsWith('/') || !isPlain(path, last)) return undefined
    for (let earlier = 0; earlier < index; earlier++) {
      if (isBelow(path, operations[earlier]?.path ?? '')) return undefined
    }
    const keys = last === 0 ? [] : path.slice(1, last).split('/')
    if (!parents.some(known => isSame(known, keys))) parents.push(keys)
  }
  return parents
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((key, index) => key === b[index])

/** Through objects only. */
function leadsToObject(document: unknown, keys: readonly string[]): boolean {
  let parent = document
  for (const key of keys) {
    if (!isObject(parent) || !Object.hasOwn(parent, key)) return false
    parent = parent[key]
  }
  return isObject(parent)
}

/** Nothing is escaped but, once and as it should be, in the key that is added. */
function isPlain(path: string, last: number): boolean {
  const tilde = path.indexOf('~')
  if (tilde === -1) return true
  const code = path.charCodeAt(tilde + 1)
  return tilde > last && (code === 0x30 || code === 0x31) && !path.includes('~', tilde + 1)
}

const isBelow = (path: string, above: string): boolean =>
  path.length > above.length && path[above.length] === '/' && path.startsWith(above)

function applyOperation(root: unknown, operation: PatchOperation, owned: Set<Container>): unknown {
  const { path } = operation
  if (path === '') return operation.value
  const segments = segmentsOf(path)
  const result = own(root, path, owned)
  let parent = result
  for (let depth = 0; depth < segments.length - 1; depth++) {
    const key = existingKey(parent, segments[depth] ?? '', path)
    const child = own(valueAt(parent, key), path, owned)
    put(parent, key, child)
    parent = child
  }
  const last = segments[segments.length - 1] ?? ''
  if (operation.op === 'remove') remove(parent, existingKey(parent, last, path))
  else if (operation.op === 'replace') put(parent, existingKey(parent, last, path), operation.value)
  else if (Array.isArray(parent)) parent.splice(insertionIndex(parent, last, path), 0, operation.value)
  else assign(parent, last, operation.value)
  return result
}

/** A copy that later operations may write to. Spread defines properties, so an own `__proto__` key stays data. */
function own(value: unknown, path: string, owned: Set<Container>): Container {
  if (typeof value !== 'object' || value === null) {
    throw new PatchError(path, `the parent is ${value === null ? 'null' : typeof value}, not an object or a list`)
  }
  if (owned.has(value as Container)) return value as Container
  const copy: Container = Array.isArray(value) ? [...value] : { ...value }
  owned.add(copy)
  return copy
}

function existingKey(parent: Container, segment: string, path: string): string {
  const exists = Array.isArray(parent)
    ? isIndex(segment) && Number(segment) < parent.length
    : Object.hasOwn(parent, segment)
  if (!exists) throw new PatchError(path, `there is no "${segment}"`)
  return segment
}

function insertionIndex(parent: readonly unknown[], segment: string, path: string): number {
  if (segment === '-') return parent.length
  const index = isIndex(segment) ? Number(segment) : Number.NaN
  if (!(index <= parent.length)) {
    throw new PatchError(path, `"${segment}" is no position in a list of ${parent.length}`)
  }
  return index
}

function isIndex(segment: string): boolean {
  return /^(0|[1-9][0-9]{0,8})$/.test(segment)
}

function valueAt(parent: Container, key: string): unknown {
  return Array.isArray(parent) ? parent[Number(key)] : parent[key]
}

function remove(parent: Container, key: string): void {
  if (Array.isArray(parent)) parent.splice(Number(key), 1)
  else delete parent[key]
}

function put(parent: Container, key: string, value: unknown): void {
  if (Array.isArray(parent)) parent[Number(key)] = value
  else assign(parent, key, value)
}
