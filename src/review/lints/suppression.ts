import type { ReadDocument } from '../../documents/documents.ts'
import { type Found, isLintCode } from './catalog.ts'

/** `# muster:ignore CODE reason`: in the document that it is about, on a line of its own or behind something. */
const COMMENT = /#[ \t]*muster:ignore\b[ \t]*([A-Za-z]*)[ \t:]*(.*)$/gm

export interface Suppressions {
  /** Codes that are suppressed, with a reason. */
  readonly codes: ReadonlySet<string>
  /** What is wrong with the suppressions themselves. */
  readonly found: readonly Found[]
}

const NONE: Suppressions = { codes: new Set(), found: [] }

export function suppressionsIn({ text }: ReadDocument): Suppressions {
  if (!text.includes('muster:ignore')) return NONE
  const codes = new Set<string>()
  const found: Found[] = []
  for (const [, code = '', reason = ''] of text.matchAll(COMMENT)) {
    if (!isLintCode(code)) found.push(bare(`muster:ignore ${code}: there is no lint of this code`))
    else if (reason.trim() === '') found.push(bare(`muster:ignore ${code} needs a reason behind it, and has no effect`))
    else codes.add(code)
  }
  return { codes, found }
}

const bare = (message: string): Found => ({ code: 'BareSuppression', message, field: '' })
