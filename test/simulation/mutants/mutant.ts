import type { PlantedBug } from '../../support/planting.ts'

export interface Mutant extends PlantedBug {
  /** A seed from which it is found soon. */
  readonly seed?: number
  /** It takes Jobs to find it, or JobSets. */
  readonly jobs?: boolean
  readonly sets?: boolean
  /** It takes PodGroups to find it. */
  readonly gangs?: boolean
  /** It takes KAI to find it. */
  readonly kai?: boolean
  /** It takes Kueue to find it. */
  readonly kueue?: boolean
  /** It takes limits that change. */
  readonly limits?: boolean
}
