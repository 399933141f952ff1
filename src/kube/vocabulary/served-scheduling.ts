import { type Fields, isObject } from './fields.ts'

/** What the API server offers for placing pods together, as far as anybody here asks. */
export interface ServedScheduling {
  /** The group `scheduling.k8s.io` beyond its PriorityClasses, in the newest version that is spoken here. */
  readonly kubernetes?: {
    readonly version: SchedulingVersion
    readonly podGroups: boolean
    /** CompositePodGroups, which have a version of their own. */
    readonly composites: boolean
  }
  /** The PodGroups of the KAI scheduler. */
  readonly kai: boolean
  /** The Job controller makes Workloads and PodGroups itself (feature gate WorkloadWithJob). */
  readonly jobController: boolean
  /** A Job's `spec.scheduling` is kept and not dropped. */
  readonly jobSchedulingField: boolean
}

/** Kubernetes 1.37, 1.36 and 1.35, which has Workloads only. Newest first. */
export const SCHEDULING_VERSIONS = ['v1beta1', 'v1alpha2', 'v1alpha1'] as const
export type SchedulingVersion = (typeof SCHEDULING_VERSIONS)[number]

/** What the API server means by a pod that names no scheduler. */
export const DEFAULT_SCHEDULER = 'default-scheduler'

export const SCHEDULING_GROUP = 'scheduling.k8s.io'
/** Where 1.37 serves CompositePodGroups. */
export const COMPOSITES_VERSION = 'v1alpha3'
export const KAI_GROUP = 'scheduling.run.ai'
export const KAI_VERSION = 'v2alpha2'

export const NOTHING_SERVED: ServedScheduling = { kai: false, jobController: false, jobSchedulingField: false }

/** Discovery, reduced to names: groups to their versions, and `group/version` to its resources. */
export interface DiscoveredApis {
  readonly versions: ReadonlyMap<string, readonly string[]>
  readonly resources: ReadonlyMap<string, readonly string[]>
  /** The ClusterRole of the Job controller, where it may be read. */
  readonly jobControllerRole?: unknown
}

/** The Job controller's ClusterRole: the API server adds the rule for PodGroups with the feature gate, and only then. */
export const JOB_CONTROLLER_ROLE = 'system:controller:job-controller'

export function schedulingVersionIn(versions: readonly string[]): SchedulingVersion | undefined {
  return SCHEDULING_VERSIONS.find(version => versions.includes(version))
}

export function servedSchedulingOf({ versions, resources, jobControllerRole }: DiscoveredApis): ServedScheduling {
  const version = schedulingVersionIn(versions.get(SCHEDULING_GROUP) ?? [])
  const serves = (group: string, at: string, plural: string): boolean =>
    resources.get(`${group}/${at}`)?.includes(plural) ?? false
  const kai = serves(KAI_GROUP, KAI_VERSION, 'podgroups')
  if (version === undefined || !serves(SCHEDULING_GROUP, version, 'workloads')) return { ...NOTHING_SERVED, kai }
  const podGroups = serves(SCHEDULING_GROUP, version, 'podgroups')
  const jobController = podGroups && writesPodGroups(jobControllerRole)
  return {
    kubernetes: {
      version,
      podGroups,
      composites: podGroups && serves(SCHEDULING_GROUP, COMPOSITES_VERSION, 'compositepodgroups'),
    },
    kai,
    jobController,
    jobSchedulingField: jobController && version === 'v1beta1',
  }
}

export function writesPodGroups(role: unknown): boolean {
  const rules = isObject(role) && Array.isArray(role.rules) ? role.rules.filter(isObject) : []
  return rules.some(rule => lists(rule, 'apiGroups', SCHEDULING_GROUP) && lists(rule, 'resources', 'podgroups'))
}

const lists = (rule: Fields, field: string, value: string): boolean => {
  const values = rule[field]
  return Array.isArray(values) && values.includes(value)
}
