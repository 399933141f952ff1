import type { AdmissionRequest, UserInfo } from '../admission/review.ts'
import { allowed, forbiddenRequest, type Verdict } from '../admission/verdict.ts'
import { BREAK_GLASS } from '../kube/vocabulary/names.ts'
import { type FieldError, fieldOf } from '../validation/field-error.ts'
import type { Webhook } from './webhook.ts'
import type { World } from './world.ts'

/** By what a user may change what is guarded. */
interface Exemption {
  readonly by: 'self' | 'user' | 'group'
  readonly name: string
}

/** The API server always says who asks. Where nobody is named, nobody is exempt. */
function exemptionOf(user: UserInfo | undefined, { self, config }: World): Exemption | undefined {
  const { exemptUsers, exemptGroups } = config.guard
  const name = user?.username
  if (name === undefined || name === '') return undefined
  if (name === self) return { by: 'self', name }
  if (exemptUsers.includes(name)) return { by: 'user', name }
  const group = exemptGroups.length === 0 ? undefined : user?.groups?.find(each => exemptGroups.includes(each))
  return group === undefined ? undefined : { by: 'group', name: group }
}

/** Whether somebody may do what others may not, Muster itself included. */
export const isExempt = (user: UserInfo | undefined, world: World): boolean => exemptionOf(user, world) !== undefined

/**
 * The verdict on a change of what is guarded: refused, unless somebody exempt asks. Muster's own writes are its daily
 * work; what any other exemption was used for stands in the audit log of the API server.
 */
export function guardVerdict(
  errors: readonly FieldError[],
  warnings: readonly string[],
  { userInfo }: AdmissionRequest,
  world: World,
): Verdict {
  if (errors.length === 0) return allowed('Valid', warnings)
  const exemption = exemptionOf(userInfo, world)
  if (exemption === undefined) return forbiddenRequest(errors, warnings)
  if (exemption.by === 'self') return allowed('Valid', warnings)
  const fields = errors.slice(0, MOST_FIELDS).map(fieldOf)
  return allowed('Exempt', warnings, { exemption: `${exemption.by} ${exemption.name}: ${fields.join(', ')}` })
}

/** As many as a line of a log can hold. */
const MOST_FIELDS = 10

/** Half a sentence for who is refused. */
export function whoMay({ self, config }: World): string {
  const { exemptUsers, exemptGroups } = config.guard
  const names = [`Muster itself (${self})`]
  if (exemptUsers.length > 0) names.push(`the users ${exemptUsers.join(', ')}`)
  if (exemptGroups.length > 0) names.push(`members of ${exemptGroups.join(', ')}`)
  return `only ${names.join(' and ')} may change this`
}

export const breaksGlass = (user: UserInfo | undefined): boolean => user?.groups?.includes(BREAK_GLASS) ?? false

/**
 * In a cluster a match condition keeps the group away from whatever validates, so that it is heard when Muster is not
 * there. Here it is the same for reviews offline, and where the installed configuration has no such condition.
 */
export function unlessBreakGlass(review: Webhook['review']): Webhook['review'] {
  return (request, world) => {
    if (!breaksGlass(request.userInfo)) return review(request, world)
    return allowed('BreakGlass', [], { exemption: `group ${BREAK_GLASS}` })
  }
}
