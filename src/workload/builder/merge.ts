import { modeThatCounts, policyThatCounts } from '../../validation/jobs/gang.ts'
import type {
  DisruptionMode,
  GroupResourceClaim,
  PodGroupPolicy,
  SchedulingConstraints,
} from '../../validation/jobs/scheduling-model.ts'
import { countingPods, isComposite, type SchedulingConfig, type WorkloadInput, type WorkloadItem } from './item.ts'

/**
 * The configuration that holds for a node: what the user wrote replaces the controller's default block by block, and
 * then the controller's callbacks have their say. Callbacks get copies, so none can reach back into what it was given.
 */
export function resolveConfig(item: WorkloadItem): SchedulingConfig {
  const input = item.input ?? {}
  const user = isComposite(item) ? compositeConfig(input) : groupConfig(input)
  const merged: SchedulingConfig = structuredClone({ ...item.defaults, ...user })
  return (item.callbacks ?? []).reduce<SchedulingConfig>(
    (config, callback) => (callback === undefined ? config : structuredClone(callback(structuredClone(config)))),
    merged,
  )
}

/** What a user asks of a group of pods. An empty block is absent here, so that it does not hide the default. */
export function groupConfig(input: WorkloadInput): SchedulingConfig {
  return config(
    policyThatCounts(input.policy?.group),
    constraintsOf(input.constraints?.group),
    modeThatCounts(input.disruptionMode?.group),
    claimsOf(input.resourceClaims?.group),
  )
}

/** What a user asks of a group of groups. */
export function compositeConfig(input: WorkloadInput): SchedulingConfig {
  const composite = input.policy?.composite
  return config(
    policyThatCounts(composite && countingPods(composite)),
    constraintsOf(input.constraints?.composite),
    modeThatCounts(input.disruptionMode?.composite),
    undefined,
  )
}

/** Only what is there becomes a key: an undefined one would replace the default in the merge. */
function config(
  policy: PodGroupPolicy | undefined,
  constraints: SchedulingConstraints | undefined,
  disruptionMode: DisruptionMode | undefined,
  resourceClaims: readonly GroupResourceClaim[] | undefined,
): SchedulingConfig {
  return {
    ...(policy === undefined ? {} : { policy }),
    ...(constraints === undefined ? {} : { constraints }),
    ...(disruptionMode === undefined ? {} : { disruptionMode }),
    ...(resourceClaims === undefined ? {} : { resourceClaims }),
  }
}

function constraintsOf(constraints: SchedulingConstraints | undefined): SchedulingConstraints | undefined {
  const topology = constraints?.topology ?? []
  return topology.length === 0 ? undefined : { topology: topology.map(({ key }) => ({ key })) }
}

function claimsOf(claims: readonly GroupResourceClaim[] | undefined): readonly GroupResourceClaim[] | undefined {
  return claims === undefined || claims.length === 0 ? undefined : claims.map(claimOf)
}

export function claimOf(claim: GroupResourceClaim): GroupResourceClaim {
  const { name, resourceClaimName, resourceClaimTemplateName } = claim
  return {
    name,
    ...(resourceClaimName === undefined ? {} : { resourceClaimName }),
    ...(resourceClaimTemplateName === undefined ? {} : { resourceClaimTemplateName }),
  }
}
