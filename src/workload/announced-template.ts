import { type Fields, isObject } from '../kube/vocabulary/fields.ts'
import { GROUP_SETS } from '../kube/vocabulary/names.ts'
import { parseQuantity } from '../kube/vocabulary/quantities.ts'
import { type FieldError, invalid, MAX_ERRORS, required } from '../validation/field-error.ts'

/**
 * What is wrong with the template of an announced podSet. The API server never looks at it, and the queue is charged by
 * it: an amount below nothing would give quota instead of taking it.
 */
export function templateErrors(template: unknown, at: string, warnings: string[]): readonly FieldError[] {
  if (!isObject(template)) return [invalid(at, template, 'must be an object: the metadata and spec of a pod')]
  const { spec } = template
  if (!isObject(spec)) return [required(`${at}.spec`, 'the pod spec of this role')]
  const { containers, initContainers, overhead, resources } = spec
  if (!Array.isArray(containers) || containers.length === 0) {
    const detail = 'a pod has at least one container; admission counts what they request'
    return [required(`${at}.spec.containers`, detail)]
  }
  return [
    ...listErrors(containers, `${at}.spec.containers`, warnings),
    ...listErrors(initContainers ?? [], `${at}.spec.initContainers`, warnings),
    ...quantityErrors(overhead, `${at}.spec.overhead`),
    ...resourcesErrors(resources, `${at}.spec.resources`),
  ].slice(0, MAX_ERRORS)
}

function listErrors(containers: unknown, path: string, warnings: string[]): readonly FieldError[] {
  if (!Array.isArray(containers)) return [invalid(path, containers, 'must be a list of containers')]
  const errors: FieldError[] = []
  for (const [index, container] of containers.entries()) {
    if (errors.length >= MAX_ERRORS) break
    errors.push(...containerErrors(container, `${path}[${index}]`, warnings))
  }
  return errors
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
  return [...errors, ...resourcesErrors(resources, `${at}.resources`)]
}

function resourcesErrors(resources: unknown, at: string): readonly FieldError[] {
  if (resources === undefined || resources === null) return []
  if (!isObject(resources)) return [invalid(at, resources, 'must be an object')]
  const { requests, limits } = resources
  return [...quantityErrors(requests, `${at}.requests`), ...quantityErrors(limits, `${at}.limits`)]
}

function quantityErrors(quantities: unknown, at: string): readonly FieldError[] {
  if (quantities === undefined || quantities === null) return []
  if (!isObject(quantities)) return [invalid(at, quantities, 'must be an object: names of resources and quantities')]
  return Object.entries<unknown>(quantities satisfies Fields)
    .flatMap(([name, quantity]) => {
      const problem = quantityProblem(quantity)
      return problem === undefined ? [] : [invalid(`${at}[${name}]`, quantity, problem)]
    })
    .slice(0, MAX_ERRORS)
}

function quantityProblem(quantity: unknown): string | undefined {
  if (typeof quantity !== 'string' && typeof quantity !== 'number') return 'must be a quantity, such as 500m, 2 or 1Gi'
  try {
    return parseQuantity(quantity).nano < 0n ? 'must be greater than or equal to 0' : undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
