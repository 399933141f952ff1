const NULL = new Set(['', '~', 'null', 'Null', 'NULL'])
const TRUE = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'])
const FALSE = new Set(['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'])
const PREFIXED = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+)$/
const OCTAL = /^([-+]?)0([0-7]+)$/
/** With a zero in front it is octal, or, with an 8 or 9 in it, a fraction to Go. */
const DECIMAL = /^[-+]?(?:0|[1-9][0-9]*)$/
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/
const NOT_A_NUMBER = /^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/

/** JSON has no word for infinity, so no manifest can hold it. */
export const NOT_IN_JSON = Symbol('infinite or not a number')

/** What Go holds in a whole number; beyond it is a float there. */
const MIN_INT64 = -(2n ** 63n)
const MAX_UINT64 = 2n ** 64n - 1n

/**
 * What an unquoted word of a manifest means. kubectl decides that, with the rules of YAML 1.1 as go-yaml has them:
 * `yes` and `on` are booleans and `0777` is octal there. Reading them otherwise would pass a manifest here that the
 * API server refuses. A bigint is a whole number that a double cannot hold.
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
  if (prefixed !== null) return signed(prefixed[1], prefixed[2] ?? '', text)
  const octal = OCTAL.exec(digits)
  if (octal !== null) return signed(octal[1], `0o${octal[2] ?? ''}`, text)
  if (digits.length > 15 && DECIMAL.test(digits)) return wholeNumber(digits)
  if (!FLOAT.test(digits)) return text
  const number = Number(digits)
  // Go cannot parse such a number either and keeps the text.
  return Number.isFinite(number) ? number : text
}

/** A whole number in decimal digits: exact as far as Go's are. */
export function wholeNumber(digits: string): number | bigint {
  const number = Number(digits)
  if (Number.isSafeInteger(number) || digits.length > 21) return number
  const exact = BigInt(digits.startsWith('+') ? digits.slice(1) : digits)
  return exact >= MIN_INT64 && exact <= MAX_UINT64 ? exact : number
}

function signed(sign: string | undefined, digits: string, text: string): unknown {
  if (digits.length <= 12) return sign === '-' ? -Number(digits) : Number(digits)
  const exact = sign === '-' ? -BigInt(digits) : BigInt(digits)
  // Digits of another base that Go cannot hold are no number to it.
  if (exact < MIN_INT64 || exact > MAX_UINT64) return text
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}

/** The key of a map as JSON has it: `on` is the word for true, and `0x10` is 16. Undefined: no key in JSON. */
export function plainKey(text: string): string | undefined {
  const value = plainScalar(text)
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return isWhole(text) ? String(value) : float32(value)
  if (value === NOT_IN_JSON) return text.toLowerCase().replace('+', '')
  return undefined
}

function isWhole(text: string): boolean {
  const digits = text.replaceAll('_', '')
  return DECIMAL.test(digits) || OCTAL.test(digits) || PREFIXED.test(digits)
}

/** Go writes the fractions in keys as the shortest text of a single-precision number, with an exponent from 1e6 on. */
function float32(value: number): string {
  const single = Math.fround(value)
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf'
  for (let digits = 1; digits <= 9; digits++) {
    const text = single.toExponential(digits - 1)
    if (Math.fround(Number(text)) !== single) continue
    const [mantissa = '', power = '0'] = text.split('e')
    const exponent = Number(power)
    if (exponent >= -4 && exponent < 6) return String(Number(text))
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  }
  return String(single)
}
