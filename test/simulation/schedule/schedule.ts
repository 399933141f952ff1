import type { QueueConfiguration } from '../../../src/config/configuration.ts'
import type { Stored } from '../model/server.ts'

/** Names a unit as its author knows it: by its group, or by its pod. */
export interface UnitName {
  readonly namespace: string
  readonly group?: string
  readonly pod?: string
  readonly job?: string
}

/** What becomes of the pods and the Workload of a Job that is deleted, as `kubectl delete --cascade` says it. */
export type Cascade = 'background' | 'foreground' | 'orphan'

/** What its author changes of a Job: its size, whether it is to run, where it waits. */
export interface JobChange {
  readonly parallelism?: number
  readonly suspend?: boolean
  readonly queue?: string
}

/** What people do. */
export type Action =
  | { readonly kind: 'create-pod'; readonly pod: Stored; readonly by?: string }
  | {
      readonly kind: 'delete-pod'
      readonly namespace: string
      readonly name: string
      readonly graceSeconds?: number
      /** As with `--cascade=orphan`: what the pod owns stays behind. */
      readonly orphan?: boolean
      /** Created under the same name in the moment the old one is gone. */
      readonly again?: Stored
    }
  /** `unseen`: no webhook of Muster's looked at it, since Muster was away. */
  | { readonly kind: 'create-job'; readonly job: Stored; readonly unseen?: boolean }
  | {
      readonly kind: 'delete-job'
      readonly namespace: string
      readonly name: string
      readonly cascade: Cascade
      readonly again?: Stored
    }
  | { readonly kind: 'change-job'; readonly namespace: string; readonly name: string; readonly change: JobChange }
  | { readonly kind: 'create-set'; readonly set: Stored }
  | { readonly kind: 'suspend-set'; readonly namespace: string; readonly name: string; readonly suspend: boolean }
  | { readonly kind: 'delete-set'; readonly namespace: string; readonly name: string; readonly again?: Stored }
  /** Somebody deletes a pod of it, whichever comes first. */
  | { readonly kind: 'delete-job-pod'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'delete-workload'; readonly unit: UnitName }
  | { readonly kind: 'set-active'; readonly unit: UnitName; readonly active: boolean }
  | { readonly kind: 'set-queue'; readonly namespace: string; readonly name: string; readonly queue: string }
  | { readonly kind: 'not-retriable'; readonly namespace: string; readonly name: string }
  | {
      readonly kind: 'touch-pod'
      readonly namespace: string
      readonly name: string
      readonly what: 'label' | 'annotation' | 'add-finalizer' | 'drop-finalizer' | 'drop-gate' | 'steal-gate'
    }
  | { readonly kind: 'touch-workload'; readonly unit: UnitName; readonly what: 'label' | 'condition' }
  | { readonly kind: 'delete-namespace'; readonly namespace: string }
  /** The configuration gets other limits for a queue; each replica reads it in its own time. */
  | { readonly kind: 'set-limits'; readonly queue: string; readonly limits: QueueConfiguration['limits'] }
  /** `force`: past the controller that keeps it while pods name it. */
  | { readonly kind: 'delete-pod-group'; readonly namespace: string; readonly group: string; readonly force: boolean }
  /** Somebody who may writes how many a PodGroup wants. */
  | { readonly kind: 'shrink-pod-group'; readonly namespace: string; readonly group: string }
  /** Somebody takes the name first, and gives it back after a while. */
  | { readonly kind: 'take-pod-group'; readonly namespace: string; readonly group: string; readonly backMs: number }
  /** Who runs the cluster makes a PodGroup of Kubernetes that pods name, or writes how many it wants. */
  | {
      readonly kind: 'write-native-group'
      readonly namespace: string
      readonly name: string
      readonly minCount: number
    }
  /** And takes it away, past the controller that keeps it while pods name it. */
  | { readonly kind: 'delete-native-group'; readonly namespace: string; readonly name: string }
  /** Somebody deletes a PodGroup of KAI. */
  | { readonly kind: 'delete-kai-group'; readonly namespace: string; readonly name: string }
  /** Somebody takes its name first, there or in another namespace, and gives it back after a while. */
  | {
      readonly kind: 'take-kai-group'
      readonly namespace: string
      readonly name: string
      readonly minMember: number
      readonly backMs: number
    }
  /** The author of a pod changes his mind: KAI's own pod-grouper shall have it. */
  | { readonly kind: 'opt-out'; readonly namespace: string; readonly name: string }
  /** A phase that is not true. Where no kubelet corrects it, it is taken back after a while. */
  | {
      readonly kind: 'forge-phase'
      readonly namespace: string
      readonly name: string
      readonly phase: string
      readonly backMs: number
    }
  /** Other marks on a pod that was lifted, past every webhook. */
  | {
      readonly kind: 'remark'
      readonly namespace: string
      readonly name: string
      readonly labels: Readonly<Record<string, string | null>>
      readonly annotations: Readonly<Record<string, string>>
    }

/** In place of the number of a replica: the one that leads when the fault strikes, or all the others. */
export const LEADER = -1
export const FOLLOWERS = -2

/** What a replica watches. */
export type Watched = 'pods' | 'workloads' | 'jobs'

/** What goes wrong. The numbers are those of the fault list in docs/simulation.md. */
export type Fault =
  | { readonly kind: 'crash'; readonly replica: number; readonly downMs: number }
  | {
      readonly kind: 'crash-on-write'
      readonly replica: number
      readonly nth: number
      readonly moment: 'before' | 'after'
      readonly downMs: number
    }
  | { readonly kind: 'restart'; readonly replica: number; readonly downMs: number }
  | { readonly kind: 'pause'; readonly replica: number; readonly ms: number }
  | { readonly kind: 'partition'; readonly replica: number; readonly ms: number }
  | { readonly kind: 'clock-jump'; readonly replica: number; readonly ms: number }
  | {
      readonly kind: 'errors'
      readonly replica: number
      readonly ms: number
      readonly status: 409 | 429 | 500 | 503
      readonly rate: number
    }
  | {
      readonly kind: 'loss'
      readonly replica: number
      readonly ms: number
      readonly before: number
      readonly after: number
    }
  | { readonly kind: 'resend'; readonly replica: number; readonly ms: number; readonly rate: number }
  | { readonly kind: 'slow'; readonly replica: number; readonly ms: number; readonly delayMs: number }
  | {
      readonly kind: 'lag'
      readonly replica: number
      readonly ms: number
      readonly resource: Watched
      readonly lagMs: number
    }
  | { readonly kind: 'silent-watch'; readonly replica: number; readonly resource: Watched }
  | { readonly kind: 'close-watches'; readonly replica: number; readonly error: boolean }
  | { readonly kind: 'compact'; readonly as: 'http' | 'stream' | 'silence'; readonly replica: number }
  | { readonly kind: 'duplicates'; readonly replica: number; readonly ms: number; readonly rate: number }
  | { readonly kind: 'outage'; readonly ms: number; readonly compact: boolean }
  | { readonly kind: 'refuse-lifts'; readonly ms: number }
  | { readonly kind: 'lose-node'; readonly node: string }

export type Item = { readonly at: number } & (Action | Fault)

export interface Setting {
  readonly seed: number
  /** Who admits: the built-in engine, in the leader's own process, or another program in its own time: Kueue, or none that anybody knows. */
  readonly engine: 'builtin' | 'external' | 'kueue'
  /** Whether people submit Jobs as well as pods. */
  readonly jobs: boolean
  /** And JobSets, among the Jobs. */
  readonly sets: boolean
  /** Whether kube-scheduler places groups by PodGroups. */
  readonly gangs: boolean
  /** Whether some of the pods are placed by KAI. */
  readonly kai: boolean
  /** Whether the limits of queues change meanwhile. */
  readonly limits: boolean
  readonly namespaces: readonly string[]
  readonly queues: readonly QueueConfiguration[]
  readonly replicas: readonly {
    readonly rate: number
    readonly skewMs: number
    readonly watchLagMs: number
    readonly streaming: boolean
    readonly pageLimit: number
  }[]
}

/** One run, as data: everything that is not the reaction of somebody. Removing items makes another run. */
export interface Schedule {
  readonly setting: Setting
  readonly items: readonly Item[]
}

/** From here on nothing goes wrong any more and nobody interferes. */
export function endOf(schedule: Schedule): number {
  return schedule.items.reduce((end, item) => Math.max(end, item.at + durationOf(item)), 1000)
}

function durationOf(item: Item): number {
  if ('ms' in item && item.kind !== 'clock-jump') return item.ms
  if (item.kind === 'take-pod-group' || item.kind === 'take-kai-group') return item.backMs
  return 'downMs' in item ? item.downMs : 0
}

const FAULTS: ReadonlySet<string> = new Set<Fault['kind']>([
  'crash',
  'crash-on-write',
  'restart',
  'pause',
  'partition',
  'clock-jump',
  'errors',
  'loss',
  'resend',
  'slow',
  'lag',
  'silent-watch',
  'close-watches',
  'compact',
  'duplicates',
  'outage',
  'refuse-lifts',
  'lose-node',
])

export function isFault(item: Item): item is { readonly at: number } & Fault {
  return FAULTS.has(item.kind)
}
