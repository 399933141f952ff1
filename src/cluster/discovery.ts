import { ApiError } from '../kube/vocabulary/api.ts'
import { type Fields, isObject } from '../kube/vocabulary/fields.ts'

/** What went away between two questions, or is kept from us, is not there. */
export async function orAbsent(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return undefined
    throw error
  }
}

/** The versions of each API group, from the list of all groups. */
export function versionsIn(list: unknown): ReadonlyMap<string, readonly string[]> {
  return new Map(
    objectsIn(list, 'groups').map(group => [
      String(group.name),
      objectsIn(group, 'versions').map(({ version }) => String(version)),
    ]),
  )
}

/** The resources of one version of a group. */
export const resourcesIn = (list: unknown): readonly string[] =>
  objectsIn(list, 'resources').map(({ name }) => String(name))

function objectsIn(holder: unknown, field: string): readonly Fields[] {
  const list = isObject(holder) ? holder[field] : undefined
  return Array.isArray(list) ? list.filter(isObject) : []
}
