/** How bad it is: an error stops or endangers something now, a warning will or may. */
export type Severity = 'error' | 'warning'

export interface Check {
  readonly severity: Severity
  readonly summary: string
  readonly remedy: string
}

const APPLY = 'kubectl apply -k manifests/'

/** Everything that `muster doctor` can find. A code never changes its meaning; docs/doctor.md has a section for each. */
export const CHECKS = {
  NotInstalled: {
    severity: 'error',
    summary: 'the webhook configurations, or the CRD of Workloads, are not there',
    remedy: APPLY,
  },
  ConfigurationWrong: {
    severity: 'error',
    summary: 'the configuration in the ConfigMap cannot be used',
    remedy: 'correct the ConfigMap muster-system/muster; muster config check FILE finds the same offline',
  },
  RequestsSlipPast: {
    severity: 'error',
    summary: 'requests that Muster has to judge never reach it',
    remedy: `make the webhook configurations those of this version: ${APPLY}`,
  },
  RequestsBlocked: {
    severity: 'error',
    summary: 'requests are refused that the configuration lets pass',
    remedy: 'list the same status writers in guard.statusWriters and in the policy muster-pod-status',
  },
  ReviewsWasted: {
    severity: 'warning',
    summary: 'reviews are made for what the configuration ignores',
    remedy: 'narrow the namespaceSelector and the conditions of the webhooks to what the configuration selects',
  },
  CoverageUnclear: {
    severity: 'warning',
    summary: 'a webhook has a condition that is none of ours, and nobody can say what it keeps out',
    remedy: `take the condition away, or know what you do: ${APPLY}`,
  },
  SystemNamespaceCovered: {
    severity: 'error',
    summary: "a webhook that fails closed covers kube-system or Muster's own namespace",
    remedy: 'exclude kube-system and muster-system in its namespaceSelector',
  },
  BlockedByOthers: {
    severity: 'warning',
    summary: "somebody else's webhook that fails closed can keep Muster's own pods from starting",
    remedy: 'exclude muster-system in the namespaceSelector of that webhook',
  },
  BundleMissing: {
    severity: 'error',
    summary: 'a webhook has no caBundle, so the API server trusts nobody there',
    remedy: 'Muster writes it: see that a replica runs, and that nothing (GitOps) takes it away again',
  },
  CertificateWrong: {
    severity: 'error',
    summary: 'the API server does not accept the certificate that Muster serves',
    remedy:
      'Muster renews it: look for errors in its log; kubectl -n muster-system delete secret muster-tls begins anew',
  },
  CertificateExpiring: {
    severity: 'warning',
    summary: 'the certificate should have been renewed long ago',
    remedy: 'look for errors of the renewal in the log of Muster; where somebody else writes the Secret, ask him',
  },
  ReplicasMissing: {
    severity: 'error',
    summary: 'no replica of Muster is ready, or fewer than there should be',
    remedy: 'kubectl -n muster-system describe deployment muster; kubectl -n muster-system logs deployment/muster',
  },
  ServiceMissing: {
    severity: 'error',
    summary: 'the Service by which the API server calls Muster is not there, or nobody stands behind it',
    remedy: `give it the port and the selector of manifests/base/service.yaml: ${APPLY}`,
  },
  SingleReplica: {
    severity: 'warning',
    summary: 'there is one replica only: each restart of it is an outage for whoever asks for a queue',
    remedy: 'kubectl -n muster-system scale deployment muster --replicas=2',
  },
  ReplicasTogether: {
    severity: 'warning',
    summary: 'all replicas run on one node',
    remedy: 'add a node, or look why the scheduler puts them together',
  },
  LeaderMissing: {
    severity: 'error',
    summary: 'nobody leads, so nothing is admitted and no gate is lifted',
    remedy: 'see that a replica is ready and may update the Lease muster-system/muster',
  },
  VersionsDiffer: {
    severity: 'warning',
    summary: 'replicas, manifests or this command are of different versions',
    remedy: 'finish the upgrade, and use the command of the same version',
  },
  KubernetesTooOld: {
    severity: 'error',
    summary: 'the API server is older than Muster can use',
    remedy: 'upgrade to Kubernetes 1.30 or later',
  },
  BackendMissing: {
    severity: 'error',
    summary: 'the co-scheduling backend of the configuration is not served',
    remedy: 'switch it on in the API server or install it, or set coScheduling.backend to auto',
  },
  KueueBeside: {
    severity: 'warning',
    summary: 'Kueue queues pods in the same cluster, with the same labels and the same gate',
    remedy: "take pod out of integrations.frameworks in Kueue's configuration, or set engine: kueue here",
  },
  KueueMissing: {
    severity: 'error',
    summary: 'Kueue is the engine and its Workloads are not served',
    remedy: 'install Kueue, or set engine: builtin',
  },
  RightMissing: {
    severity: 'error',
    summary: "Muster's account lacks a right that it needs",
    remedy: `give it the rights of manifests/base/rbac.yaml: ${APPLY}, or with Kueue manifests/overlays/kueue`,
  },
  PolicyMissing: {
    severity: 'error',
    summary: 'an admission policy of Muster is not there, or not bound with Deny',
    remedy: APPLY,
  },
  ExemptionTooWide: {
    severity: 'warning',
    summary: 'the guard exempts a group that nearly everybody is in',
    remedy: 'name the group of those few who may lift gates in guard.exemptGroups',
  },
  FinalizerStray: {
    severity: 'warning',
    summary: 'a pod has the finalizer of a queue without its label, and nobody watches it',
    remedy:
      'delete the pod if it is gated, then take the finalizer kueue.x-k8s.io/managed off it: whoever may update the pod may do that',
  },
  GateForgotten: {
    severity: 'warning',
    summary: 'a pod has the gate, and nobody will ever lift it',
    remedy: 'delete the pod and create it anew, in a namespace that the configuration selects',
  },
  DeletionStuck: {
    severity: 'warning',
    summary: 'a pod was deleted long ago and waits for the finalizer of its queue',
    remedy: 'see that Muster runs and leads: it takes the finalizer off',
  },
  LiftStuck: {
    severity: 'warning',
    summary: 'a pod was admitted long ago, and its gate is still there',
    remedy: 'muster explain pod NAME says why',
  },
  WorkloadWithoutPods: {
    severity: 'warning',
    summary: 'a Workload has no pods and has not ended: it may hold quota for nobody',
    remedy: 'see that Muster runs and leads: it ends such Workloads; else delete it',
  },
  ClockSkew: {
    severity: 'warning',
    summary: 'clocks differ by more than 5 seconds',
    remedy: 'let NTP set the clocks of the nodes, and of this machine',
  },
} as const satisfies Readonly<Record<string, Check>>

export type Code = keyof typeof CHECKS
