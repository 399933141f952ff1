import { LINTS } from '../lints/catalog.ts'
import { type Complaint, complaintsOf, DENIED, UNREADABLE, WARNING } from './complaints.ts'
import { type FormatOptions, type Formatter, TOOL } from './formatter.ts'

const HELP = 'https://github.com/muster-dev/muster/blob/main/docs'
const FIELD_ERRORS = 'Invalid Required Forbidden TooMany TooLong Duplicate NotSupported InternalError'.split(' ')

/** SARIF 2.1.0, for code scanning. Results are written as they come; the rules are known beforehand. */
export function sarifFormatter({ version }: FormatOptions): Formatter {
  let results = 0
  return {
    begin() {
      const driver = { name: TOOL, version, informationUri: `${HELP}/review.md`, rules: rules() }
      const run = { tool: { driver }, columnKind: 'utf16CodeUnits' }
      const schema = 'https://json.schemastore.org/sarif-2.1.0.json'
      return `{"$schema":"${schema}","version":"2.1.0","runs":[${JSON.stringify(run).slice(0, -1)},"results":[`
    },
    entry: entry =>
      complaintsOf(entry)
        .map(complaint => `${results++ === 0 ? '\n' : ',\n'}${JSON.stringify(sarifResult(complaint))}`)
        .join(''),
    end: () => ['\n]}]}\n'],
  }
}

function rules(): readonly object[] {
  const lints = LINTS.map(({ code, summary, severity }) => ({
    id: code,
    shortDescription: { text: summary },
    helpUri: `${HELP}/lints.md#${code.toLowerCase()}`,
    defaultConfiguration: { level: severity },
  }))
  const others = [...FIELD_ERRORS, DENIED, UNREADABLE, WARNING].map(id => ({
    id,
    shortDescription: { text: id === WARNING ? 'A warning of the webhooks' : `${id}: refused` },
    helpUri: `${HELP}/review.md`,
    defaultConfiguration: { level: id === WARNING ? 'warning' : 'error' },
  }))
  return [...lints, ...others]
}

function sarifResult({ rule, severity, file, line, column, message }: Complaint): object {
  const region = line === 0 ? {} : { region: { startLine: line, startColumn: Math.max(column, 1) } }
  return {
    ruleId: rule,
    level: severity,
    message: { text: message },
    locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file) }, ...region } }],
  }
}

/** Relative to the folder of the build, as code scanning wants it. */
function uriOf(file: string): string {
  if (file === '-') return 'stdin'
  const isAbsolute = file.startsWith('/')
  const path = file.replace(/^\.\//, '').split('/').map(encodeURIComponent).join('/')
  return isAbsolute ? `file://${path}` : path
}
