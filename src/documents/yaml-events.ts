import { type Event, type ParserOptions, parseEvents, YAMLException } from 'js-yaml'
import { MAX_DEPTH, MAX_YAML_MARKS } from './limits.ts'
import { type Problem, problem } from './place.ts'

/** What a YAML text is made of: flat events whose offsets are those of `text`. */
export interface EventText {
  readonly events: readonly Event[]
  /** The text that was parsed: what was given, or what it was repaired to. */
  readonly text: string
  /** From an offset of `text` to one of what was given. */
  original(offset: number): number
  /** Stands in texts for the backslash of `\'`. */
  readonly apostrophe?: string
}

/** The parser counts keys and the document itself as levels, too. */
const OPTIONS: ParserOptions = { maxDepth: 2 * MAX_DEPTH + 2 }

/** A text that needs more repairs than this was not written for kubectl. */
const MAX_REPAIRS = 100
const MAX_REPAIRED_LENGTH = 256 * 1024

/**
 * Parses YAML as kubectl does. The library follows YAML 1.2, kubectl's go-yaml an older text, which lets two more
 * things pass: `\'` in double quotes, and braces, brackets and quoted texts that go on at any indentation. Both are
 * rare, so they are put right when the library complains, and the text is parsed again.
 */
export function parseYamlEvents(given: string): EventText | Problem {
  const unfit = unfitProblem(given)
  if (unfit !== undefined) return unfit
  let text = given
  let apostrophe: string | undefined
  const inserted: number[] = []
  const original = (offset: number): number => {
    let at = offset
    for (const start of inserted) {
      if (start >= offset) break
      at -= Math.min(INDENT.length, offset - start)
    }
    return at
  }
  for (;;) {
    try {
      const events = parseEvents(text, OPTIONS)
      return { events, text, original, ...(apostrophe === undefined ? {} : { apostrophe }) }
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error
      const offset = error.mark?.position ?? 0
      if (error.reason === 'unknown escape sequence' && text[offset] === "'" && apostrophe === undefined) {
        apostrophe = unusedCharacter(text)
        text = text.replace(/\\(\\|')/g, (pair, next: string) => (next === "'" ? `${apostrophe}'` : pair))
        continue
      }
      const repairable = error.reason === 'deficient indentation' && given.length <= MAX_REPAIRED_LENGTH
      const line = text.lastIndexOf('\n', offset - 1) + 1
      if (repairable && inserted.length < MAX_REPAIRS && !text.startsWith(INDENT, line)) {
        text = text.slice(0, line) + INDENT + text.slice(line)
        inserted.push(line)
        continue
      }
      const at = Math.min(original(offset), given.length)
      return { ...problem(describe(error.reason, text, offset), at), isSyntax: true }
    }
  }
}

/** More than any real text is indented by. */
const INDENT = ' '.repeat(4 * MAX_DEPTH)

function unusedCharacter(text: string): string {
  for (let code = 0xe000; code < 0xf8ff; code++) {
    const character = String.fromCharCode(code)
    if (!text.includes(character)) return character
  }
  return '\uf8ff'
}

/**
 * kubectl begins a new line at these, or skips them, and other programs do not: a manifest would mean two things. A byte
 * order mark may stand at the very start.
 */
const UNSEEN = /[\u0085\u2028\u2029]|(?<!^)\ufeff/

function unfitProblem(text: string): Problem | undefined {
  const secret = UNSEEN.exec(text)
  if (secret !== null) {
    const code = secret[0].charCodeAt(0).toString(16).padStart(4, '0')
    return problem(
      `has a character that nobody sees, and that kubectl minds: write it as "\\u${code}", in double quotes`,
      secret.index,
    )
  }
  return marksProblem(text)
}

/** Counted only where there can be too many: the marks that separate values from each other. */
function marksProblem(text: string): Problem | undefined {
  if (text.length < MAX_YAML_MARKS) return undefined
  let marks = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x0a || code === 0x2c || code === 0x5b || code === 0x7b || code === 0x3a) marks++
    if (marks > MAX_YAML_MARKS) {
      return problem(`has more than ${MAX_YAML_MARKS} values in one document: split it, or write it as JSON`, 0)
    }
  }
  return undefined
}

const DESCRIPTIONS: Readonly<Record<string, string | undefined>> = {
  'tab characters must not be used in indentation': 'a tab cannot indent YAML: use spaces',
  'null byte is not allowed in input': 'is not text: there is a zero byte in it',
}

function describe(reason: string, text: string, offset: number): string {
  if (reason.startsWith('nesting exceeded')) return `is nested deeper than ${MAX_DEPTH} levels`
  const tab = text.lastIndexOf('\t', offset)
  const indents = tab !== -1 && /^[ \t]*$/.test(text.slice(text.lastIndexOf('\n', tab) + 1, tab))
  if (indents && !text.slice(tab, offset).includes('\n')) return 'a tab cannot indent YAML: use spaces'
  return DESCRIPTIONS[reason] ?? `is not valid YAML: ${reason}`
}
