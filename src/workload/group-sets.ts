import { parseDocument } from 'yaml'
import { GROUP_SETS } from '../names.ts'
import { type FieldError, forbidden, invalid, required } from '../validation/field-error.ts'
import { dnsLabelProblems } from '../validation/formats.ts'
import { MAX_INT32 } from '../validation/numbers.ts'

/** One role that a driver announces: `podSets[]` of the Workload to be. No template: it is the driver's own pod. */
export interface GroupSet {
  readonly name: string
  readonly count: number
  readonly template?: Readonly<Record<string, unknown>>
}

export interface ParsedSets {
  readonly sets: readonly GroupSet[]
  readonly errors: readonly FieldError[]
  readonly warnings: readonly string[]
}

/** KEP-976: "This value can be up to 8." */
export const MAX_ROLES = 8

/**
 * A YAML parser costs tens of microseconds per mark and more than linear time on nested ones; a JSON parser neither.
 * So YAML is bounded by its length and its marks, nothing in it may refer to anything else in it, and whoever needs
 * more writes JSON. The podSets that people write by hand stay far below.
 */
const MAX_YAML_LENGTH = 8192
const MAX_YAML_MARKS = 600
const MAX_DEPTH = 64

/** Anchors, aliases, tags and explicit keys. Explicit keys inside each other take the parser exponential time. */
const REFERENCES = /(?:^|[\s,[{:?-])(?:[&*!]|\?(?=\s|$))/

const PATH = `metadata.annotations[${GROUP_SETS}]`
const EXAMPLE =
  'for example [{"name": "driver", "count": 1}, {"name": "worker", "count": 10, "template": {"spec": ...}}]'

/**
 * The annotation `pod-group-sets`, YAML or JSON with the structure of a Workload's podSets. `ownRole` is the role of
 * the pod that carries it: only its template may be missing, because Muster takes it from the pod.
 */
export function parseGroupSets(text: string, ownRole: string | undefined): ParsedSets {
  const parsed = parseText(text)
  if ('problem' in parsed) return failed(invalid(PATH, text, parsed.problem))
  const { value } = parsed
  if (!Array.isArray(value)) return failed(invalid(PATH, text, `must be a list of podSets, ${EXAMPLE}`))
  if (value.length === 0) return failed(required(PATH, `must contain at least one podSet, ${EXAMPLE}`))
  if (value.length > MAX_ROLES) {
    const detail = `must have at most ${MAX_ROLES} podSets, this has ${value.length}`
    return failed({ field: PATH, type: 'TooMany', detail })
  }
  const errors: FieldError[] = []
  const warnings: string[] = []
  const sets: GroupSet[] = []
  const seen = new Set<string>()
  for (const [index, item] of value.entries()) {
    const at = `${PATH}[${index}]`
    if (!isObject(item)) {
      errors.push(invalid(at, item, 'must be an object with name, count and template'))
      continue
    }
    const { name, count, template } = item
    errors.push(...unknownKeys(item, at), ...nameErrors(name, `${at}.name`), ...countErrors(count, `${at}.count`))
    if (typeof name === 'string' && seen.has(name)) {
      errors.push({
        field: `${at}.name`,
        type: 'Duplicate',
        detail: 'every podSet needs a name of its own',
        value: name,
      })
    }
    seen.add(String(name))
    if (!isEmpty(template)) errors.push(...templateErrors(template, `${at}.template`, warnings))
    else if (name !== ownRole) {
      const detail = `the template may be empty only in the podSet of the pod itself (${ownRole ?? 'it has no role'})`
      errors.push(required(`${at}.template`, detail))
    }
    sets.push({
      name: String(name),
      count: Number(count),
      ...(isObject(template) && !isEmpty(template) ? { template } : {}),
    })
  }
  return { sets: errors.length === 0 ? sets : [], errors, warnings }
}

const failed = (error: FieldError): ParsedSets => ({ sets: [], errors: [error], warnings: [] })

type Outcome = { readonly value: unknown } | { readonly problem: string }

function parseText(text: string): Outcome {
  const outcome = parseJson(text) ?? parseYaml(text)
  if ('value' in outcome && !shallow(outcome.value)) return { problem: `must not be nested deeper than ${MAX_DEPTH}` }
  return outcome
}

function parseJson(text: string): Outcome | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function parseYaml(text: string): Outcome {
  const unfit = unfitForYaml(text)
  if (unfit !== undefined) return { problem: `is not JSON, and as YAML it ${unfit}` }
  try {
    const document = parseDocument(text, { schema: 'core', prettyErrors: true, logLevel: 'silent' })
    const [error] = document.errors
    if (error !== undefined) return { problem: `must be YAML or JSON: ${firstLine(error.message)}` }
    return { value: document.toJS({ maxAliasCount: 0 }) }
  } catch (error) {
    return {
      problem: `must be plain YAML or JSON: ${firstLine(error instanceof Error ? error.message : String(error))}`,
    }
  }
}

const firstLine = (message: string): string => (message.split('\n', 1)[0] ?? '').replace(/:$/, '')

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

function unknownKeys(item: Readonly<Record<string, unknown>>, at: string): readonly FieldError[] {
  return Object.keys(item)
    .filter(key => key !== 'name' && key !== 'count' && key !== 'template')
    .map(key => forbidden(`${at}.${key}`, 'a podSet has the fields name, count and template'))
}

function nameErrors(name: unknown, at: string): readonly FieldError[] {
  if (name === undefined || name === null) return [required(at, 'the role, as in the label pod-group-role of its pods')]
  if (typeof name !== 'string') return [invalid(at, name, 'must be a string')]
  return dnsLabelProblems(name).map(problem => invalid(at, name, problem))
}

function countErrors(count: unknown, at: string): readonly FieldError[] {
  if (count === undefined || count === null) return [required(at, 'the number of pods with this role')]
  if (typeof count === 'number' && Number.isInteger(count) && count >= 1 && count <= MAX_INT32) return []
  return [invalid(at, count, `must be a whole number from 1 to ${MAX_INT32}`)]
}

function templateErrors(template: unknown, at: string, warnings: string[]): readonly FieldError[] {
  if (!isObject(template)) return [invalid(at, template, 'must be an object: the metadata and spec of a pod')]
  const { spec } = template
  if (!isObject(spec)) return [required(`${at}.spec`, 'the pod spec of this role')]
  const path = `${at}.spec.containers`
  const { containers } = spec
  if (!Array.isArray(containers) || containers.length === 0) {
    return [required(path, 'a pod has at least one container; admission counts what they request')]
  }
  return containers.flatMap((container, index) => containerErrors(container, `${path}[${index}]`, warnings))
}

function containerErrors(container: unknown, at: string, warnings: string[]): readonly FieldError[] {
  if (!isObject(container)) return [invalid(at, container, 'must be an object')]
  const { name, requests, resources } = container
  // The example of KEP-976 itself has its requests one level too high, where they count for nothing.
  if (requests !== undefined && warnings.length === 0) {
    warnings.push(`${GROUP_SETS}: requests of a container belong under "resources"; outside of it they are not counted`)
  }
  const errors: FieldError[] = []
  if (typeof name !== 'string' || name === '') errors.push(required(`${at}.name`, 'every container has a name'))
  if (!isObject(resources ?? {})) errors.push(invalid(`${at}.resources`, resources, 'must be an object'))
  return errors
}

function isEmpty(template: unknown): boolean {
  return template === undefined || template === null || (isObject(template) && Object.keys(template).length === 0)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
