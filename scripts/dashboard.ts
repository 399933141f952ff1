// Writes manifests/observability/dashboard.json: `node scripts/dashboard.ts`. Grafana wants some hundred lines for each
// panel, of which three say something; those three are here.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Query {
  readonly expr: string
  readonly legend: string
}

interface Panel {
  readonly title: string
  readonly description: string
  readonly unit: 'short' | 's' | 'ops' | 'bytes' | 'percentunit'
  readonly queries: readonly Query[]
  readonly kind?: 'timeseries' | 'stat'
  readonly stacked?: true
}

const ours = 'namespace="$namespace"'

/** Percentiles over all replicas: what callers meet, whichever answers them. */
const quantiles = (metric: string, by = ''): readonly Query[] =>
  [0.5, 0.99].map(quantile => ({
    expr: `histogram_quantile(${quantile}, sum by (${by === '' ? '' : `${by}, `}le) (rate(${metric}_bucket{${ours}}[$__rate_interval])))`,
    legend: `${by === '' ? '' : `{{${by}}} `}p${quantile * 100}`,
  }))

const rates = (metric: string, by: string, matching = ''): Query => ({
  expr: `sum by (${by}) (rate(${metric}{${ours}${matching}}[$__rate_interval]))`,
  legend: by
    .split(', ')
    .map(label => `{{${label}}}`)
    .join(' '),
})

const counts = (metric: string, by: string, matching = ''): Query => ({
  ...rates(metric, by),
  expr: `sum by (${by}) (increase(${metric}{${ours}${matching}}[$__rate_interval]))`,
})

const ROWS: Readonly<Record<string, readonly Panel[]>> = {
  'At a glance': [
    {
      title: 'Leader',
      description: 'Replicas that reconcile. There is one, but for seconds when it changes.',
      unit: 'short',
      kind: 'stat',
      queries: [{ expr: `sum(muster_leader_election_master_status{${ours}})`, legend: 'leaders' }],
    },
    {
      title: 'Replicas',
      description: 'Replicas that are scraped, by version.',
      unit: 'short',
      kind: 'stat',
      queries: [{ expr: `count by (version) (muster_build_info{${ours}})`, legend: '{{version}}' }],
    },
    {
      title: 'Certificate',
      description: 'Until the first certificate expires. Renewed when a third of its 30 days is left.',
      unit: 's',
      kind: 'stat',
      queries: [
        {
          expr: `min by (certificate) (muster_tls_not_after_timestamp_seconds{${ours}}) - time()`,
          legend: '{{certificate}}',
        },
      ],
    },
    {
      title: 'Webhook configuration',
      description: 'Differences between what is installed and what Muster needs. slips: requests run past the queue.',
      unit: 'short',
      kind: 'stat',
      queries: [{ expr: `max by (kind) (muster_webhook_coverage_findings{${ours}})`, legend: '{{kind}}' }],
    },
    {
      title: 'Placed together by',
      description: 'Whether the API server serves what places a group as a whole.',
      unit: 'short',
      kind: 'stat',
      queries: [{ expr: `max by (backend) (muster_co_scheduling_served{${ours}})`, legend: '{{backend}}' }],
    },
  ],
  Queues: [
    {
      title: 'Pods that wait, by reason',
      description: 'docs/reasons.md says what to do for each.',
      unit: 'short',
      stacked: true,
      queries: [{ expr: `max by (reason) (muster_waiting_pods{${ours}})`, legend: '{{reason}}' }],
    },
    {
      title: 'From admission to lift',
      description: 'How long a pod holds its share of the queue before its gate is gone.',
      unit: 's',
      queries: quantiles('muster_pod_scheduling_gate_removal_seconds'),
    },
    {
      title: 'Gates lifted',
      description: 'Pods that were let go.',
      unit: 'ops',
      queries: [
        {
          expr: `sum(rate(muster_pod_scheduling_gate_removal_seconds_count{${ours}}[$__rate_interval]))`,
          legend: 'pods',
        },
      ],
    },
  ],
  Reviews: [
    {
      title: 'Reviews, by verdict',
      description: 'What the API server asked and was told.',
      unit: 'ops',
      queries: [rates('muster_webhook_requests_total', 'webhook, verdict')],
    },
    {
      title: 'Latency of reviews',
      description: 'Every pod with a queue pays this.',
      unit: 's',
      queries: quantiles('muster_webhook_latency_seconds', 'webhook'),
    },
    {
      title: 'Reviews without a decision',
      description: 'Each is a refusal for whoever asked.',
      unit: 'short',
      queries: [counts('muster_webhook_errors_total', 'webhook, cause')],
    },
    {
      title: 'Reviews at once',
      description: 'Being worked on at the time of the scrape.',
      unit: 'short',
      queries: [{ expr: `sum by (webhook) (muster_webhook_requests_in_flight{${ours}})`, legend: '{{webhook}}' }],
    },
    {
      title: 'Look-ups and cuts',
      description: 'API calls that reviews had to make, and callers that were cut off for being too many.',
      unit: 'ops',
      queries: [
        {
          expr: `sum(rate(muster_webhook_lookups_total{${ours}}[$__rate_interval]))`,
          legend: 'look-ups',
        },
        rates('muster_webhook_cuts_total', 'reason'),
      ],
    },
  ],
  Reconciler: [
    {
      title: 'Decisions',
      description: 'By kind of what was decided about, and result.',
      unit: 'ops',
      queries: [rates('muster_reconcile_total', 'kind, result')],
    },
    {
      title: 'Time of a decision with its writes',
      description: 'Grows with the latency of the API server.',
      unit: 's',
      queries: quantiles('muster_reconcile_time_seconds', 'kind'),
    },
    {
      title: 'Writes',
      description: 'stale: somebody else was first, and it is decided anew. blocked: somebody refuses it.',
      unit: 'ops',
      queries: [rates('muster_actions_total', 'action, result')],
    },
    {
      title: 'Keys that wait for a worker',
      description: 'Stays near 0 while decisions keep up with changes.',
      unit: 'short',
      queries: [{ expr: `max(muster_workqueue_depth{${ours}})`, legend: 'keys' }],
    },
    {
      title: 'How long they wait',
      description: 'From a change to the decision about it.',
      unit: 's',
      queries: quantiles('muster_workqueue_queue_duration_seconds'),
    },
    {
      title: 'Keys, added and tried again',
      description: 'Many retries with few additions: something is refused again and again.',
      unit: 'ops',
      queries: [
        { expr: `sum(rate(muster_workqueue_adds_total{${ours}}[$__rate_interval]))`, legend: 'added' },
        { expr: `sum(rate(muster_workqueue_retries_total{${ours}}[$__rate_interval]))`, legend: 'tried again' },
      ],
    },
    {
      title: 'Events about pods',
      description: 'What became of them.',
      unit: 'ops',
      queries: [rates('muster_events_total', 'result')],
    },
  ],
  'API server': [
    {
      title: 'Calls, by status',
      description: 'Of all replicas.',
      unit: 'ops',
      queries: [rates('muster_api_requests_total', 'verb, code')],
    },
    {
      title: 'Calls, by resource',
      description: 'Of all replicas.',
      unit: 'ops',
      queries: [rates('muster_api_requests_total', 'resource')],
    },
    {
      title: 'Watches that failed',
      description: 'silence: nothing came for 90 s.',
      unit: 'short',
      queries: [counts('muster_watch_restarts_total', 'resource, reason')],
    },
    {
      title: 'Everything read anew',
      description: 'Once each at the start of a replica, and again when a watch cannot go on.',
      unit: 'short',
      queries: [counts('muster_watch_relists_total', 'resource, reason', ',reason!="start"')],
    },
    {
      title: 'Failures on what watches brought',
      description: 'Bugs of Muster: the log says where.',
      unit: 'short',
      queries: [counts('muster_cache_errors_total', 'resource')],
    },
  ],
  Process: [
    {
      title: 'Memory',
      description: 'The limit in the manifests is 512 MiB.',
      unit: 'bytes',
      queries: [
        {
          expr: `process_resident_memory_bytes{${ours}} and on (namespace, pod) muster_build_info`,
          legend: '{{pod}}',
        },
      ],
    },
    {
      title: 'Processor',
      description: 'Of one core.',
      unit: 'percentunit',
      queries: [
        {
          expr: `rate(process_cpu_seconds_total{${ours}}[$__rate_interval]) and on (namespace, pod) muster_build_info`,
          legend: '{{pod}}',
        },
      ],
    },
    {
      title: 'Lag of the event loop',
      description: 'How long a review may wait for its turn within the process.',
      unit: 's',
      queries: [
        {
          expr: `nodejs_eventloop_lag_p99_seconds{${ours}} and on (namespace, pod) muster_build_info`,
          legend: '{{pod}} p99',
        },
      ],
    },
    {
      title: 'Changes of configuration and certificate',
      description: 'refused and partly: what somebody wrote is not in force.',
      unit: 'short',
      queries: [
        counts('muster_configuration_changes_total', 'result'),
        {
          expr: `sum(increase(muster_tls_swap_failures_total{${ours}}[$__rate_interval]))`,
          legend: 'certificates refused',
        },
      ],
    },
  ],
}

const datasource = { type: 'prometheus', uid: '$datasource' }

function panelJson(panel: Panel, id: number, gridPos: object): object {
  const { title, description, unit, queries, kind = 'timeseries', stacked = false } = panel
  const custom = { lineWidth: 1, fillOpacity: stacked ? 30 : 5, stacking: { mode: stacked ? 'normal' : 'none' } }
  return {
    id,
    type: kind,
    title,
    description,
    datasource,
    gridPos,
    fieldConfig: { defaults: { unit, ...(kind === 'timeseries' && { min: 0, custom }) }, overrides: [] },
    options:
      kind === 'stat'
        ? { reduceOptions: { calcs: ['lastNotNull'] }, textMode: 'value_and_name' }
        : { legend: { displayMode: 'table', placement: 'bottom', calcs: ['lastNotNull', 'max'] } },
    targets: queries.map(({ expr, legend }, at) => ({
      refId: String.fromCharCode(65 + at),
      datasource,
      expr,
      legendFormat: legend,
    })),
  }
}

const WIDTH = 24

function panels(): readonly object[] {
  const all: object[] = []
  let y = 0
  for (const [title, row] of Object.entries(ROWS)) {
    const stats = row.every(({ kind }) => kind === 'stat')
    const [columns, h] = stats ? [row.length, 4] : [Math.min(row.length, 3), 8]
    const w = Math.floor(WIDTH / columns)
    all.push({
      id: all.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: WIDTH, h: 1 },
    })
    y += 1
    row.forEach((panel, at) => {
      const gridPos = { x: (at % columns) * w, y: y + Math.floor(at / columns) * h, w, h }
      all.push(panelJson(panel, all.length + 1, gridPos))
    })
    y += Math.ceil(row.length / columns) * h
  }
  return all
}

export function dashboard(): object {
  return {
    uid: 'muster',
    title: 'Muster',
    description: 'Queues, reviews and the reconciler of Muster.',
    tags: ['muster', 'kubernetes'],
    editable: true,
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
        {
          name: 'namespace',
          label: 'Namespace of Muster',
          type: 'query',
          datasource,
          query: { query: 'label_values(muster_build_info, namespace)', refId: 'namespaces' },
          refresh: 1,
        },
      ],
    },
    panels: panels(),
  }
}

export const DASHBOARD_FILE = fileURLToPath(new URL('../manifests/observability/dashboard.json', import.meta.url))

if (import.meta.main) writeFileSync(DASHBOARD_FILE, `${JSON.stringify(dashboard(), null, 2)}\n`)
