import { ApiError } from '../../../src/kube/api.ts'

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

/** Lists that strategic merge knows by a key, as the Go types of a pod declare them. All other lists are replaced. */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  'spec.schedulingGates': 'name',
  'spec.containers': 'name',
  'metadata.ownerReferences': 'uid',
  'status.conditions': 'type',
}
const PRIMITIVE_SETS: ReadonlySet<string> = new Set(['metadata.finalizers'])
const DELETE_FROM = '$deleteFromPrimitiveList/'

/** The strategic merge patch of a pod, as far as anybody here uses it. */
export function strategicPatch(target: unknown, patch: unknown, path = ''): unknown {
  if (!isObject(patch)) return patch
  const result: Record<string, unknown> = { ...(isObject(target) ? target : {}) }
  for (const [key, value] of Object.entries(patch)) {
    const at = (field: string) => (path === '' ? field : `${path}.${field}`)
    if (key.startsWith(DELETE_FROM)) {
      const field = key.slice(DELETE_FROM.length)
      const gone = Array.isArray(value) ? value : []
      const kept = listOf(result[field]).filter(item => !gone.includes(item))
      if (kept.length > 0) result[field] = kept
      else delete result[field]
    } else if (key.startsWith('$')) {
      throw new ApiError(400, 'BadRequest', `the model knows no directive ${key}`)
    } else if (value === null) {
      delete result[key]
    } else if (Array.isArray(value)) {
      const merged = mergeList(listOf(result[key]), value, at(key))
      if (merged.length > 0) result[key] = merged
      else delete result[key]
    } else {
      result[key] = strategicPatch(result[key], value, at(key))
    }
  }
  return result
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function mergeList(current: readonly unknown[], patch: readonly unknown[], path: string): readonly unknown[] {
  if (PRIMITIVE_SETS.has(path)) return [...new Set([...current, ...patch])]
  const mergeKey = MERGE_KEYS[path]
  if (mergeKey === undefined) return patch
  let result = [...current]
  for (const change of patch) {
    if (!isObject(change)) throw new ApiError(400, 'BadRequest', `${path}: a list of objects is needed`)
    const same = (item: unknown) => isObject(item) && item[mergeKey] === change[mergeKey]
    if (change.$patch === 'delete') result = result.filter(item => !same(item))
    else if (result.some(same)) result = result.map(item => (same(item) ? strategicPatch(item, change) : item))
    else result.push(change)
  }
  return result
}

interface Operation {
  readonly op: string
  readonly path: string
  readonly value?: unknown
}

/** RFC 6902, as the API server answers: a failed `test` and a path that is not there are both 422. */
export function jsonPatch(document: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw new ApiError(400, 'BadRequest', 'a JSON Patch is a list')
  return (operations as readonly Operation[]).reduce<unknown>((result, operation) => {
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
  if (operation.op === 'add') return { ...node, [key]: operation.value }
  if (!Object.hasOwn(node, key)) throw unprocessable(operation)
  if (operation.op === 'test') return equal(node[key], operation.value) ? node : fail(operation)
  if (operation.op === 'replace') return { ...node, [key]: operation.value }
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
