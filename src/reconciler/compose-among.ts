import type { Pod } from '../kube/vocabulary/objects.ts'
import { type Composition, composeGroup } from '../workload/compose.ts'
import { creatorOf, isGated } from '../workload/pod-facts.ts'
import { type Standing, tell } from './decision.ts'

interface Among {
  readonly composition: Composition
  readonly members: readonly Pod[]
  /** What those are told who are left out. */
  readonly strangers: readonly Standing[]
}

/** A group that more than this many people make is taken as it is. */
const MOST_CREATORS = 8

/**
 * The Workload of a group, from the pods that have its name. Anybody in the namespace can give a pod that name, and one
 * pod that contradicts the others would hold them all up: so whoever came later than the first and contradicts what is
 * there is left out, with all his pods, and told. What contradicts itself by one hand is wrong as a whole.
 */
export function composeAmong(name: string, pods: readonly Pod[]): Among {
  const all = composeGroup(name, pods)
  const whole: Among = { composition: all, members: pods, strangers: [] }
  if (!isInvalid(all)) return whole
  const byCreator = Map.groupBy(pods, creatorOf)
  if (byCreator.size === 1 || byCreator.size > MOST_CREATORS) return whole
  let members: readonly Pod[] = []
  const accepted = new Set<string | undefined>()
  const strangers: Standing[] = []
  for (const [creator, own] of byCreator) {
    const together = pods.filter(pod => accepted.has(creatorOf(pod)) || creatorOf(pod) === creator)
    const composition = composeGroup(name, together)
    if (members.length === 0 || !isInvalid(composition)) {
      members = together
      accepted.add(creator)
    } else if ('note' in composition) {
      const note = `${composition.note}; the others came first, and go on without this one`
      strangers.push(...tell(own.filter(isGated), 'InvalidGroup', note))
    }
  }
  return { composition: composeGroup(name, members), members, strangers }
}

const isInvalid = (composition: Composition): boolean =>
  'reason' in composition && composition.reason === 'InvalidGroup'
