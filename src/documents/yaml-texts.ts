import { CHOMPING_MODE, getScalarValue, SCALAR_STYLE, type ScalarEvent } from 'js-yaml'

/**
 * The library puts a text together piece by piece, an escape or a line at a time, which takes fifty times its length in
 * memory. From here on that counts.
 */
const LONG = 64 * 1024

/** What a scalar says: the library's answer, by a way that has room for long ones. */
export function scalarText(source: string, event: ScalarEvent): string {
  const { valueStart, valueEnd, fast, style } = event
  if (fast || valueEnd - valueStart < LONG) return getScalarValue(source, event)
  return longText(source.slice(valueStart, valueEnd), event, style) ?? getScalarValue(source, event)
}

function longText(written: string, event: ScalarEvent, style: number): string | undefined {
  if (style === SCALAR_STYLE.LITERAL_BLOCK) return literal(written, event)
  if (/[\r\n]/.test(written)) return undefined
  if (style === SCALAR_STYLE.SINGLE_QUOTED) return written.replaceAll("''", "'")
  return style === SCALAR_STYLE.DOUBLE_QUOTED ? asJson(written) : undefined
}

/** Most escapes mean the same in JSON, and what JSON does not know it refuses. */
function asJson(written: string): string | undefined {
  try {
    return JSON.parse(`"${written}"`) as string
  } catch {
    return undefined
  }
}

/** A block of lines: without their indentation, and with as many line ends behind them as its head says. */
function literal(written: string, { indent, chomping }: ScalarEvent): string | undefined {
  if (indent < 0) return undefined
  const plain = written.includes('\r') ? written.replaceAll(/\r\n?/g, '\n') : written
  const text = plain
    .split('\n')
    .map(line => line.slice(Math.min(indent, line.search(/[^ ]|$/))))
    .join('\n')
  const lines = text.replace(/\n$/, '')
  const body = withoutLineEnds(lines)
  if (chomping === CHOMPING_MODE.STRIP) return body
  const kept = chomping === CHOMPING_MODE.KEEP ? lines.length - body.length + (text === '' ? 0 : 1) : 1
  return body === '' && chomping !== CHOMPING_MODE.KEEP ? '' : body + '\n'.repeat(kept)
}

function withoutLineEnds(text: string): string {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === 0x0a) end--
  return text.slice(0, end)
}
