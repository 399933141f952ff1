import type { Configuration } from '../../config/configuration.ts'
import type { KubeObject, Pod } from '../../kube/vocabulary/objects.ts'
import type { ServedScheduling } from '../../kube/vocabulary/served-scheduling.ts'
import type {
  InstalledConfiguration,
  InstalledPolicy,
  InstalledPolicyBinding,
} from '../../kube/vocabulary/webhook-configurations.ts'
import type { Secret } from '../../tls/secret.ts'
import type { QueuedWorkload } from '../../workload/queued-workload.ts'
import type { Seen } from '../sight.ts'
import type { Right } from './rights.ts'

/** Everything that a diagnosis is made of. What could not be read is `denied`, and nothing is said of it. */
export interface Facts {
  readonly now: number
  /** How far the API server's clock is ahead of the one here. */
  readonly skewMs: number | undefined
  /** Of this command. */
  readonly version: string
  readonly kubernetes: { readonly major: number; readonly minor: number } | undefined
  readonly config: Configuration | undefined
  readonly configErrors: readonly string[]
  readonly crd: Seen<KubeObject>
  readonly mutating: Listed<InstalledConfiguration>
  readonly validating: Listed<InstalledConfiguration>
  readonly policies: Listed<InstalledPolicy>
  readonly bindings: Listed<InstalledPolicyBinding>
  readonly secret: Seen<Secret>
  readonly deployment: Seen<Deployment>
  /** Muster's own pods. */
  readonly replicas: Listed<Replica>
  /** By which the API server calls Muster. */
  readonly service: Seen<Service>
  /** Who stands behind it. */
  readonly endpoints: Listed<EndpointSlice>
  readonly lease: Seen<Lease>
  readonly namespaces: Listed<KubeObject>
  readonly defaultQueues: readonly string[]
  readonly pods: Listed<Pod>
  readonly workloads: Listed<QueuedWorkload>
  readonly served: ServedScheduling
  readonly kueueServed: boolean
  /** Why Kueue queues pods itself; undefined: it does not. */
  readonly kueueOnPods: string | undefined
  /** What Muster's account lacks. */
  readonly missing: readonly Right[] | 'denied'
}

export type Listed<T> = readonly T[] | 'denied'

export interface Deployment extends KubeObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: { readonly availableReplicas?: number; readonly readyReplicas?: number }
}

export interface Replica extends KubeObject {
  readonly spec?: { readonly nodeName?: string; readonly containers?: readonly { readonly image?: string }[] }
  readonly status?: { readonly phase?: string }
}

export interface Service extends KubeObject {
  readonly spec?: { readonly ports?: readonly { readonly port?: number }[] | null }
}

export interface EndpointSlice extends KubeObject {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean | null } | null }[] | null
}

export interface Lease extends KubeObject {
  readonly metadata: KubeObject['metadata'] & {
    readonly managedFields?: readonly { readonly time?: string }[] | null
  }
  readonly spec?: {
    readonly holderIdentity?: string | null
    readonly leaseDurationSeconds?: number | null
    readonly renewTime?: string | null
  }
}

export const known = <T>(list: Listed<T>): readonly T[] => (list === 'denied' ? [] : list)
