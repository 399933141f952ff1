import type { Resource } from '../kube/vocabulary/api.ts'
import { SYSTEM_NAMESPACE } from '../kube/vocabulary/names.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import {
  MUTATING_WEBHOOKS,
  VALIDATING_POLICIES,
  VALIDATING_POLICY_BINDINGS,
  VALIDATING_WEBHOOKS,
} from '../kube/vocabulary/resources.ts'
import { CLUSTER_ROLE_BINDINGS, DEPLOYMENTS, type OwnKind, ROLE_BINDINGS } from './kinds.ts'
import type { Of, Remains } from './remains.ts'

/** By which the manifests mark what is theirs, also what another version has more than this one. */
const PART_OF = 'app.kubernetes.io/part-of'
/** Helm keeps its releases in Secrets of these names. */
const HELM_RELEASE = 'sh.helm.release.v1.muster'

const isOwn = ({ metadata }: KubeObject, { names }: OwnKind): boolean =>
  names.includes(metadata.name ?? '') ||
  (metadata.labels?.[PART_OF] === 'muster' && /^muster(-|$)|\.muster\.dev$/.test(metadata.name ?? ''))

/** What of a kind belongs to the installation. */
export function ownOf(kinds: readonly (OwnKind & Of<KubeObject>)[], resource: Resource): readonly KubeObject[] {
  return kinds
    .filter(kind => kind.resource === resource)
    .flatMap(kind => kind.objects.filter(each => isOwn(each, kind)))
}

const GROUPS = {
  bindings: [CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS],
  deployment: [DEPLOYMENTS],
  webhooks: [MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS],
  policyBindings: [VALIDATING_POLICY_BINDINGS],
  policies: [VALIDATING_POLICIES],
} as const

export function ownOfKinds(
  { wide, narrow }: Remains,
  group: keyof typeof GROUPS,
): readonly { readonly resource: Resource; readonly object: KubeObject }[] {
  return GROUPS[group].flatMap(resource => ownOf([...wide, ...narrow], resource).map(object => ({ resource, object })))
}

/** What somebody else has put into Muster's namespace. What belongs to something of Muster's is Muster's, too. */
export function foreignIn({ narrow }: Remains): readonly string[] {
  return narrow.flatMap(kind =>
    kind.objects
      .filter(object => !isOwn(object, kind) && (object.metadata.ownerReferences ?? []).length === 0)
      .filter(({ metadata }) => !metadata.name?.startsWith(HELM_RELEASE))
      .map(({ metadata }) => `${kind.resource.kind} ${SYSTEM_NAMESPACE}/${metadata.name}`),
  )
}
