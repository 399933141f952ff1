import { hash } from 'node:crypto'
import { MAX_NAME_LENGTH } from '../../kube/vocabulary/formats.ts'

/** Digits of the hash: a name is met twice once in a million million reviews. */
const HASH_LENGTH = 10
/** Stands before the hash: by it the policy `muster-job-group-members` knows whose pods may name the group. */
const MARK = '-muster-'
const MAX_BASE = MAX_NAME_LENGTH - HASH_LENGTH - MARK.length

/** How the PodGroups of plain pods begin. */
const PLAIN_GROUPS = 'muster-group-'

interface Named {
  readonly name: string
  readonly generateName: string
}

/**
 * The PodGroup that the pods of a Job will name. The template of a Job never changes, and when it is written nobody
 * knows the uid of the Job, nor its name where the API server chooses that. What is known is the review: no two have
 * the same uid.
 */
export function groupNameFor({ name, generateName }: Named, reviewUid: string): string {
  return `${baseOf(name || generateName)}${MARK}${hash('sha256', reviewUid).slice(0, HASH_LENGTH)}`
}

/**
 * Whether a group has a name that a review may have given it. That of a Job that was copied may look like it: before
 * anybody asks here, another has been written over it.
 */
export function isOwnGroupName(groupName: string, { name, generateName }: Named): boolean {
  const found = /^(.+)-muster-[0-9a-f]{10}$/.exec(groupName)?.[1]
  return found !== undefined && [name, generateName].some(text => text !== '' && baseOf(text) === found)
}

/**
 * Names end with a letter or a digit, also where they are cut. What begins like the groups of plain pods would be taken
 * for one of those.
 */
function baseOf(text: string): string {
  const base = text.slice(0, MAX_BASE - 4).replace(/[-.]+$/, '') || 'job'
  return base.startsWith(PLAIN_GROUPS) ? `job-${base}` : base
}
