import type { FormatOptions, Formatter } from './formatter.ts'
import { githubFormatter } from './github.ts'
import { jsonFormatter, yamlFormatter } from './json.ts'
import { junitFormatter } from './junit.ts'
import { diffFormatter, objectsFormatter } from './objects.ts'
import { sarifFormatter } from './sarif.ts'
import { tableFormatter } from './table.ts'

const FORMATTERS = {
  table: tableFormatter,
  json: jsonFormatter,
  yaml: yamlFormatter,
  objects: objectsFormatter,
  diff: diffFormatter,
  junit: junitFormatter,
  sarif: sarifFormatter,
  github: githubFormatter,
} as const satisfies Record<string, (options: FormatOptions) => Formatter>

export type Format = keyof typeof FORMATTERS
export const FORMATS = Object.keys(FORMATTERS) as readonly Format[]

export const createFormatter = (format: Format, options: FormatOptions): Formatter => FORMATTERS[format](options)
