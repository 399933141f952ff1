import { type Document, isAlias, isMap, isScalar, isSeq, type Node, parseAllDocuments, type YAMLMap } from 'yaml'
import { assign, isObject } from '../kube/vocabulary/fields.ts'
import { MAX_DEPTH } from './limits.ts'
import { type Problem, problem, ReadError, type ReadValue } from './place.ts'
import { NOT_IN_JSON, plainScalar } from './scalars.ts'
import { describeYamlError } from './yaml-errors.ts'

/** Repeating an anchor is a convenience; a text that grows past this by repetition alone is a memory bomb. */
const MAX_REPEATED = 100_000

/**
 * Reads any YAML. The library only builds the tree: with the failsafe schema every scalar stays text, and what it means
 * is decided here, because kubectl's rules are neither those of YAML 1.2 nor all of those of 1.1.
 */
export function readYaml(text: string): readonly (ReadValue | Problem)[] {
  // Looking for equal keys is quadratic in the library; the walk below does it on the way.
  const documents = parseAllDocuments(text, { schema: 'failsafe', prettyErrors: false, uniqueKeys: false })
  return [...documents].flatMap(document => {
    const read = readDocument(document)
    return 'value' in read && read.value === null ? [] : [read]
  })
}

function readDocument(document: Document.Parsed): ReadValue | Problem {
  const [error] = document.errors
  if (error !== undefined) return problem(describeYamlError(error), error.pos[0])
  const root = document.contents
  if (root === null) return { value: null, offset: 0, items: new Map() }
  const walk = new Walk()
  try {
    return { value: walk.value(root, 0, ''), offset: root.range[0], items: walk.items }
  } catch (failure) {
    if (!(failure instanceof ReadError)) throw failure
    return problem(failure.message, failure.offset)
  }
}

interface Anchored {
  readonly value: unknown
  /** How many nodes the value has, those behind its own aliases included. */
  readonly size: number
}

class Walk {
  readonly items = new Map<object, number>()
  readonly #anchors = new Map<string, Anchored>()
  #nodes = 0
  #repeated = 0

  value(node: unknown, depth: number, key: string): unknown {
    const before = this.#nodes++
    const value = this.#convert(node, depth, key)
    const anchor = isNode(node) && !isAlias(node) ? node.anchor : undefined
    if (anchor !== undefined) this.#anchors.set(anchor, { value, size: this.#nodes - before })
    return value
  }

  #convert(node: unknown, depth: number, key: string): unknown {
    if (depth > MAX_DEPTH) throw new ReadError(`is nested deeper than ${MAX_DEPTH} levels`, offsetOf(node))
    if (isAlias(node)) return this.#alias(node.source, offsetOf(node))
    if (isScalar(node)) return scalar(node)
    if (isMap(node)) return this.#map(node, depth)
    if (isSeq(node)) {
      checkTag(node.tag, 'seq', node)
      return node.items.map(item => {
        const value = this.value(item, depth + 1, '')
        if (key === 'items' && isObject(value)) this.items.set(value, offsetOf(item))
        return value
      })
    }
    return null
  }

  #alias(name: string, offset: number): unknown {
    const anchored = this.#anchors.get(name)
    // An anchor that is still being read would contain itself.
    if (anchored === undefined) throw new ReadError(`the alias *${name} names no anchor before it`, offset)
    this.#nodes += anchored.size
    this.#repeated += anchored.size
    if (this.#repeated > MAX_REPEATED) {
      throw new ReadError(`aliases repeat more than ${MAX_REPEATED} values: write them out`, offset)
    }
    return anchored.value
  }

  #map(node: YAMLMap, depth: number): unknown {
    checkTag(node.tag, 'map', node)
    const map: Record<string, unknown> = {}
    const merged: (readonly [value: unknown, offset: number])[] = []
    for (const pair of node.items) {
      const key = this.#key(pair.key, offsetOf(node))
      const value = this.value(pair.value, depth + 1, key)
      if (key === '<<' && isScalar(pair.key) && pair.key.type === 'PLAIN') {
        merged.push([value, offsetOf(pair.key)])
        continue
      }
      if (Object.hasOwn(map, key)) {
        throw new ReadError(`the key ${JSON.stringify(key)} is there twice: remove one`, offsetOf(pair.key))
      }
      assign(map, key, value)
    }
    for (const [source, offset] of merged) mergeInto(map, source, offset)
    return map
  }

  #key(key: unknown, mapOffset: number): string {
    const node = isAlias(key) ? this.#alias(key.source, offsetOf(key)) : key
    if (typeof node === 'string') return node
    if (!isScalar(node) || typeof node.value !== 'string') {
      throw new ReadError('a key must be a text, not a list or a map', isNode(key) ? offsetOf(key) : mapOffset)
    }
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, { value: node.value, size: 1 })
    return node.value
  }
}

/** Keys that the map has itself win over those of `<<`, whatever their order. */
function mergeInto(map: Record<string, unknown>, source: unknown, offset: number): void {
  if (Array.isArray(source)) {
    for (const each of source) mergeInto(map, each, offset)
    return
  }
  if (!isObject(source)) throw new ReadError('"<<" takes in a map or a list of maps', offset)
  for (const [key, value] of Object.entries(source)) if (!Object.hasOwn(map, key)) assign(map, key, value)
}

const TAG = 'tag:yaml.org,2002:'
const RESOLVED_TAGS = new Set(['int', 'float', 'bool', 'null'].map(name => TAG + name))

function scalar(node: Node & { value: unknown; type?: string; source?: string; tag?: string }): unknown {
  const text = typeof node.value === 'string' ? node.value : ''
  if (node.tag !== undefined && !RESOLVED_TAGS.has(node.tag)) {
    checkTag(node.tag, 'str', node)
    return text
  }
  if (node.type !== 'PLAIN') return text
  const value = plainScalar(text)
  if (value === NOT_IN_JSON) throw new ReadError(`${text} has no place in JSON: put it in quotes`, offsetOf(node))
  return value
}

function checkTag(tag: string | undefined, expected: string, node: unknown): void {
  if (tag === undefined || tag === '!' || tag === TAG + expected) return
  throw new ReadError(`the tag ${tag.replace(TAG, '!!')} is not understood here: remove it`, offsetOf(node))
}

function isNode(value: unknown): value is Node & { anchor?: string } {
  return typeof value === 'object' && value !== null && 'range' in value
}

function offsetOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0
}
