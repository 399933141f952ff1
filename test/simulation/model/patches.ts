import { ApiError } from '../../../src/kube/vocabulary/api.ts'
import { badRequest } from './refusals.ts'

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** RFC 7396: null deletes, lists are replaced. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const result: Record<string, unknown> = { ...(isObject(target) ? target : {}) }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = mergePatch(result[key], value)
  }
  return result
}

/** Lists that strategic merge knows by a key, as the Go types declare them. All other lists are replaced. */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  'spec.schedulingGates': 'name',
  'spec.containers': 'name',
  'metadata.ownerReferences': 'uid',
  'status.conditions': 'type',
  webhooks: 'name',
}
const PRIMITIVE_SETS: ReadonlySet<string> = new Set(['metadata.finalizers'])
const DELETE_FROM = '$deleteFromPrimitiveList/'

/** The strategic merge patch of a pod, as far as anybody here uses it. */
export function strategicPatch(target: unknown, patch: unknown, path = ''): unknown {
  if (!isObject(patch)) return patch
  const before: Json = isObject(target) ? target : {}
  const result: Record<string, unknown> = { ...before }
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(DELETE_FROM)) continue
    if (key.startsWith('$')) throw badRequest(`the model knows no directive ${key}`)
    const at = path === '' ? key : `${path}.${key}`
    if (value === null) delete result[key]
    else if (Array.isArray(value)) result[key] = mergeList(listOf(before[key]), value, at)
    else result[key] = strategicPatch(before[key], value, at)
  }
  for (const [key, value] of Object.entries(patch)) {
    if (!key.startsWith(DELETE_FROM)) continue
    const field = key.slice(DELETE_FROM.length)
    result[field] = listOf(result[field]).filter(item => !listOf(value).includes(item))
  }
  return result
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function mergeList(current: readonly unknown[], patch: readonly unknown[], path: string): readonly unknown[] {
  if (PRIMITIVE_SETS.has(path)) {
    return interleaved(
      current.filter(item => !patch.includes(item)),
      [...new Set(patch)],
      item => current.indexOf(item),
    )
  }
  const mergeKey = MERGE_KEYS[path]
  if (mergeKey === undefined) return patch
  const keyOf = (item: unknown) => (isObject(item) ? item[mergeKey] : undefined)
  const find = (list: readonly unknown[], item: unknown) => list.find(other => keyOf(other) === keyOf(item))
  const changed = patch.filter(change => !isObject(change) || change.$patch !== 'delete')
  return interleaved(
    current.filter(item => find(patch, item) === undefined),
    changed.map(change => strategicPatch(find(current, change), change)),
    item => current.findIndex(other => keyOf(other) === keyOf(item)),
  )
}

/**
 * Puts what only the server has into the list of the patch, as `mergeSortedSlice` of strategic merge does: an item
 * goes before the first one of the patch that came after it so far. What is new is nowhere so far, so it comes first.
 */
function interleaved(
  kept: readonly unknown[],
  patch: readonly unknown[],
  placeOf: (item: unknown) => number,
): readonly unknown[] {
  const result: unknown[] = []
  const left = [...kept]
  for (const item of patch) {
    while (left.length > 0 && placeOf(item) >= 0 && placeOf(left[0]) < placeOf(item)) result.push(left.shift())
    result.push(item)
  }
  return [...result, ...left]
}

interface Operation {
  readonly op: string
  readonly path: string
  readonly value?: unknown
}

const OPERATIONS: ReadonlySet<string> = new Set(['add', 'remove', 'replace', 'test'])

/**
 * RFC 6902, as the API server answers: a failed `test` and a path that is not there are both 422. Its library is not
 * quite to the letter: to `replace` a member that is not there adds it, and to `test` it for null succeeds.
 */
export function jsonPatch(document: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw badRequest('a JSON Patch is a list')
  return (operations as readonly Operation[]).reduce<unknown>((result, operation) => {
    if (!OPERATIONS.has(operation.op)) throw unprocessable(operation)
    const segments = operation.path
      .split('/')
      .slice(1)
      .map(segment => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    return applyAt(result, segments, operation)
  }, document)
}

function applyAt(node: unknown, segments: readonly string[], operation: Operation): unknown {
  const [key = '', ...rest] = segments
  if (Array.isArray(node)) return applyToList(node, key, rest, operation)
  if (!isObject(node)) throw unprocessable(operation)
  if (rest.length > 0) return { ...node, [key]: applyAt(node[key], rest, operation) }
  if (operation.op === 'add' || operation.op === 'replace') return { ...node, [key]: operation.value }
  if (operation.op === 'test') return equal(node[key] ?? null, operation.value) ? node : fail(operation)
  if (!Object.hasOwn(node, key)) throw unprocessable(operation)
  const { [key]: _, ...others } = node
  return others
}

function applyToList(list: readonly unknown[], key: string, rest: readonly string[], operation: Operation): unknown {
  const index = key === '-' ? list.length : Number(key)
  if (!Number.isInteger(index) || index > list.length) throw unprocessable(operation)
  if (operation.op === 'add' && rest.length === 0) return list.toSpliced(index, 0, operation.value)
  if (index >= list.length) throw unprocessable(operation)
  if (rest.length > 0) return list.with(index, applyAt(list[index], rest, operation))
  if (operation.op === 'test') return equal(list[index], operation.value) ? list : fail(operation)
  if (operation.op === 'replace') return list.with(index, operation.value)
  return list.toSpliced(index, 1)
}

function fail(operation: Operation): never {
  throw unprocessable(operation)
}

function unprocessable({ op, path }: Operation): ApiError {
  return new ApiError(422, 'Invalid', `the server rejected our request due to an error in our request: ${op} ${path}`)
}

/** By value; keys in any order. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]))
  }
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every(key => Object.hasOwn(b, key) && equal(a[key], b[key]))
}
