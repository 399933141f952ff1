/** Which family of suffixes a quantity was written with. Kubernetes answers in the family it was asked in. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent'

/** An exact amount. Kubernetes keeps no digits below a billionth, so whole nano units lose nothing. */
export interface Quantity {
  readonly nano: bigint
  readonly format: QuantityFormat
}

export class QuantityError extends Error {
  constructor(text: string, problem: string) {
    const shown = text.length > 64 ? `${text.slice(0, 64)}...` : text
    super(`${JSON.stringify(shown)} is not a quantity: ${problem}`)
    this.name = 'QuantityError'
  }
}

const SYNTAX = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[+-]?\d*)$/
const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
/** More than any machine has, and small enough that hostile input cannot make us compute with millions of digits. */
const MAX_EXPONENT = 100
const MAX_LENGTH = 256
const NANO_DIGITS = 9
const ONE = 10n ** BigInt(NANO_DIGITS)
const MAX_BINARY = (2n ** 63n - 1n) * ONE

interface Suffix {
  readonly format: QuantityFormat
  readonly exponent: number
}

interface Parsed {
  readonly quantity: Quantity
  /** Go keeps the text of a number that already looks canonical to it; then this is what the API server sends. */
  readonly keepsText: boolean
}

export function parseQuantity(text: string | number): Quantity {
  return parse(String(text)).quantity
}

/**
 * The text that the API server shows for a quantity somebody wrote (resource.Quantity after a JSON round trip).
 * One difference on purpose: above 999E Go drops the suffix (`1000E` becomes `1`); here the value survives.
 */
export function canonicalQuantity(text: string | number): string {
  const input = String(text)
  const { quantity, keepsText } = parse(input)
  return keepsText ? input : formatQuantity(quantity)
}

export function formatQuantity(quantity: Quantity): string {
  const { nano, format } = quantity
  if (nano === 0n) return '0'
  // Binary suffixes cannot show fractions, and small numbers read better without them: Go falls back to decimal.
  const binary = format === 'BinarySI' && magnitude(nano) >= 1024n * ONE && nano % ONE === 0n
  if (binary) return formatBinary(nano / ONE)
  return formatDecimal(nano, format)
}

function parse(text: string): Parsed {
  if (text.length > MAX_LENGTH) throw new QuantityError(text, `it is longer than ${MAX_LENGTH} characters`)
  const match = SYNTAX.exec(text)
  if (!match) throw new QuantityError(text, 'write a number and at most one suffix, such as 500m, 2, 1.5Gi or 1e3')
  const [, sign = '', whole = '', fraction = '', suffixText = ''] = match
  if (whole === '' && fraction === '') throw new QuantityError(text, 'it has no digits')
  const suffix = interpretSuffix(text, suffixText)
  const numerator = whole.replace(/^0+/, '') || '0'
  const digits = numerator + fraction
  const scale = suffix.format === 'BinarySI' ? -fraction.length : suffix.exponent - fraction.length
  const factor = suffix.format === 'BinarySI' ? 2n ** BigInt(suffix.exponent) : 1n
  let nano = shiftRoundingUp(BigInt(digits) * factor, scale + NANO_DIGITS)
  let format = suffix.format
  if (format === 'BinarySI') {
    if (nano > MAX_BINARY) nano = MAX_BINARY
    if (nano > 0n && nano < ONE) format = 'DecimalSI'
  }
  return {
    quantity: { nano: sign === '-' ? -nano : nano, format },
    keepsText: text === '0' || looksCanonical(suffix, numerator, fraction, scale),
  }
}

/** The shortcut of Go's ParseQuantity for numbers that fit an int64 and whose exponent is already a multiple of 3. */
function looksCanonical(suffix: Suffix, numerator: string, fraction: string, scale: number): boolean {
  if (suffix.format === 'BinarySI') {
    const precision = 15 - numerator.length - Math.trunc((suffix.exponent * 3) / 10) - 1
    return fraction === '' && precision >= 0 && BigInt(numerator) % 8n !== 0n
  }
  const digits = numerator + fraction
  if (digits.length > 18 || scale < -NANO_DIGITS) return false
  return scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0')
}

function interpretSuffix(text: string, suffix: string): Suffix {
  const decimal = DECIMAL_SUFFIXES.indexOf(suffix)
  if (decimal >= 0) return { format: 'DecimalSI', exponent: decimal * 3 - NANO_DIGITS }
  const binary = BINARY_SUFFIXES.indexOf(suffix)
  if (binary >= 0) return { format: 'BinarySI', exponent: binary * 10 }
  if (/^[eE][+-]?\d+$/.test(suffix)) {
    const exponent = Number(suffix.slice(1))
    if (Math.abs(exponent) <= MAX_EXPONENT) return { format: 'DecimalExponent', exponent }
    throw new QuantityError(text, `its exponent is beyond ${MAX_EXPONENT}`)
  }
  throw new QuantityError(
    text,
    `suffix ${JSON.stringify(suffix)} is unknown; use n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or e<number>`,
  )
}

/** Who asks for a tiny amount shall get some of it: what lies below a nano unit is rounded up, never to zero. */
function shiftRoundingUp(value: bigint, places: number): bigint {
  if (places >= 0) return value * 10n ** BigInt(places)
  const divisor = 10n ** BigInt(-places)
  return (value + divisor - 1n) / divisor
}

function formatBinary(value: bigint): string {
  let rest = value
  let power = 0
  while (power < BINARY_SUFFIXES.length - 1 && rest % 1024n === 0n) {
    rest /= 1024n
    power++
  }
  return `${rest}${BINARY_SUFFIXES[power]}`
}

function formatDecimal(nano: bigint, format: QuantityFormat): string {
  let rest = nano
  let exponent = -NANO_DIGITS
  const largest = format === 'DecimalExponent' ? Number.POSITIVE_INFINITY : 18
  while (exponent + 3 <= largest && rest % 1000n === 0n) {
    rest /= 1000n
    exponent += 3
  }
  if (format !== 'DecimalExponent') return `${rest}${DECIMAL_SUFFIXES[(exponent + NANO_DIGITS) / 3]}`
  return exponent === 0 ? `${rest}` : `${rest}e${exponent}`
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value
}
