import { NAMESPACE_NAME_LABEL, SYSTEM_NAMESPACE } from '../kube/vocabulary/names.ts'
import type { LabelSelector, StringMap, Toleration } from '../kube/vocabulary/objects.ts'
import { DEFAULT_SCHEDULER } from '../kube/vocabulary/served-scheduling.ts'

/** The configuration file after defaults: every key is there. `schema.ts` checks what people write. */
export interface Configuration {
  readonly engine: 'builtin' | 'kueue'
  readonly manageJobsWithoutQueueName: boolean
  readonly integrations: {
    readonly frameworks: readonly string[]
    readonly podOptions: {
      readonly namespaceSelector: LabelSelector
      readonly podSelector: LabelSelector
    }
  }
  readonly guard: {
    readonly exemptUsers: readonly string[]
    readonly exemptGroups: readonly string[]
    /** Who writes the status of queued pods besides nodes: KWOK, virtual kubelets. */
    readonly statusWriters: readonly string[]
    /** When a pod of a queued Job is replaced: when it is gone, or as the Job says. */
    readonly podReplacement: 'Failed' | 'AsWritten'
    /** By kind of owner, in the names of frameworks: the users who create what such an owner owns. */
    readonly controllers: Readonly<Record<string, readonly string[]>>
  }
  readonly queues: readonly QueueConfiguration[]
  readonly review: { readonly templates: readonly TemplateConfiguration[] }
  /** What becomes of a pod whose queue is not in the list. */
  readonly unlistedQueues: 'admit' | 'refuse'
  /** Who places admitted groups and Jobs as a whole. */
  readonly coScheduling: {
    readonly backend: 'auto' | 'none' | 'kubernetes' | 'kai'
    /** Whether Muster makes the scheduling objects of Jobs: where the Job controller does not, always, never. */
    readonly jobs: 'auto' | 'always' | 'never'
    readonly kubernetes: { readonly schedulerNames: readonly string[] }
    readonly kai: { readonly schedulerName: string; readonly naming: 'plain' | 'hashed' }
  }
  readonly jobs: {
    readonly scheduling: {
      readonly allow: SchedulingAllowList
      readonly namespaces: readonly { readonly selector: LabelSelector; readonly allow: SchedulingAllowList }[]
    }
    readonly parallelism: {
      readonly gangChanges: 'deny' | 'allow'
      readonly implicitGang: 'auto' | 'none' | 'indexed'
    }
  }
}

/** Where a kind keeps the templates of its pods, for `muster review`. */
export interface TemplateConfiguration {
  /** `group/Kind`; of the core group, the kind alone. */
  readonly kind: string
  /** As `spec.workers[].template`; `*` stands for every value of a map. */
  readonly paths: readonly string[]
}

export interface QueueConfiguration {
  readonly name: string
  /** Resource name to Kubernetes quantity; `pods` counts pods. */
  readonly limits: Readonly<Record<string, string | number>>
  /** Pods of the queue run only on nodes with these labels. */
  readonly nodeLabels?: StringMap
  readonly tolerations?: readonly Toleration[]
  /** Whose queue it is: pods of other namespaces are refused. Without it, everybody's. */
  readonly namespaces?: LabelSelector
}

export interface SchedulingAllowList {
  readonly policies: readonly string[]
  readonly disruptionModes: readonly string[]
  readonly topologyKeys: readonly string[]
  readonly resourceClaims: boolean
}

/** Stands for every user in `guard.controllers`. */
export const ANY_USER = '*'

/** Its controllers have a ServiceAccount each, unless the controller manager runs without such accounts. */
const kubernetesController = (name: string): readonly string[] => [
  `system:serviceaccount:kube-system:${name}`,
  'system:kube-controller-manager',
]

const USUAL_CONTROLLERS: Configuration['guard']['controllers'] = {
  'batch/job': kubernetesController('job-controller'),
  'batch/cronjob': kubernetesController('cronjob-controller'),
  deployment: kubernetesController('replicaset-controller'),
  statefulset: kubernetesController('statefulset-controller'),
  // As its own manifests install it.
  'jobset.x-k8s.io/jobset': ['system:serviceaccount:jobset-system:jobset-controller-manager'],
}

export const DEFAULT_CONFIGURATION: Configuration = {
  engine: 'builtin',
  manageJobsWithoutQueueName: false,
  integrations: {
    frameworks: ['pod', 'batch/job', 'jobset.x-k8s.io/jobset'],
    podOptions: {
      namespaceSelector: {
        matchExpressions: [{ key: NAMESPACE_NAME_LABEL, operator: 'NotIn', values: ['kube-system', SYSTEM_NAMESPACE] }],
      },
      podSelector: {},
    },
  },
  guard: {
    ...{ exemptUsers: [], exemptGroups: [], statusWriters: [] },
    ...{ podReplacement: 'Failed', controllers: USUAL_CONTROLLERS },
  },
  queues: [],
  unlistedQueues: 'admit',
  review: { templates: [] },
  coScheduling: {
    backend: 'auto',
    jobs: 'auto',
    kubernetes: { schedulerNames: [DEFAULT_SCHEDULER] },
    kai: { schedulerName: 'kai-scheduler', naming: 'plain' },
  },
  jobs: {
    scheduling: {
      allow: {
        policies: ['basic', 'gang'],
        disruptionModes: ['single', 'all'],
        topologyKeys: ['*'],
        resourceClaims: true,
      },
      namespaces: [],
    },
    parallelism: { gangChanges: 'deny', implicitGang: 'auto' },
  },
}
