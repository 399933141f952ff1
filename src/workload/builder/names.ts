import { MAX_NAME_LENGTH } from '../../kube/vocabulary/formats.ts'

/** No vowels and no digits that look like them, so that no hash spells a word. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'

/** FNV-1a with 32 bits, over the bytes of the text. */
function fnv1a32(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

/** A hash as Kubernetes writes it into names: in decimal, each digit replaced by a letter of the alphabet above. */
function encodedHash(text: string): string {
  return [...String(fnv1a32(text))].map(char => ALPHABET[char.charCodeAt(0) % ALPHABET.length]).join('')
}

/**
 * The Workload of a Job, named as the Job controller of 1.37 names it. The uid is hashed in the form in which Go prints
 * a value together with its type.
 */
export function workloadName(ownerName: string, ownerUid: string): string {
  const hash = encodedHash(`(types.UID)${ownerUid}`)
  return `${ownerName.slice(0, MAX_NAME_LENGTH - hash.length - 1)}-${hash}`
}

/**
 * The group made from a template of a Workload. The hash is over the whole names; what is shown of them is cut where
 * they are too long, and a short one leaves its room to the other.
 */
export function podGroupName(workload: string, template: string): string {
  const hash = encodedHash(workload + template)
  const room = MAX_NAME_LENGTH - hash.length - 2
  const half = Math.floor(room / 2)
  const forWorkload = Math.max(room - template.length, room - half)
  const shownWorkload = workload.slice(0, forWorkload)
  return `${shownWorkload}-${template.slice(0, room - shownWorkload.length)}-${hash}`
}

/** For names of ours that have to be cut. */
export const shortHash = encodedHash

/** The one template of a Job. It is not cut: a Job whose name makes it no DNS label never gets its PodGroup. */
export function jobTemplateName(jobName: string): string {
  return `${jobName}-pgt-0`
}
