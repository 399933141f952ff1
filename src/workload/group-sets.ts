import { readYamlOrJson } from '../documents/yaml-or-json.ts'
import { type Fields, isObject } from '../kube/vocabulary/fields.ts'
import { dnsLabelProblems } from '../kube/vocabulary/formats.ts'
import { GROUP_SETS } from '../kube/vocabulary/names.ts'
import { annotationPath, type FieldError, forbidden, invalid, MAX_ERRORS, required } from '../validation/field-error.ts'
import { MAX_INT32 } from '../validation/numbers.ts'
import { templateErrors } from './announced-template.ts'

/** One role that a driver announces: `podSets[]` of the Workload to be. No template: it is the driver's own pod. */
export interface GroupSet {
  readonly name: string
  readonly count: number
  readonly template?: Fields
}

export interface ParsedSets {
  readonly sets: readonly GroupSet[]
  readonly errors: readonly FieldError[]
  readonly warnings: readonly string[]
}

/** KEP-976: "This value can be up to 8." */
export const MAX_ROLES = 8

/** Parsing more would keep reviews waiting; and admission reads nothing of a template but what it requests. */
export const MAX_SETS_LENGTH = 32 * 1024

export type ReadSets = (text: string, ownRole: string | undefined) => ParsedSets

const PATH = annotationPath(GROUP_SETS)
const EXAMPLE =
  'for example [{"name": "driver", "count": 1}, {"name": "worker", "count": 10, "template": {"spec": ...}}]'

/**
 * The annotation `pod-group-sets`, YAML or JSON with the structure of a Workload's podSets. `ownRole` is the role of
 * the pod that carries it: only its template may be missing, because Muster takes it from the pod.
 */
export function parseGroupSets(text: string, ownRole: string | undefined): ParsedSets {
  if (text.length > MAX_SETS_LENGTH) {
    const detail =
      `may have at most ${MAX_SETS_LENGTH} characters, this has ${text.length}: ` +
      'leave out of the templates what is not about resources, since admission reads nothing else of them'
    return failed({ field: PATH, type: 'TooLong', detail })
  }
  const parsed = readYamlOrJson(text)
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
  const total = sets.reduce((sum, { count }) => sum + count, 0)
  if (errors.length === 0 && total > MAX_INT32) {
    errors.push(invalid(PATH, total, `the counts add up to more than ${MAX_INT32}: no cluster has so many pods`))
  }
  return { sets: errors.length === 0 ? sets : [], errors, warnings }
}

const failed = (error: FieldError): ParsedSets => ({ sets: [], errors: [error], warnings: [] })

function unknownKeys(item: Fields, at: string): readonly FieldError[] {
  return Object.keys(item)
    .filter(key => key !== 'name' && key !== 'count' && key !== 'template')
    .slice(0, MAX_ERRORS)
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

function isEmpty(template: unknown): boolean {
  return template === undefined || template === null || (isObject(template) && Object.keys(template).length === 0)
}
