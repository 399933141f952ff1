import { EVENT_ID, getScalarValue, parseEvents } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { readYaml } from '../../../src/documents/yaml-reader.ts'
import { scalarText } from '../../../src/documents/yaml-texts.ts'
import { writeYaml } from '../../../src/documents/yaml-writer.ts'

const MANY = 20_000
const MIB = 1024 * 1024

describe('a long text says what the library says it does', () => {
  it.each([
    ['in single quotes', `'${"it''s ".repeat(MANY)}'`],
    ['in single quotes, over lines', `'${"it''s\n  ".repeat(MANY)}'`],
    ['in double quotes', `"${'a\\n\\u00e4\\/\\\\ \\t'.repeat(MANY)}"`],
    ['in double quotes, with escapes that JSON does not know', `"${'\\x41\\e\\N\\_'.repeat(MANY)}"`],
    ['in double quotes, over lines', `"${'a\\n\n  b '.repeat(MANY)}"`],
    ['as lines', `|\n${'    x\n'.repeat(MANY)}`],
    ['as lines, some of them empty or indented', `|\n${'    x\n\n  \n      y\n     \n'.repeat(MANY)}`],
    ['as lines of CRLF', `|\r\n${'    x\r\n\r\n'.repeat(MANY)}`],
    ['as lines that keep their end', `|+\n${'    x\n'.repeat(MANY)}\n\n`],
    ['as lines without their end', `|-\n${'    x\n'.repeat(MANY)}\n\n`],
    ['as lines that begin with none', `|\n\n\n${'    x\n'.repeat(MANY)}`],
    ['as lines that are none', `|\n${'\n'.repeat(4 * MANY)}`],
    ['as lines that are none, all of them kept', `|+\n${'\n'.repeat(4 * MANY)}`],
    ['as lines with an indicator', `|2\n${'      x\n'.repeat(MANY)}`],
    ['as lines that end with the file', `|\n${'    x\n'.repeat(MANY)}    y`],
    ['folded', `>\n${'    x\n\n'.repeat(MANY)}`],
    ['without quotes', `${'word '.repeat(MANY)}`],
  ])('%s', (_how, written) => {
    const text = `a: ${written}`
    const [, scalar] = parseEvents(text, {}).filter(({ type }) => type === EVENT_ID.SCALAR)
    if (scalar?.type !== EVENT_ID.SCALAR) throw new Error('there is no text')
    expect(scalarText(text, scalar) === getScalarValue(text, scalar)).toBe(true)
  })
})

it('a text of 8 MiB is read, and written as YAML that says the same', () => {
  for (const value of ['abc def\n'.repeat(MIB), `it's \\ "${'x'.repeat(8 * MIB)}"`, `\n${'abc def\n'.repeat(MIB)}`]) {
    const [read] = readYaml(writeYaml({ value }))
    expect(read !== undefined && 'value' in read && (read.value as { value: string }).value === value).toBe(true)
  }
})
