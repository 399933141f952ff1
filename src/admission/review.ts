import type { KubeObject } from '../kube/vocabulary/objects.ts'

export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export interface GroupVersionResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

export interface UserInfo {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[] | null
}

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** `request` of an AdmissionReview (admission.k8s.io/v1) as the API server sends it. */
export interface AdmissionRequest {
  readonly uid: string
  readonly kind: GroupVersionKind
  readonly resource: GroupVersionResource
  readonly subResource?: string
  readonly name?: string
  readonly namespace?: string
  readonly operation: Operation
  readonly userInfo?: UserInfo
  readonly object?: KubeObject | null
  readonly oldObject?: KubeObject | null
  readonly dryRun?: boolean
}

export interface AdmissionReview {
  readonly apiVersion: 'admission.k8s.io/v1'
  readonly kind: 'AdmissionReview'
  readonly request: AdmissionRequest
}

export interface StatusCause {
  readonly reason: string
  readonly message: string
  readonly field: string
}

/** `response` of an AdmissionReview. `patch` is the base64 of a JSON Patch. */
export interface AdmissionResponse {
  readonly uid: string
  readonly allowed: boolean
  readonly status?: {
    readonly code: number
    readonly reason: string
    readonly message: string
    readonly details?: { readonly name?: string; readonly kind?: string; readonly causes: readonly StatusCause[] }
  }
  readonly patchType?: 'JSONPatch'
  readonly patch?: string
  readonly warnings?: readonly string[]
  readonly auditAnnotations?: Readonly<Record<string, string>>
}
