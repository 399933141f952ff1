const NULL = new Set(['', '~', 'null', 'Null', 'NULL'])
const TRUE = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'])
const FALSE = new Set(['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'])
const PREFIXED = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+)$/
const OCTAL = /^([-+]?)0([0-7]+)$/
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/
const NOT_A_NUMBER = /^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/

/** JSON has no word for infinity, so no manifest can hold it. */
export const NOT_IN_JSON = Symbol('infinite or not a number')

/**
 * What an unquoted word of a manifest means. kubectl decides that, with the rules of YAML 1.1 as go-yaml has them:
 * `yes` and `on` are booleans and `0777` is octal there. Reading them otherwise would pass a manifest here that the
 * API server refuses.
 */
export function plainScalar(text: string): unknown {
  if (text.length <= 5) {
    if (NULL.has(text)) return null
    if (TRUE.has(text)) return true
    if (FALSE.has(text)) return false
  }
  const first = text.charCodeAt(0)
  const numeric = (first >= 0x30 && first <= 0x39) || first === 0x2d || first === 0x2b || first === 0x2e
  return numeric ? numberOrText(text) : text
}

function numberOrText(text: string): unknown {
  if (NOT_A_NUMBER.test(text)) return NOT_IN_JSON
  const digits = text.includes('_') ? text.replaceAll('_', '') : text
  const prefixed = PREFIXED.exec(digits)
  if (prefixed !== null) return signed(prefixed[1], Number(prefixed[2]))
  const octal = OCTAL.exec(digits)
  if (octal !== null) return signed(octal[1], Number.parseInt(octal[2] ?? '', 8))
  if (!FLOAT.test(digits)) return text
  const number = Number(digits)
  // Go cannot parse such a number either and keeps the text.
  return Number.isFinite(number) ? number : text
}

const signed = (sign: string | undefined, number: number): number => (sign === '-' ? -number : number)
