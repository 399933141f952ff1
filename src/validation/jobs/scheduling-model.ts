/**
 * The scheduling block of a Job, in the names that Kubernetes 1.37 ships. However a person wrote it (KEP-6089 spells
 * some fields otherwise, and an annotation stands in where the API server does not know the field), the rules and the
 * workload builder see this one model.
 */
export interface SchedulingBlock {
  readonly schedulingPolicy?: PodGroupPolicy
  readonly schedulingConstraints?: SchedulingConstraints
  readonly disruptionMode?: DisruptionMode
  readonly resourceClaims?: readonly GroupResourceClaim[]
}

/** Exactly one member. */
export interface PodGroupPolicy {
  readonly basic?: object
  readonly gang?: GangPolicy
}

export interface GangPolicy {
  /** Absent: as many as run in parallel. */
  readonly minCount?: number
}

export interface SchedulingConstraints {
  readonly topology?: readonly TopologyConstraint[]
}

interface TopologyConstraint {
  readonly key: string
}

/** Exactly one member. */
export interface DisruptionMode {
  readonly single?: object
  readonly all?: object
}

/** Exactly one of the two sources. */
export interface GroupResourceClaim {
  readonly name: string
  readonly resourceClaimName?: string
  readonly resourceClaimTemplateName?: string
}
