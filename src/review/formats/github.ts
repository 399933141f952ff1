import { complaintsOf } from './complaints.ts'
import { type Formatter, summary } from './formatter.ts'

/** Workflow commands: GitHub shows them beside the lines of a pull request. */
export function githubFormatter(): Formatter {
  return {
    begin: () => '',
    entry: entry =>
      complaintsOf(entry)
        .map(({ severity, file, line, column, rule, message }) => {
          const place = line === 0 ? '' : `,line=${line},col=${column}`
          return `::${severity} file=${property(file)}${place},title=${property(rule)}::${data(message)}\n`
        })
        .join(''),
    end: counts => [`::notice title=muster review::${summary(counts)}\n`],
  }
}

const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
