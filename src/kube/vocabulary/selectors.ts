import type { LabelSelector, StringMap } from './objects.ts'

type Expression = NonNullable<LabelSelector['matchExpressions']>[number]

/**
 * A Kubernetes label selector: the empty selector matches everything, no selector matches nothing.
 * Every part is checked even after one has failed, so that a broken selector is reported for the first object
 * it meets and not only for the object that happens to reach the broken part.
 */
export function matchesSelector(
  selector: LabelSelector | null | undefined,
  labels: StringMap | null | undefined,
): boolean {
  if (!selector) return false
  let matches = true
  const { matchLabels } = selector
  for (const key in matchLabels) {
    if (labelOf(labels, key) !== matchLabels[key]) matches = false
  }
  for (const expression of selector.matchExpressions ?? []) {
    if (!matchesExpression(expression, labels)) matches = false
  }
  return matches
}

function matchesExpression(expression: Expression, labels: StringMap | null | undefined): boolean {
  const value = labelOf(labels, expression.key)
  const values = expression.values ?? []
  switch (expression.operator) {
    case 'In':
      requireValues(expression, values)
      return value !== undefined && values.includes(value)
    case 'NotIn':
      requireValues(expression, values)
      return value === undefined || !values.includes(value)
    case 'Exists':
      requireNoValues(expression, values)
      return value !== undefined
    case 'DoesNotExist':
      requireNoValues(expression, values)
      return value === undefined
    default:
      throw new TypeError(
        `label selector: operator ${JSON.stringify(expression.operator)} on key ${JSON.stringify(expression.key)} ` +
          'is unknown; use In, NotIn, Exists or DoesNotExist',
      )
  }
}

/** Label keys are user input: `constructor` and `__proto__` must not be found on the prototype. */
function labelOf(labels: StringMap | null | undefined, key: string): string | undefined {
  return labels && Object.hasOwn(labels, key) ? labels[key] : undefined
}

function requireValues(expression: Expression, values: readonly string[]): void {
  if (values.length > 0) return
  throw new TypeError(
    `label selector: ${expression.operator} on key ${JSON.stringify(expression.key)} needs at least one value`,
  )
}

function requireNoValues(expression: Expression, values: readonly string[]): void {
  if (values.length === 0) return
  throw new TypeError(
    `label selector: ${expression.operator} on key ${JSON.stringify(expression.key)} takes no values; remove them`,
  )
}
