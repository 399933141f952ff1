import { hash } from 'node:crypto'

/**
 * Who created a pod, for the annotation `muster.dev/creator`: pods of one author can be told from those of others, and
 * nobody reads the names of users from pods. The salt makes one user another in every namespace, and in a namespace that
 * is made anew.
 */
export const creatorStamp: Stamp = (username, namespaceUid) =>
  hash('sha256', `${namespaceUid}/${username}`, 'hex').slice(0, 32)

export type Stamp = (username: string, namespaceUid: string) => string

const BY_CONTROLLER = 'c-'

/** A controller makes pods for many: its author is the object that it makes them for. */
export function controllerStamp(
  username: string,
  namespaceUid: string,
  ownerUid: string,
  stamp: Stamp = creatorStamp,
): string {
  return BY_CONTROLLER + stamp(`${username}/${ownerUid}`, namespaceUid)
}

/** Whoever deletes such a pod gets another, again and again. */
export const isByController = (stamp: string | undefined): boolean => stamp?.startsWith(BY_CONTROLLER) ?? false
