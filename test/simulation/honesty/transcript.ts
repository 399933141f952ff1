import { isDeepStrictEqual } from 'node:util'

/** What one step of the script was answered, in words that mean the same on every server. */
export interface Entry {
  readonly step: string
  readonly answer: unknown
}

export type Transcript = readonly Entry[]

export interface Account {
  readonly name: string
  readonly transcript: Transcript
}

/** Two answers to the same step that are not the same; or that are, where they are expected not to be. */
export function differences(
  chapter: string,
  one: Account,
  other: Account,
  expected: Readonly<Record<string, string>> = {},
): readonly string[] {
  const length = Math.max(one.transcript.length, other.transcript.length)
  return Array.from({ length }, (_, index) => index).flatMap(index => {
    const [a, b] = [one.transcript[index], other.transcript[index]]
    const title = a?.step ?? b?.step ?? ''
    const agree = isDeepStrictEqual(a, b)
    if (agree !== Object.hasOwn(expected, title)) return []
    const place = `${chapter}, step ${index + 1} "${title}"`
    if (agree) return [`${place} is listed as a difference, and there is none`]
    return [`${place}\n  ${one.name}: ${said(a, title)}\n  ${other.name}: ${said(b, title)}`]
  })
}

function said(entry: Entry | undefined, title: string): string {
  if (entry === undefined) return 'no such step'
  return `${entry.step === title ? '' : `in step "${entry.step}" `}${JSON.stringify(entry.answer)}`
}

/** One line per step, so that a change of one answer is a change of one line. */
export function toText(transcript: Transcript): string {
  return transcript.map(({ step, answer }) => `- ${JSON.stringify({ step, answer })}\n`).join('')
}

export function fromText(text: string): Transcript {
  return text
    .split('\n')
    .filter(line => line.startsWith('- '))
    .map(line => JSON.parse(line.slice(2)) as Entry)
}
