import type { Counts, Entry } from '../report.ts'

/**
 * Writes a report piece by piece: a report of half a million objects is larger than the memory that a build has, and
 * than the longest text that Node can hold.
 */
export interface Formatter {
  begin(): string
  entry(entry: Entry): string
  /** In pieces, too: what could not be read is told last, and may be half a million lines. */
  end(counts: Counts): Iterable<string>
}

export interface FormatOptions {
  /** Of Muster. */
  readonly version: string
  readonly colours: boolean
}

/** Names come from files of others, and a terminal obeys control characters. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must go.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
}

export const TOOL = 'muster'
export const REPORT_VERSION = 'review.muster.dev/v1alpha1'

/** How it went, in one line. */
export function summary({ objects, admitted, denied, errors, warnings, suppressed, unreadable }: Counts): string {
  const parts = [`${objects} ${objects === 1 ? 'object' : 'objects'}: ${admitted} admitted, ${denied} denied`]
  const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`
  if (errors > 0) parts.push(counted(errors, 'error'))
  if (warnings > 0) parts.push(counted(warnings, 'warning'))
  if (suppressed > 0) parts.push(`${suppressed} suppressed`)
  if (unreadable > 0) parts.push(`${unreadable} unreadable`)
  return parts.join('; ')
}
