import type { KubeObject, LabelSelector } from './objects.ts'

/** One entry of an installed webhook configuration, as far as Muster reads it. */
export interface InstalledWebhook {
  readonly name: string
  readonly clientConfig: {
    readonly caBundle?: string
    readonly url?: string
    readonly service?: {
      readonly name?: string
      readonly namespace?: string
      readonly path?: string
      readonly port?: number
    }
  }
  readonly rules?: readonly {
    readonly apiGroups?: readonly string[]
    readonly resources?: readonly string[]
    readonly operations?: readonly string[]
  }[]
  readonly failurePolicy?: string
  readonly namespaceSelector?: LabelSelector | null
  readonly objectSelector?: LabelSelector | null
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[]
}

export interface InstalledConfiguration extends KubeObject {
  readonly webhooks?: readonly InstalledWebhook[]
}

/** A ValidatingAdmissionPolicy, as far as Muster reads it. */
export interface InstalledPolicy extends KubeObject {
  readonly spec?: { readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[] }
}

export interface InstalledPolicyBinding extends KubeObject {
  readonly spec?: { readonly policyName?: string; readonly validationActions?: readonly string[] }
}
