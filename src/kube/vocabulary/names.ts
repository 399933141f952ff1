/** Names that people write in manifests. They are Kueue's, so that the same manifest works with either system. */
export const QUEUE_NAME = 'kueue.x-k8s.io/queue-name'
/** The LocalQueue that takes in whoever names none. */
export const DEFAULT_QUEUE = 'default'
/** Label and finalizer of every pod that waits, or has waited, behind our gate. */
export const MANAGED = 'kueue.x-k8s.io/managed'
export const ADMISSION_GATE = 'kueue.x-k8s.io/admission'
export const ROLE_HASH = 'kueue.x-k8s.io/role-hash'

/** Groups, the dialect that Kueue ships. */
export const GROUP_NAME = 'kueue.x-k8s.io/pod-group-name'
export const GROUP_TOTAL_COUNT = 'kueue.x-k8s.io/pod-group-total-count'
export const GROUP_FAST_ADMISSION = 'kueue.x-k8s.io/pod-group-fast-admission'
export const GROUP_SERVING = 'kueue.x-k8s.io/pod-group-serving'
export const RETRIABLE_IN_GROUP = 'kueue.x-k8s.io/retriable-in-group'

/** Groups, the dialect of KEP-976. */
export const GROUP_COUNT = 'kueue.x-k8s.io/pod-group-count'
export const GROUP_ROLES = 'kueue.x-k8s.io/pod-group-roles'
export const GROUP_ROLE = 'kueue.x-k8s.io/pod-group-role'
export const GROUP_ROLE_COUNT = 'kueue.x-k8s.io/pod-group-role-count'
export const GROUP_SETS = 'kueue.x-k8s.io/pod-group-sets'

/** Kueue's other marks on pods: Muster checks them, so that a manifest that is wrong for Kueue is wrong here too. */
export const PRIORITY_CLASS = 'kueue.x-k8s.io/priority-class'
export const MAX_EXEC_TIME = 'kueue.x-k8s.io/max-exec-time-seconds'
export const PREBUILT_WORKLOAD = 'kueue.x-k8s.io/prebuilt-workload-name'
export const ELASTIC_JOB = 'kueue.x-k8s.io/elastic-job'
export const ADMISSION_GATED_BY = 'kueue.x-k8s.io/admission-gated-by'
export const SUSPENDING_PARENT = 'kueue.x-k8s.io/pod-suspending-parent'

/** Kueue's words for where pods have to be near each other: within one domain, and several roles within the same one. */
export const REQUIRED_TOPOLOGY = 'kueue.x-k8s.io/podset-required-topology'
export const PODSET_GROUP = 'kueue.x-k8s.io/podset-group-name'
export const PREFERRED_TOPOLOGY = 'kueue.x-k8s.io/podset-preferred-topology'
export const UNCONSTRAINED_TOPOLOGY = 'kueue.x-k8s.io/podset-unconstrained-topology'
export const SLICE_TOPOLOGY = 'kueue.x-k8s.io/podset-slice-required-topology'
export const SLICE_SIZE = 'kueue.x-k8s.io/podset-slice-size'
export const SLICE_CONSTRAINTS = 'kueue.x-k8s.io/podset-slice-required-topology-constraints'

/** Written when the gate is lifted, by Muster alone. */
export const PODSET_LABEL = 'kueue.x-k8s.io/podset'
export const LOCAL_QUEUE_LABEL = 'kueue.x-k8s.io/local-queue-name'
export const CLUSTER_QUEUE_LABEL = 'kueue.x-k8s.io/cluster-queue-name'
export const WORKLOAD_ANNOTATION = 'kueue.x-k8s.io/workload'

/** A hash of who created the pod, written by Muster alone. */
export const CREATOR = 'muster.dev/creator'

/**
 * Jobs and JobSets wait suspended. This says that it is Muster who suspended one, or keeps it so: from then on Muster
 * alone starts it.
 */
export const QUEUED = 'muster.dev/queued'
/** Its user suspended it himself: it keeps no place, and is not started before he wants it back in the queue. */
export const HELD = 'muster.dev/held'
/** Written with `spec.suspend` when Muster stops one that ran, and gone when its template is what it was before. */
export const STOPPING = 'muster.dev/stopping'
/** `framework:name` of the queued object for which the Job was created: that one waits, the Job does not. */
export const CHILD_OF = 'muster.dev/child-of'

/** Gate on pods that KAI schedules and that name a group of Kubernetes, and the label by which Muster finds them. */
export const POD_GROUP = 'muster.dev/pod-group'
/** On KAI's PodGroups that Muster made: for what. */
export const POD_GROUP_OF = 'muster.dev/pod-group-of'

/** Kueue's words for Jobs: with how few pods one may start, and whether its completions follow its parallelism. */
export const MIN_PARALLELISM = 'kueue.x-k8s.io/job-min-parallelism'
export const COMPLETIONS_FOLLOW = 'kueue.x-k8s.io/job-completions-equal-parallelism'
/** Label of a Workload: the uid of the Job that it is for. */
export const JOB_UID = 'kueue.x-k8s.io/job-uid'

/** The kubelet's mark on the API copy of a static pod. */
export const MIRROR_POD = 'kubernetes.io/config.mirror'
export const NAMESPACE_NAME_LABEL = 'kubernetes.io/metadata.name'

/** Muster's own objects in a cluster. */
export const SYSTEM_NAMESPACE = 'muster-system'
export const SERVICE_NAME = 'muster'
export const WEBHOOK_CONFIGURATION = 'muster'
/** Of the ValidatingAdmissionPolicy and its binding that say who writes the status of queued pods. */
export const STATUS_POLICY = 'muster-pod-status'
export const OFFLINE_IDENTITY = 'system:serviceaccount:muster-system:muster'
/** Whom no validating webhook holds up. RBAC on impersonation decides who may act as a member of it. */
export const BREAK_GLASS = 'muster:break-glass'

/** Finalizer of a Workload of the built-in engine, as long as its pods may hold what it was admitted with. */
export const RESOURCE_IN_USE = 'muster.dev/resource-in-use'

/** The scheduling block of a Job, for API servers that do not know `spec.scheduling`. */
export const SCHEDULING = 'muster.dev/scheduling'
/** By which a parent leaves the PodGroup of a Job to the Job controller: the template in the parent's Workload. */
export const GROUP_TEMPLATE_NAME = 'scheduling.k8s.io/group-template-name'
/** The group of groups that the child's PodGroup hangs below: as Kubernetes 1.37 calls it, then as KEP-6089 does. */
export const PARENT_COMPOSITE = 'scheduling.k8s.io/parent-compositepodgroup'
export const PARENT_COMPOSITE_KEP = 'scheduling.k8s.io/parent-composite-podgroup'

/** Label of a Job or JobSet for which Muster makes the scheduler's objects. Muster alone writes it, at creation. */
export const GROUPED = 'muster.dev/grouped'
/** On the Jobs of such a JobSet: the template in the root's Workload that their pods belong to. */
export const ROOT_GROUP = 'muster.dev/root-group'
