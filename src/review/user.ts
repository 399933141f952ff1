import type { UserInfo } from '../admission/review.ts'

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):[^:]+$/
const ANONYMOUS = 'system:anonymous'
const AUTHENTICATED = 'system:authenticated'

/**
 * Who `--as` and `--as-group` stand for. The API server adds the groups that every such user has when kubectl
 * impersonates somebody, and so does this: a rule about a group of service accounts would not hold otherwise.
 */
export function impersonated(username: string, groups: readonly string[]): UserInfo {
  const namespace = SERVICE_ACCOUNT.exec(username)?.[1]
  const own =
    groups.length === 0 && namespace !== undefined
      ? ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
      : groups
  if (username === ANONYMOUS || own.includes(AUTHENTICATED)) return { username, groups: own }
  return { username, groups: [...own, AUTHENTICATED] }
}
