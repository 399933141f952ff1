import {
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  type ParsedNode,
  parseAllDocuments,
  visit,
  type YAMLError,
} from 'yaml'
import { formatUnreadable, type Unreadable } from '../documents/place.ts'
import { describeYamlError } from '../documents/yaml-errors.ts'

/** One thing wrong in a configuration file. */
export interface ConfigError extends Unreadable {
  /** As `integrations.podOptions.podSelector` or `queues[0].limits[nvidia.com/gpu]`; '' for the whole document. */
  readonly path: string
}

/** `FILE:LINE:COL: path: message`. */
export function formatConfigError(error: ConfigError): string {
  const { path, message } = error
  return formatUnreadable({ ...error, message: path === '' ? message : `${path}: ${message}` })
}

export type Path = readonly (string | number)[]

/** Takes note of what is wrong, and where. */
export type Report = (path: Path, message: string) => void

/** The parsed text together with the way back from a value to its place in the text. */
export interface Source {
  readonly value: unknown
  /** `of: 'key'` points at the key itself; a path that is not in the text gives its nearest parent. */
  readonly error: (path: Path, message: string, of?: 'key' | 'value') => ConfigError
}

/** Far above any real configuration, and as large as a ConfigMap can be. */
const MAX_CHARACTERS = 1024 * 1024
/** Anchors are a convenience; a document that repeats one a thousand times is a memory bomb. */
const MAX_ALIAS_COUNT = 100

/**
 * Not by the readers in documents/: they read manifests by kubectl's rules, stop at the first problem and know the lines
 * of whole objects only. Here everything that is wrong is said at once, and each key has its place.
 */
export function readSource(text: string, file: string): Source | readonly ConfigError[] {
  const lines = new LineCounter()
  const at = (offset: number, path: string, message: string): ConfigError => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(line, 1), column: Math.max(col, 1), path, message }
  }
  if (text.length > MAX_CHARACTERS) {
    return [{ file, line: 0, column: 0, path: '', message: `is larger than ${MAX_CHARACTERS} characters` }]
  }
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, version: '1.2' })
  const [document, second] = documents
  // A tag that YAML does not know is only a warning to the parser; here nothing may be guessed.
  const broken = tooDeepAlone(documents.flatMap(each => [...each.errors, ...each.warnings]))
  if (broken.length > 0) return onePerPlace(broken.map(error => at(error.pos[0], '', describeYamlError(error))))
  if (document === undefined) return [at(0, '', 'the file is empty')]
  if (second !== undefined) {
    return [at(second.range[0], '', `one document is expected, not ${documents.length}: remove what follows "---"`)]
  }
  const root = document.contents
  if (root === null || (isScalar(root) && root.value === null)) return [at(0, '', 'the file is empty')]

  const unusual: ConfigError[] = []
  const anchors = new Set<string>()
  visit(document, {
    Value: (_, node) => {
      if (node.anchor !== undefined) anchors.add(node.anchor)
    },
    Alias: (_, { source, range }) => {
      if (!anchors.has(source)) unusual.push(at(range?.[0] ?? 0, '', `the alias *${source} names no anchor before it`))
    },
    Pair: (_, pair) => {
      if (isScalar(pair.key) && typeof pair.key.value === 'string') return
      const offset = isNode(pair.key) ? (pair.key.range?.[0] ?? 0) : 0
      unusual.push(at(offset, '', 'a key must be a string: put it in quotes'))
    },
  })
  if (unusual.length > 0) return unusual

  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIAS_COUNT })
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    return [at(firstAlias(root), '', `aliases repeat more than ${MAX_ALIAS_COUNT} times: write the values out`)]
  }
  return {
    value,
    error: (path, message, of = 'value') => at(offsetOf(root, path, of), pathText(path), message),
  }
}

/** Where the stack ends depends on what is on it already, and what the parser says on its way out of there on that. */
function tooDeepAlone(errors: readonly YAMLError[]): readonly YAMLError[] {
  const tooDeep = errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION')
  return tooDeep === undefined ? errors : [tooDeep]
}

/** Where the parser stumbles once it often stumbles again; the first complaint about a place is the useful one. */
function onePerPlace(errors: readonly ConfigError[]): readonly ConfigError[] {
  const places = new Map(errors.toReversed().map(error => [`${error.line}:${error.column}`, error]))
  return [...places.values()].toReversed()
}

function firstAlias(root: ParsedNode): number {
  let offset = 0
  visit(root, {
    Alias: (_, alias) => {
      offset = alias.range?.[0] ?? 0
      return visit.BREAK
    },
  })
  return offset
}

function offsetOf(root: ParsedNode, path: Path, of: 'key' | 'value'): number {
  let offset = root.range[0]
  let node: unknown = root
  for (const [index, step] of path.entries()) {
    if (!isCollection(node)) break
    const last = index === path.length - 1
    const item = isMap(node)
      ? node.items.find(pair => isScalar(pair.key) && pair.key.value === step)
      : node.items[typeof step === 'number' ? step : -1]
    if (item === undefined) break
    if (isPair(item)) {
      const key = isNode(item.key) ? item.key.range?.[0] : undefined
      const value = isNode(item.value) ? item.value.range?.[0] : undefined
      offset = (last && of === 'key' ? key : (value ?? key)) ?? offset
      node = item.value
    } else {
      offset = (isNode(item) ? item.range?.[0] : undefined) ?? offset
      node = item
    }
  }
  return offset
}

function pathText(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`
      if (!/^\w+$/.test(step)) return `[${step}]`
      return index === 0 ? step : `.${step}`
    })
    .join('')
}
