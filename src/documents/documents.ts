import { readBlockYaml } from './block-yaml.ts'
import { readJson } from './json-reader.ts'
import { lineFinder, type Problem, type ReadValue, type Unreadable } from './place.ts'
import { readYaml } from './yaml-reader.ts'

/** One document of a file. */
export interface ReadDocument {
  readonly value: unknown
  readonly source: DocumentSource
  readonly column: number
  /** The line of an object in a list called `items`; for any other object that of the document. */
  lineOf(item: unknown): number
}

export interface DocumentSource {
  readonly file: string
  /** Documents of a file are counted from 1; one that is empty or only a comment does not count. */
  readonly document: number
  readonly line: number
}

/** `---` at the start of a line ends a document wherever it stands, in a block of text too. */
const SEPARATOR = /^---(?=[ \t\r\n]|$)/gm
/** These belong to the document that follows, or end one early: such a file is left whole to the library. */
const UNUSUAL = /^(?:%|\.\.\.(?:[ \t\r\n]|$))/m

/**
 * All documents of a text, in order. One that cannot be read does not hide the others: each is read by itself, by the
 * quickest reader that understands it.
 */
export function* readDocuments(text: string, file: string): Generator<ReadDocument | Unreadable> {
  const find = lineFinder(text)
  let count = 0
  for (const [chunk, start] of chunksOf(text)) {
    for (const read of readChunk(chunk, file)) {
      count++
      const { line, column } = find(start + read.offset)
      if ('problem' in read) {
        yield { file, line, column, message: read.problem }
        continue
      }
      const lineOf = (item: unknown): number => {
        const offset = read.items.get(item as object)
        return offset === undefined ? line : find(start + offset).line
      }
      yield { value: read.value, source: { file, document: count, line }, column, lineOf }
    }
  }
}

function* chunksOf(text: string): Generator<readonly [chunk: string, start: number]> {
  if (UNUSUAL.test(text)) {
    yield [text, 0]
    return
  }
  let start = 0
  for (const { index } of text.matchAll(SEPARATOR)) {
    yield [text.slice(start, index), start]
    start = index + 3
  }
  yield [text.slice(start), start]
}

function readChunk(chunk: string, file: string): readonly (ReadValue | Problem)[] {
  if (/^\s*$/.test(chunk)) return []
  if (/^\s*[{[]/.test(chunk)) {
    const { values, failed } = readJson(chunk)
    if (failed === undefined) return values
    // YAML has braces too. In a file that says it is JSON, the complaint about the JSON is the useful one.
    if (file.endsWith('.json') || values.length > 0) return [...values, failed]
  }
  const quick = readBlockYaml(chunk)
  if (quick !== undefined) return [quick]
  return readYaml(chunk)
}
