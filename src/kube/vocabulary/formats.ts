/**
 * The text formats of the Kubernetes API, with the sentences its own validation uses: a person who has met
 * one of them at the API server recognises it here. Each function returns what is wrong, or nothing.
 */
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`
const KEY_NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"

const LABEL_REGEXP = new RegExp(`^${LABEL}$`)
const SUBDOMAIN_REGEXP = new RegExp(`^${SUBDOMAIN}$`)
const KEY_NAME_REGEXP = new RegExp(`^${KEY_NAME}$`)
const HTTP_PATH_REGEXP = new RegExp(`^${HTTP_PATH}$`)

/** Of a DNS label, of a label's value, and of the name in its key. */
export const MAX_LABEL_LENGTH = 63
/** Of a DNS subdomain, which is what most objects have for a name. */
export const MAX_NAME_LENGTH = 253

const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
const KEY_NAME_TEXT =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"

/** What they say they count: the library that Kueue asks for names of objects says characters, the newer one bytes. */
export type LengthUnit = 'characters' | 'bytes'

/** Both count bytes. */
const isTooLong = (value: string, limit: number): boolean => Buffer.byteLength(value) > limit

const tooLong = (limit: number, unit: LengthUnit): string => `must be no more than ${limit} ${unit}`

/** The two spaces before "or" are Kubernetes' own. */
function mismatch(text: string, pattern: string, ...examples: readonly string[]): string {
  const eg = examples.map(example => `'${example}', `).join(' or ')
  return `${text} (e.g. ${eg}regex used for validation is '${pattern}')`
}

/** A pattern with groups inside of groups runs out of stack on megabytes. They are too long, and that is enough. */
const MATCHED_LENGTH = 64 * 1024
const matchesSubdomain = (value: string): boolean => value.length > MATCHED_LENGTH || SUBDOMAIN_REGEXP.test(value)

export function subdomainProblems(value: string, unit: LengthUnit = 'characters'): readonly string[] {
  const problems: string[] = []
  if (isTooLong(value, MAX_NAME_LENGTH)) problems.push(tooLong(MAX_NAME_LENGTH, unit))
  if (!matchesSubdomain(value)) problems.push(mismatch(SUBDOMAIN_TEXT, SUBDOMAIN, 'example.com'))
  return problems
}

export function dnsLabelProblems(value: string, unit: LengthUnit = 'characters'): readonly string[] {
  const problems: string[] = []
  if (isTooLong(value, MAX_LABEL_LENGTH)) problems.push(tooLong(MAX_LABEL_LENGTH, unit))
  if (!LABEL_REGEXP.test(value)) {
    const onlyDots = matchesSubdomain(value)
    problems.push(onlyDots ? 'must not contain dots' : mismatch(LABEL_TEXT, LABEL, 'my-name', '123-abc'))
  }
  return problems
}

const keyNameMismatch = (): string => mismatch(KEY_NAME_TEXT, KEY_NAME, 'MyName', 'my.name', '123-abc')

/** A label key, in Kubernetes' words a qualified name: `name` or `domain/name`. Whoever judges one says bytes, Kueue too. */
export function labelKeyProblems(value: string): readonly string[] {
  const problems: string[] = []
  const parts = value.split('/', 3)
  if (parts.length > 2) {
    return [
      `a valid label key ${keyNameMismatch()} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  const name = parts[parts.length - 1] ?? ''
  if (parts.length === 2) {
    const prefix = parts[0] ?? ''
    if (prefix === '') problems.push('prefix part must be non-empty')
    else problems.push(...subdomainProblems(prefix, 'bytes').map(problem => `prefix part ${problem}`))
  }
  if (name === '') problems.push('name part must be non-empty')
  else if (isTooLong(name, MAX_LABEL_LENGTH)) problems.push(`name part ${tooLong(MAX_LABEL_LENGTH, 'bytes')}`)
  if (!KEY_NAME_REGEXP.test(name)) problems.push(`name part ${keyNameMismatch()}`)
  return problems
}

/** Whoever does not say what is wrong asks these. */
export const isSubdomain = (value: string): boolean => subdomainProblems(value).length === 0
export const isDnsLabel = (value: string): boolean => dnsLabelProblems(value).length === 0
export const isLabelKey = (value: string): boolean => labelKeyProblems(value).length === 0

/** Like the name in a key, but it may be empty. */
export function isLabelValue(value: string): boolean {
  return value === '' || (value.length <= MAX_LABEL_LENGTH && KEY_NAME_REGEXP.test(value))
}

/** A name that says whose it is, as `acme.io/foo`. Each problem comes with the part it is about. */
export function domainPrefixedPathProblems(
  value: string,
): readonly { readonly value: string; readonly problem: string }[] {
  const slash = value.indexOf('/')
  if (slash <= 0 || slash === value.length - 1) {
    return [{ value, problem: 'must be a domain-prefixed path (such as "acme.io/foo")' }]
  }
  const host = value.slice(0, slash)
  const path = value.slice(slash + 1)
  const problems = subdomainProblems(host).map(problem => ({ value: host, problem }))
  if (!HTTP_PATH_REGEXP.test(path)) {
    problems.push({ value: path, problem: `Invalid path (regex used for validation is '${HTTP_PATH}')` })
  }
  return problems
}
