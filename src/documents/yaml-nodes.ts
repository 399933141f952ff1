import { EVENT_ID, type Event, SCALAR_STYLE, type ScalarEvent } from 'js-yaml'
import { assign, isObject } from '../kube/vocabulary/fields.ts'
import { ReadError } from './place.ts'

export interface Tagged {
  readonly tagStart: number
  readonly tagEnd: number
}

/** How `!!str` is written out. */
export const VERBATIM = '!<tag:yaml.org,2002:'
/** Tags that say what a word means anyway. */
export const RESOLVED_TAGS: ReadonlySet<string> = new Set(['int', 'float', 'bool', 'null'])

/** `<<` in quotes is a key like any other. */
export const isMerge = (event: Event): boolean =>
  event.type === EVENT_ID.SCALAR && event.style === SCALAR_STYLE.PLAIN && event.tagStart === -1

/** Keys that the map has itself win over those of `<<`, whatever their order. */
export function mergeInto(map: Record<string, unknown>, source: unknown, offset: number): void {
  if (Array.isArray(source)) {
    for (const each of source) mergeInto(map, each, offset)
    return
  }
  if (!isObject(source)) throw new ReadError('"<<" takes in a map or a list of maps', offset)
  for (const [key, value] of Object.entries(source)) if (!Object.hasOwn(map, key)) assign(map, key, value)
}

/** Where the value of an event begins, with its quotes. */
export function offsetOf(event: Event): number {
  switch (event.type) {
    case EVENT_ID.SCALAR:
      return Math.max(event.valueStart - (isQuoted(event) ? 1 : 0), event.anchorStart - 1, event.tagStart, 0)
    case EVENT_ID.MAPPING:
    case EVENT_ID.SEQUENCE:
      return event.start
    case EVENT_ID.ALIAS:
      return event.anchorStart - 1
    default:
      return 0
  }
}

const isQuoted = ({ style }: ScalarEvent): boolean =>
  style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED

/** kubectl ends a name at any other character, and reads the rest as the value. */
export function checkAnchor(name: string, offset: number): void {
  if (/^[\w-]+$/.test(name)) return
  throw new ReadError(`the anchor ${name} may have only letters, digits, "-" and "_" in its name`, offset)
}

/** In braces and brackets kubectl takes the mark for that of a key, with a space behind it or without. */
export function checkWord(word: string, offset: number): void {
  if (word.startsWith('?')) throw new ReadError('a word cannot begin with "?": put it in quotes', Math.max(offset, 0))
}
