import { readYaml } from './yaml-reader.ts'

/**
 * A YAML parser costs tens of microseconds per mark and more than linear time on nested ones; a JSON parser neither.
 * So YAML is bounded by its length and its marks, nothing in it may refer to anything else in it, and whoever needs
 * more writes JSON. The podSets that people write by hand stay far below.
 */
const MAX_YAML_LENGTH = 8192
/** All annotations of an object together may be no longer in Kubernetes. */
const MAX_LENGTH = 256 * 1024
const MAX_YAML_MARKS = 600
const MAX_DEPTH = 64

/** Anchors, aliases, tags and explicit keys. Explicit keys inside each other take the parser exponential time. */
const REFERENCES = /(?:^|[\s,[{:?-])(?:[&*!]|\?(?=\s|$))/

export type Parsed = { readonly value: unknown } | { readonly problem: string }

/** YAML or JSON in an annotation: small, plain and shallow, or a sentence that says what is wrong with it. */
export function readYamlOrJson(text: string): Parsed {
  if (text.length > MAX_LENGTH) return { problem: `must be no longer than ${MAX_LENGTH} characters` }
  const outcome = parseJson(text) ?? parseYaml(text)
  if ('value' in outcome && !shallow(outcome.value)) return { problem: `must not be nested deeper than ${MAX_DEPTH}` }
  return outcome
}

function parseJson(text: string): Parsed | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function parseYaml(text: string): Parsed {
  const unfit = unfitForYaml(text)
  if (unfit !== undefined) return { problem: `is not JSON, and as YAML it ${unfit}` }
  const [read, second] = readYaml(text)
  if (second !== undefined) return { problem: 'must be one YAML or JSON document' }
  if (read !== undefined && 'problem' in read) return { problem: `must be YAML or JSON: ${read.problem}` }
  return { value: read?.value ?? null }
}

/** What would cost the parser too much, found without parsing. */
function unfitForYaml(text: string): string | undefined {
  if (text.length > MAX_YAML_LENGTH) return `is longer than ${MAX_YAML_LENGTH} characters`
  if (REFERENCES.test(text)) return 'has anchors, aliases, tags or explicit keys; write it out'
  let depth = 0
  let marks = 0
  let dashes = 0
  for (const character of text) {
    if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth--
    if (MARKS.has(character)) marks++
    dashes = character === '-' || character === ' ' ? dashes + 1 : 0
    if (depth > MAX_DEPTH || dashes > 4 * MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH}`
  }
  return marks > MAX_YAML_MARKS ? `has more than ${MAX_YAML_MARKS} punctuation marks and line ends` : undefined
}

const MARKS: ReadonlySet<string> = new Set('\n\r,[]{}|>"\'%@`#:-\\')

function shallow(root: unknown): boolean {
  let level: unknown[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return false
    const next: unknown[] = []
    for (const value of level) {
      if (typeof value === 'object' && value !== null) for (const child of Object.values(value)) next.push(child)
    }
    level = next
  }
  return true
}
