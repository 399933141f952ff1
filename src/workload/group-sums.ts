import { GROUP_COUNT, GROUP_ROLE, GROUP_ROLE_COUNT, GROUP_ROLES, GROUP_SETS } from '../kube/vocabulary/names.ts'
import { annotationPath, type FieldError, invalid, labelPath } from '../validation/field-error.ts'
import type { GroupSet } from './group-sets.ts'

interface Sums {
  readonly count: number | undefined
  readonly roles: number | undefined
  readonly role: string | undefined
  readonly roleCount: number | undefined
  readonly sets: readonly GroupSet[] | undefined
}

/** What one pod says must add up within itself; whether its siblings agree is seen when they are there. */
export function sumErrors({ count, roles, role, roleCount, sets }: Sums): readonly FieldError[] {
  const errors: FieldError[] = []
  const own = roleCount ?? (roles === undefined ? undefined : 1)
  if (sets !== undefined) {
    const names = sets.map(set => set.name).join(', ')
    const set = setOf(sets, role)
    const sum = sumOf(sets)
    if (set === undefined) {
      errors.push(invalid(labelPath(GROUP_ROLE), role, `is not one of the roles in '${GROUP_SETS}': ${names}`))
    } else if (roleCount !== undefined && roleCount !== set.count) {
      const detail = `'${GROUP_SETS}' has ${set.count} pods of role ${set.name}: the two must agree`
      errors.push(invalid(annotationPath(GROUP_ROLE_COUNT), String(roleCount), detail))
    }
    if (roles !== undefined && roles !== sets.length) {
      const detail = `'${GROUP_SETS}' has ${sets.length} roles (${names}): the two must agree`
      errors.push(invalid(annotationPath(GROUP_ROLES), String(roles), detail))
    }
    if (count !== undefined && count !== sum) {
      const detail = `the counts in '${GROUP_SETS}' add up to ${sum}: the two must agree`
      errors.push(invalid(annotationPath(GROUP_COUNT), String(count), detail))
    }
  } else if (count !== undefined && own !== undefined) {
    const others = roles === undefined ? 0 : roles - 1
    if (own + others > count || (others === 0 && roles === 1 && own !== count)) {
      const detail = `this role has ${own} of the pods and ${others} other roles have at least one each: that does not add up`
      errors.push(invalid(annotationPath(GROUP_COUNT), String(count), detail))
    }
  }
  return errors
}

export const sumOf = (sets: readonly GroupSet[] | undefined): number | undefined =>
  sets?.reduce((sum, set) => sum + set.count, 0)

export const setOf = (sets: readonly GroupSet[] | undefined, role: string | undefined): GroupSet | undefined =>
  sets?.find(set => set.name === role)
