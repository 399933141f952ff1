import { assign, isObject } from '../kube/vocabulary/fields.ts'
import { flow, isQuote, quoted, resolved, skipSpaces, UNUSUAL } from './flow-yaml.ts'
import { MAX_DEPTH } from './limits.ts'
import type { ReadValue } from './place.ts'

/**
 * Manifests as people and tools write them: nested maps and lists, words and texts on one line, blocks of text with
 * `|`. That is a small part of YAML and nearly all that is met in practice, and it can be read twenty times as fast as
 * the whole, which is the difference between a moment and half a minute for ten thousand pods.
 *
 * Undefined for everything else, errors too: then the library reads the document and explains it. What is read here is
 * read exactly as there; a property test holds the two against each other.
 */
export function readBlockYaml(text: string): ReadValue | undefined {
  if (STRANGE.test(text)) return undefined
  const reader = new BlockReader(text)
  try {
    return reader.read()
  } catch (error) {
    if (error === UNUSUAL) return undefined
    throw error
  }
}

/** Tabs, other line ends and control characters have rules of their own. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const STRANGE = /[\u0000-\u0009\u000b-\u001f\u007f-\u00a0\u2028\u2029\ufeff]/
const KEY = /[A-Za-z0-9_./$-]+(?=:(?: |$))/my
const PLAIN_START = /[A-Za-z0-9_./~+=$(^;\\]|-[^ \n]/y
const COMMENT = / #/
const REST = / *(?: #.*)?$/my
const BLOCK_HEADER = /\|(-?) *(?: #.*)?$/my

class BlockReader {
  readonly #text: string
  readonly #items = new Map<object, number>()
  /** Start of the current line, its end, its indentation and its first character that counts. */
  #line = 0
  #end = -1
  #indent = -1
  #content = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): ReadValue | undefined {
    this.#nextLine()
    if (this.#indent !== 0 || this.#isDash()) return undefined
    const offset = this.#content
    const value = this.#map(0, 0)
    if (!this.#isOver()) return undefined
    return { value, offset, items: this.#items }
  }

  /** Goes to the next line that holds something; `#indent` is -1 behind the last one. */
  #nextLine(): void {
    const text = this.#text
    for (;;) {
      this.#line = this.#end + 1
      if (this.#line >= text.length) {
        this.#indent = -1
        return
      }
      const end = text.indexOf('\n', this.#line)
      this.#end = end === -1 ? text.length : end
      this.#content = skipSpaces(text, this.#line)
      if (this.#content >= this.#end || text.charCodeAt(this.#content) === 0x23) continue
      this.#indent = this.#content - this.#line
      return
    }
  }

  #isOver(): boolean {
    return this.#indent === -1
  }

  #isDash(): boolean {
    if (this.#text.charCodeAt(this.#content) !== 0x2d) return false
    const next = this.#text.charCodeAt(this.#content + 1)
    return next === 0x20 || next === 0x0a || Number.isNaN(next)
  }

  #map(indent: number, depth: number): Record<string, unknown> {
    if (depth >= MAX_DEPTH) throw UNUSUAL
    const map: Record<string, unknown> = {}
    while (this.#indent === indent && !this.#isDash()) {
      const { key, end } = this.#key()
      if (key === '<<' || Object.hasOwn(map, key)) throw UNUSUAL
      assign(map, key, this.#value(end + 1, indent, depth, key))
    }
    if (this.#indent > indent) throw UNUSUAL
    return map
  }

  #key(): { readonly key: string; readonly end: number } {
    if (isQuote(this.#text, this.#content)) {
      const { value, end } = quoted(this.#text, this.#content)
      const next = this.#text[end + 1] ?? '\n'
      if (this.#text[end] !== ':' || (next !== ' ' && next !== '\n')) throw UNUSUAL
      return { key: value, end }
    }
    KEY.lastIndex = this.#content
    const key = KEY.exec(this.#text)?.[0]
    if (key === undefined) throw UNUSUAL
    return { key, end: this.#content + key.length }
  }

  #list(indent: number, depth: number, isItems: boolean): unknown[] {
    if (depth >= MAX_DEPTH) throw UNUSUAL
    const list: unknown[] = []
    while (this.#indent === indent && this.#isDash()) {
      const at = skipSpaces(this.#text, this.#content + 1)
      let offset = at
      let value: unknown
      if (this.#startsMap(at)) {
        // `- name: main` opens a map whose indentation is where its first key stands.
        this.#content = at
        this.#indent = at - this.#line
        value = this.#map(this.#indent, depth + 1)
      } else {
        value = this.#value(this.#content + 1, indent, depth, '', next => {
          offset = next
        })
      }
      if (isItems && isObject(value)) this.#items.set(value, offset)
      list.push(value)
    }
    if (this.#indent > indent) throw UNUSUAL
    return list
  }

  #startsMap(at: number): boolean {
    if (isQuote(this.#text, at)) return this.#text[quoted(this.#text, at).end] === ':'
    KEY.lastIndex = at
    return KEY.test(this.#text)
  }

  /** The value behind a key or a dash; afterwards the reader stands on the line that follows it. */
  #value(from: number, indent: number, depth: number, key: string, moved?: (offset: number) => void): unknown {
    const text = this.#text
    const at = skipSpaces(text, from)
    if (at >= this.#end || (text.charCodeAt(at) === 0x23 && at > from)) {
      this.#nextLine()
      moved?.(this.#content)
      // A list may stand under its key without further indentation, but not under a dash.
      if (this.#indent === indent && moved === undefined && this.#isDash()) {
        return this.#list(indent, depth + 1, key === 'items')
      }
      if (this.#indent <= indent) return null
      return this.#isDash() ? this.#list(this.#indent, depth + 1, key === 'items') : this.#map(this.#indent, depth + 1)
    }
    const code = text.charCodeAt(at)
    if (code === 0x7c) return this.#blockText(at, indent)
    if (code === 0x22 || code === 0x27) return this.#closed(quoted(text, at), indent)
    if (code === 0x5b || code === 0x7b) {
      // Where the items of a List are has to be kept, and here it is not.
      if (key === 'items') throw UNUSUAL
      return this.#closed(flow(text, at, MAX_DEPTH - depth), indent)
    }
    return this.#plain(at, indent)
  }

  #closed({ value, end }: { readonly value: unknown; readonly end: number }, indent: number): unknown {
    REST.lastIndex = end
    if (!REST.test(this.#text)) throw UNUSUAL
    this.#nextLine()
    if (this.#indent > indent) throw UNUSUAL
    return value
  }

  #plain(at: number, indent: number): unknown {
    PLAIN_START.lastIndex = at
    if (!PLAIN_START.test(this.#text)) throw UNUSUAL
    let word = this.#text.slice(at, this.#end)
    const comment = word.search(COMMENT)
    if (comment !== -1) word = word.slice(0, comment)
    word = word.trimEnd()
    if (word.includes(': ') || word.endsWith(':')) throw UNUSUAL
    this.#nextLine()
    // A word may go on in the next line if that is indented further.
    if (this.#indent > indent) throw UNUSUAL
    return resolved(word)
  }

  /** `|` and `|-`: the lines as they are, without the indentation of the first. */
  #blockText(at: number, indent: number): string {
    BLOCK_HEADER.lastIndex = at
    const strip = BLOCK_HEADER.exec(this.#text)?.[1]
    if (strip === undefined) throw UNUSUAL
    const text = this.#text
    const lines: string[] = []
    let own = -1
    for (let start = this.#end + 1; start < text.length; start = this.#end + 1) {
      const found = text.indexOf('\n', start)
      const end = found === -1 ? text.length : found
      const content = Math.min(skipSpaces(text, start), end)
      if (content < end) {
        if (own === -1) own = content - start
        if (own <= indent) throw UNUSUAL
        if (content - start < own) break
      } else if (own === -1 && content > start) throw UNUSUAL
      lines.push(text.slice(Math.min(start + Math.max(own, 0), end), end))
      this.#end = end
    }
    while (lines.at(-1) === '') lines.pop()
    if (lines.length === 0) throw UNUSUAL
    this.#nextLine()
    if (this.#indent > indent) throw UNUSUAL
    return lines.join('\n') + (strip === '' ? '\n' : '')
  }
}
