/** What a case expects at one time: how the alert is labelled, and what it says. */
export interface Firing {
  readonly at: string
  readonly labels?: Readonly<Record<string, string>>
  readonly summary: string
}

/** One story of some series, one sample each 15 s in promtool's notation, and when the alert is heard in it. */
export interface AlertCase {
  readonly alert: string
  readonly story: string
  readonly series: Readonly<Record<string, string>>
  readonly fires: readonly Firing[]
  readonly quiet: readonly string[]
}

const A = 'namespace="muster-system",pod="muster-a"'
const B = 'namespace="muster-system",pod="muster-b"'
const namespace = { namespace: 'muster-system' }
/** Four minutes of nothing, then what happened, for an hour. */
const once = (what: number): string => `0+0x16 ${what}+0x240`
const always = (value: number): string => `${value}+0x300`

export const CASES: readonly AlertCase[] = [
  {
    alert: 'MusterAbsent',
    story: 'both replicas are gone after five minutes',
    series: { [`muster_build_info{${A},version="1"}`]: '1+0x20', [`muster_build_info{${B},version="1"}`]: '1+0x20' },
    quiet: ['4m', '14m'],
    fires: [{ at: '16m', summary: 'No replica of Muster is scraped.' }],
  },
  {
    alert: 'MusterAbsent',
    story: 'one replica is enough',
    series: { [`muster_build_info{${A},version="1"}`]: '1+0x20', [`muster_build_info{${B},version="1"}`]: always(1) },
    quiet: ['16m', '30m'],
    fires: [],
  },
  {
    alert: 'MusterReviewsFail',
    story: 'the first timeout of a replica is heard, and forgotten when none follows',
    series: { [`muster_webhook_errors_total{${A},webhook="mutate-pods",cause="timeout"}`]: once(1) },
    quiet: ['4m', '12m'],
    fires: [
      {
        at: '5m',
        labels: { ...namespace, webhook: 'mutate-pods', cause: 'timeout' },
        summary: 'Reviews of mutate-pods end without a decision (timeout).',
      },
    ],
  },
  {
    alert: 'MusterReviewsFail',
    story: 'bodies that cannot be read are somebody else’s fault',
    series: { [`muster_webhook_errors_total{${A},webhook="mutate-pods",cause="unreadable"}`]: '0+5x100' },
    quiet: ['10m', '20m'],
    fires: [],
  },
  {
    alert: 'MusterReviewsSlow',
    story: 'two reviews in a hundred take longer than a tenth of a second, for ten minutes',
    series: {
      [`muster_webhook_latency_seconds_bucket{${A},webhook="mutate-pods",le="0.1"}`]: '0+98x100',
      [`muster_webhook_latency_seconds_bucket{${A},webhook="mutate-pods",le="0.25"}`]: '0+100x100',
      [`muster_webhook_latency_seconds_bucket{${A},webhook="mutate-pods",le="+Inf"}`]: '0+100x100',
    },
    quiet: ['5m'],
    fires: [
      {
        at: '20m',
        labels: { ...namespace, webhook: 'mutate-pods' },
        summary: 'One review of mutate-pods in a hundred takes 175ms or more.',
      },
    ],
  },
  {
    alert: 'MusterReviewsSlow',
    story: 'one slow replica does not make reviews slow as long as few come its way',
    series: {
      [`muster_webhook_latency_seconds_bucket{${A},webhook="mutate-pods",le="0.1"}`]: '0+0x100',
      [`muster_webhook_latency_seconds_bucket{${A},webhook="mutate-pods",le="+Inf"}`]: '0+1x100',
      [`muster_webhook_latency_seconds_bucket{${B},webhook="mutate-pods",le="0.1"}`]: '0+1000x100',
      [`muster_webhook_latency_seconds_bucket{${B},webhook="mutate-pods",le="+Inf"}`]: '0+1000x100',
    },
    quiet: ['20m'],
    fires: [],
  },
  {
    alert: 'MusterCallersCut',
    story: 'connections above the bound are cut',
    series: { [`muster_webhook_cuts_total{${A},reason="connections"}`]: once(7) },
    quiet: ['4m', '12m'],
    fires: [
      {
        at: '5m',
        labels: { ...namespace, reason: 'connections' },
        summary: 'Muster cuts callers off because there is too much at once (connections).',
      },
    ],
  },
  {
    alert: 'MusterRequestsSlipPast',
    story: 'somebody has changed the webhook configuration',
    series: {
      [`muster_webhook_coverage_findings{${A},kind="slips"}`]: once(2),
      [`muster_webhook_coverage_findings{${B},kind="slips"}`]: once(2),
      [`muster_webhook_coverage_findings{${A},kind="wasted"}`]: always(3),
    },
    quiet: ['4m', '8m'],
    fires: [
      {
        at: '10m',
        labels: namespace,
        summary: 'The installed webhook configuration lets requests pass that Muster has to judge.',
      },
    ],
  },
  {
    alert: 'MusterRequestsBlocked',
    story: 'a status writer stands in the configuration and not in the policy',
    series: {
      [`muster_webhook_coverage_findings{${A},kind="blocked"}`]: once(1),
      [`muster_webhook_coverage_findings{${A},kind="unclear"}`]: always(1),
    },
    quiet: ['4m'],
    fires: [
      {
        at: '10m',
        labels: namespace,
        summary: 'The installed policy refuses status writers that the configuration lists.',
      },
    ],
  },
  {
    alert: 'MusterLeaderMissing',
    story: 'a change of leader takes less than two minutes, an outage does not',
    series: {
      [`muster_leader_election_master_status{${A}}`]: '1+0x20 0+0x300',
      [`muster_leader_election_master_status{${B}}`]: '0+0x24 1+0x80 0+0x200',
    },
    quiet: ['4m', '7m', '15m', '27m'],
    fires: [{ at: '30m', labels: namespace, summary: 'No replica of Muster reconciles.' }],
  },
  {
    alert: 'MusterLeadersMany',
    story: 'two scrapes around a change of leader may show two leaders, ten minutes may not',
    series: {
      [`muster_leader_election_master_status{${A}}`]: '1+0x20 0+0x40 1+0x200',
      [`muster_leader_election_master_status{${B}}`]: '0+0x19 1+0x300',
    },
    quiet: ['4m', '6m', '10m'],
    fires: [{ at: '20m', labels: namespace, summary: '2 replicas of Muster believe that they reconcile.' }],
  },
  {
    alert: 'MusterLiftsBlocked',
    story: 'a policy of somebody else refuses lifts; the follower knows nothing of it',
    series: {
      [`muster_waiting_pods{${A},reason="LiftBlocked"}`]: once(3),
      [`muster_waiting_pods{${B},reason="LiftBlocked"}`]: always(0),
      [`muster_waiting_pods{${A},reason="WaitingForAdmission"}`]: always(400),
    },
    quiet: ['4m', '8m'],
    fires: [
      {
        at: '10m',
        labels: namespace,
        summary: '3 pods are admitted, and somebody refuses to have their gate lifted.',
      },
    ],
  },
  {
    alert: 'MusterLiftsSlow',
    story: 'lifts take between half a minute and a minute',
    series: {
      [`muster_pod_scheduling_gate_removal_seconds_bucket{${A},le="30"}`]: '0+0x200',
      [`muster_pod_scheduling_gate_removal_seconds_bucket{${A},le="60"}`]: '0+10x200',
      [`muster_pod_scheduling_gate_removal_seconds_bucket{${A},le="+Inf"}`]: '0+10x200',
    },
    quiet: ['5m'],
    fires: [
      {
        at: '30m',
        labels: namespace,
        summary: 'One pod in a hundred waits 59.7s or more between its admission and its lift.',
      },
    ],
  },
  {
    alert: 'MusterDecisionsLate',
    story: 'keys wait up to a minute for a worker, and then no more',
    series: {
      [`muster_workqueue_queue_duration_seconds_bucket{${A},le="10"}`]: '0+50x100 5050+100x100',
      [`muster_workqueue_queue_duration_seconds_bucket{${A},le="60"}`]: '0+100x100 10100+100x100',
      [`muster_workqueue_queue_duration_seconds_bucket{${A},le="+Inf"}`]: '0+100x100 10100+100x100',
    },
    quiet: ['5m', '45m'],
    fires: [{ at: '20m', labels: namespace, summary: 'Decisions come 59s or more after what they are about.' }],
  },
  {
    alert: 'MusterDecisionsFail',
    story: 'one decision in five fails',
    series: {
      [`muster_reconcile_total{${A},kind="single",result="success"}`]: '0+8x300',
      [`muster_reconcile_total{${A},kind="group",result="error"}`]: '0+2x300',
    },
    quiet: ['10m'],
    fires: [{ at: '40m', labels: namespace, summary: "20% of the reconciler's decisions end with an error." }],
  },
  {
    alert: 'MusterDecisionsFail',
    story: 'one in twenty is a conflict here and there',
    series: {
      [`muster_reconcile_total{${A},kind="single",result="success"}`]: '0+19x300',
      [`muster_reconcile_total{${A},kind="group",result="error"}`]: '0+1x300',
    },
    quiet: ['40m'],
    fires: [],
  },
  {
    alert: 'MusterEventsLost',
    story: 'a burst was more than there is room for',
    series: {
      [`muster_events_total{${A},result="dropped"}`]: once(118),
      [`muster_events_total{${A},result="failed"}`]: once(3),
    },
    quiet: ['4m', '25m'],
    fires: [
      {
        at: '19m',
        labels: { ...namespace, result: 'dropped' },
        summary: '118 Events about pods never reached the API server (dropped).',
      },
    ],
  },
  {
    alert: 'MusterCertificateExpires',
    story: 'of two replicas one has not renewed',
    series: {
      [`muster_tls_not_after_timestamp_seconds{${A},certificate="leaf"}`]: '606600+0x300',
      [`muster_tls_not_after_timestamp_seconds{${B},certificate="leaf"}`]: '2592000+0x300',
      [`muster_tls_not_after_timestamp_seconds{${A},certificate="ca"}`]: '2592000+0x300',
    },
    quiet: ['20m'],
    fires: [
      {
        at: '50m',
        labels: { ...namespace, certificate: 'leaf' },
        summary: 'The leaf certificate of Muster expires in 6d 23h 40m 0s.',
      },
    ],
  },
  {
    alert: 'MusterCertificateRefused',
    story: 'somebody put nonsense into the Secret',
    series: { [`muster_tls_swap_failures_total{${A}}`]: once(1) },
    quiet: ['4m'],
    fires: [{ at: '30m', labels: namespace, summary: 'A new serving certificate was refused.' }],
  },
  {
    alert: 'MusterConfigurationRefused',
    story: 'a wrong file is heard of, a good one is not',
    series: {
      [`muster_configuration_changes_total{${A},result="refused"}`]: once(1),
      [`muster_configuration_changes_total{${A},result="taken"}`]: '0+1x300',
    },
    quiet: ['4m', '30m'],
    fires: [
      {
        at: '10m',
        labels: { ...namespace, result: 'refused' },
        summary: 'A change of the configuration is not in force, or not all of it (refused).',
      },
    ],
  },
  {
    alert: 'MusterWatchesSilent',
    story: 'a firewall forgets the watch of pods every two minutes; that of Jobs was silent once',
    series: {
      [`muster_watch_restarts_total{${A},resource="pods",reason="silence"}`]: '0+0.125x300',
      [`muster_watch_restarts_total{${A},resource="jobs",reason="silence"}`]: once(1),
      [`muster_watch_restarts_total{${A},resource="pods",reason="http 503"}`]: '0+1x300',
    },
    quiet: ['3m'],
    fires: [
      {
        at: '30m',
        labels: { ...namespace, resource: 'pods' },
        summary: 'Watches of pods fall silent again and again.',
      },
    ],
  },
  {
    alert: 'MusterCacheErrors',
    story: 'one object was too much',
    series: { [`muster_cache_errors_total{${A},resource="pods"}`]: once(1) },
    quiet: ['4m', '12m'],
    fires: [
      {
        at: '5m',
        labels: { ...namespace, resource: 'pods' },
        summary: 'Muster failed on what the watch of pods brought.',
      },
    ],
  },
  {
    alert: 'MusterMemoryHigh',
    story: 'one replica grows; that of somebody else is none of our business',
    series: {
      [`process_resident_memory_bytes{${A}}`]: '104857600+0x16 503316480+0x240',
      [`process_resident_memory_bytes{${B}}`]: always(157286400),
      'process_resident_memory_bytes{namespace="shop",pod="cart"}': always(4e9),
      [`muster_build_info{${A},version="1"}`]: always(1),
      [`muster_build_info{${B},version="1"}`]: always(1),
    },
    quiet: ['4m', '13m'],
    fires: [
      {
        at: '15m',
        labels: { ...namespace, pod: 'muster-a' },
        summary: 'Replica muster-a of Muster has 480MiB in memory.',
      },
    ],
  },
  {
    alert: 'MusterVersionsDiffer',
    story: 'a rollout takes minutes; half an hour is none',
    series: { [`muster_build_info{${A},version="1"}`]: always(1), [`muster_build_info{${B},version="2"}`]: always(1) },
    quiet: ['20m'],
    fires: [{ at: '40m', labels: namespace, summary: 'Replicas of Muster are of 2 versions.' }],
  },
]

/** A sound installation with much to do: nobody is woken. */
export const SOUND: Readonly<Record<string, string>> = {
  [`muster_build_info{${A},version="1"}`]: always(1),
  [`muster_build_info{${B},version="1"}`]: always(1),
  [`process_resident_memory_bytes{${A}}`]: always(209715200),
  [`muster_webhook_errors_total{${A},webhook="mutate-pods",cause="handler"}`]: always(0),
  [`muster_webhook_latency_seconds_bucket{${A},webhook="mutate-pods",le="0.1"}`]: '0+1000x300',
  [`muster_webhook_latency_seconds_bucket{${A},webhook="mutate-pods",le="+Inf"}`]: '0+1000x300',
  [`muster_webhook_cuts_total{${A},reason="bytes"}`]: always(0),
  [`muster_webhook_coverage_findings{${A},kind="slips"}`]: always(0),
  [`muster_webhook_coverage_findings{${A},kind="blocked"}`]: always(0),
  [`muster_leader_election_master_status{${A}}`]: always(1),
  [`muster_leader_election_master_status{${B}}`]: always(0),
  [`muster_waiting_pods{${A},reason="LiftBlocked"}`]: always(0),
  [`muster_waiting_pods{${A},reason="WaitingForAdmission"}`]: '0+50x300',
  [`muster_pod_scheduling_gate_removal_seconds_bucket{${A},le="30"}`]: '0+40x300',
  [`muster_pod_scheduling_gate_removal_seconds_bucket{${A},le="+Inf"}`]: '0+40x300',
  [`muster_workqueue_queue_duration_seconds_bucket{${A},le="10"}`]: '0+80x300',
  [`muster_workqueue_queue_duration_seconds_bucket{${A},le="+Inf"}`]: '0+80x300',
  [`muster_reconcile_total{${A},kind="single",result="success"}`]: '0+40x300',
  [`muster_reconcile_total{${A},kind="single",result="error"}`]: always(1),
  [`muster_events_total{${A},result="sent"}`]: '0+40x300',
  [`muster_events_total{${A},result="dropped"}`]: always(0),
  [`muster_tls_not_after_timestamp_seconds{${A},certificate="leaf"}`]: '2592000+0x300',
  [`muster_tls_swap_failures_total{${A}}`]: always(0),
  [`muster_configuration_changes_total{${A},result="taken"}`]: '0+1x300',
  [`muster_configuration_changes_total{${A},result="refused"}`]: always(0),
  [`muster_watch_restarts_total{${A},resource="pods",reason="silence"}`]: always(0),
  [`muster_cache_errors_total{${A},resource="pods"}`]: always(0),
}
