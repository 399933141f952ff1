/** A right as RBAC writes it. */
export interface Rule {
  readonly group: string
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly names?: readonly string[]
  /** Only in Muster's own namespace. */
  readonly own?: boolean
}

/** One question to the API server. */
export interface Right {
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly verb: string
  readonly name?: string
  readonly own: boolean
}

const READ = ['get', 'list', 'watch']

/** What Muster needs, as manifests/base/rbac.yaml gives it: a test holds the two together. */
export const RULES: readonly Rule[] = [
  { group: '', resources: ['pods'], verbs: [...READ, 'patch', 'delete'] },
  { group: '', resources: ['pods/finalizers'], verbs: ['update'] },
  { group: '', resources: ['namespaces'], verbs: READ },
  { group: 'batch', resources: ['jobs'], verbs: [...READ, 'patch'] },
  { group: 'batch', resources: ['jobs/status'], verbs: ['patch'] },
  { group: 'jobset.x-k8s.io', resources: ['jobsets'], verbs: [...READ, 'patch'] },
  { group: 'batch', resources: ['jobs/finalizers'], verbs: ['update'] },
  { group: 'jobset.x-k8s.io', resources: ['jobsets/finalizers'], verbs: ['update'] },
  { group: '', resources: ['limitranges'], verbs: READ },
  { group: 'node.k8s.io', resources: ['runtimeclasses'], verbs: READ },
  { group: 'apps', resources: ['replicasets', 'deployments', 'statefulsets'], verbs: ['get'] },
  { group: 'kueue.x-k8s.io', resources: ['localqueues'], verbs: READ, names: ['default'] },
  { group: 'muster.dev', resources: ['workloads'], verbs: [...READ, 'create', 'patch', 'delete'] },
  { group: 'muster.dev', resources: ['workloads/status'], verbs: ['patch'] },
  {
    group: 'scheduling.k8s.io',
    resources: ['workloads', 'podgroups', 'compositepodgroups'],
    verbs: [...READ, 'create', 'patch'],
  },
  { group: 'scheduling.k8s.io', resources: ['priorityclasses'], verbs: READ },
  { group: 'scheduling.run.ai', resources: ['podgroups'], verbs: [...READ, 'create', 'patch'] },
  { group: 'kai.scheduler', resources: ['topologies'], verbs: READ },
  { group: 'batch', resources: ['cronjobs'], verbs: ['get'] },
  { group: 'events.k8s.io', resources: ['events'], verbs: ['create'] },
  {
    group: 'admissionregistration.k8s.io',
    resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
    verbs: [...READ, 'patch'],
    names: ['muster'],
  },
  {
    group: 'rbac.authorization.k8s.io',
    resources: ['clusterroles'],
    verbs: ['get'],
    names: ['system:controller:job-controller'],
  },
  {
    group: 'admissionregistration.k8s.io',
    resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
    verbs: READ,
    names: ['muster-pod-status'],
  },
  { group: '', resources: ['secrets'], verbs: [...READ, 'update'], names: ['muster-tls'], own: true },
  { group: '', resources: ['secrets'], verbs: ['create'], own: true },
  { group: 'coordination.k8s.io', resources: ['leases'], verbs: ['get', 'update'], names: ['muster'], own: true },
  { group: 'coordination.k8s.io', resources: ['leases'], verbs: ['create'], own: true },
]

/** What it needs besides where Kueue is the engine, as manifests/overlays/kueue/rbac.yaml gives it. */
const KUEUE_RULES: readonly Rule[] = [
  { group: 'kueue.x-k8s.io', resources: ['workloads'], verbs: [...READ, 'create', 'patch', 'delete'] },
  { group: 'kueue.x-k8s.io', resources: ['workloads/status'], verbs: ['patch'] },
  { group: 'kueue.x-k8s.io', resources: ['resourceflavors', 'workloadpriorityclasses'], verbs: READ },
  { group: '', resources: ['pods/status'], verbs: ['patch'] },
  { group: '', resources: ['configmaps'], verbs: ['get'], names: ['kueue-manager-config'] },
  {
    group: 'admissionregistration.k8s.io',
    resources: ['mutatingwebhookconfigurations'],
    verbs: ['get'],
    names: ['kueue-mutating-webhook-configuration'],
  },
]

/** What is needed here. A Secret that somebody else writes, as cert-manager does, is only read. */
export function rulesFor(setup: { readonly engine: string; readonly ownsSecret: boolean }): readonly Rule[] {
  const isWritten = ({ own, resources }: Rule): boolean => (own ?? false) && resources.includes('secrets')
  const needed = setup.ownsSecret
    ? RULES
    : RULES.map(rule => (isWritten(rule) ? { ...rule, verbs: rule.verbs.filter(verb => READ.includes(verb)) } : rule))
  return setup.engine === 'kueue' ? [...needed, ...KUEUE_RULES] : needed
}

/** Rights that rules give, one by one. */
export function rightsIn(rules: readonly Rule[]): readonly Right[] {
  return rules.flatMap(({ group, resources, verbs, names, own = false }) =>
    resources.flatMap(path => {
      const [resource = '', subresource] = path.split('/')
      return verbs.flatMap(verb =>
        (names ?? [undefined]).map(name => ({
          ...{ group, resource, verb, own },
          ...(subresource !== undefined && { subresource }),
          ...(name !== undefined && { name }),
        })),
      )
    }),
  )
}

/** As many as somebody reads; whoever has none of them has lost the binding. */
const SHOWN = 8

/** By what they are for: `pods (get, list)`. */
export function describeRights(rights: readonly Right[]): string {
  const byObject = [...Map.groupBy(rights, objectOf)].map(
    ([object, all]) => `${object} (${all.map(({ verb }) => verb).join(', ')})`,
  )
  const more = byObject.length - SHOWN
  return `${byObject.slice(0, SHOWN).join('; ')}${more > 0 ? ` and ${more} more` : ''}`
}

function objectOf({ group, resource, subresource, name }: Right): string {
  const path = subresource === undefined ? resource : `${resource}/${subresource}`
  return `${group === '' ? path : `${path}.${group}`}${name === undefined ? '' : ` ${name}`}`
}
