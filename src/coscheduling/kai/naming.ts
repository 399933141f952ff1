import { hash } from 'node:crypto'
import { MAX_NAME_LENGTH } from '../../kube/vocabulary/formats.ts'
import { POD_GROUP_OF } from '../../kube/vocabulary/names.ts'
import type { KubeObject } from '../../kube/vocabulary/objects.ts'
import type { GroupReference } from '../../workload/group-reference.ts'
import { sayReference } from '../../workload/group-reference.ts'
import { isOurPodGroupName } from '../../workload/placement.ts'

export type Naming = 'plain' | 'hashed'

/**
 * Whose PodGroup of KAI it is, as text that no two groups share: the names that are made of the same words are not
 * enough, since `a` with `b-c` and `a-b` with `c` give the same one.
 */
export function identityOf(namespace: string, reference: GroupReference): string {
  const { podGroup } = reference
  if (reference.kind === 'podGroup') return JSON.stringify([namespace, podGroup])
  return JSON.stringify([namespace, reference.workload, podGroup, reference.replicaKey])
}

const DIGITS = 8

/**
 * KAI tells PodGroups apart by their names alone, across all namespaces. Plain names are those of KAI's own design and
 * can meet; hashed ones meet nobody's.
 */
export function podGroupName(namespace: string, reference: GroupReference, naming: Naming): string {
  const plain = plainName(reference)
  // The names of groups in queues are Muster's to give: whoever refers to one must not get theirs.
  const isTheirs = isOurPodGroupName(plain)
  if (naming === 'plain' && plain.length <= MAX_NAME_LENGTH && !isTheirs) return plain
  return hashedName(isTheirs ? `named-${plain}` : plain, identityOf(namespace, reference))
}

function plainName(reference: GroupReference): string {
  if (reference.kind === 'podGroup') return reference.podGroup
  const { workload, podGroup, replicaKey } = reference
  return [workload, podGroup, ...(replicaKey === '' ? [] : [replicaKey])].join('-')
}

export function hashedName(name: string, identity: string): string {
  const suffix = hash('sha256', identity, 'hex').slice(0, DIGITS)
  // A dot at the cut would have a dash behind it, which is no name.
  const cut = name.slice(0, MAX_NAME_LENGTH - DIGITS - 1).replace(/[.-]+$/, '')
  return `${cut}-${suffix}`
}

/** Why a PodGroup of this name cannot be made: somebody else's has it, be it in another namespace. */
export function nameConflict(
  namespace: string,
  reference: GroupReference,
  name: string,
  named: readonly KubeObject[],
): string | undefined {
  const identity = identityOf(namespace, reference)
  const taken = named.find(
    ({ metadata }) => metadata.namespace !== namespace || metadata.annotations?.[POD_GROUP_OF] !== identity,
  )
  if (taken === undefined) return undefined
  const where = taken.metadata.namespace === namespace ? '' : ` in namespace ${taken.metadata.namespace}`
  const whose =
    taken.metadata.annotations?.[POD_GROUP_OF] === undefined ? 'was not made by Muster' : 'stands for another group'
  return (
    `${sayReference(reference)} needs the KAI PodGroup "${name}", and the one of that name${where} ${whose}; ` +
    'rename one of them, or set coScheduling.kai.naming to hashed'
  )
}
