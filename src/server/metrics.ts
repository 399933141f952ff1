import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Operation } from '../admission/review.ts'
import { LatencyHistogram } from './histogram.ts'

export type VerdictLabel = 'allowed' | 'patched' | 'denied' | 'error'
/** `unreadable` has no operation and no verdict: it counts only here. */
export type ErrorCause = 'handler' | 'timeout' | 'unreadable'

const OPERATIONS: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT']
const VERDICTS: readonly VerdictLabel[] = ['allowed', 'patched', 'denied', 'error']
const CAUSES: readonly ErrorCause[] = ['handler', 'timeout', 'unreadable']
/** Of counters whose labels are known beforehand, and that somebody is woken for: what they are counted by. */
const CUTS = ['connections', 'bytes'] as const
const CHANGES = ['taken', 'partly', 'refused'] as const
const TOLD = ['sent', 'known', 'overtaken', 'retried', 'dropped', 'failed'] as const

export type Metrics = ReturnType<typeof createMetrics>

/**
 * Every metric of Muster, in one table. One registry per call: a process-wide registry would let two servers
 * (or two tests) count into each other.
 */
export function createMetrics(options: { readonly version: string; readonly processMetrics?: boolean }) {
  const registry = new Registry()
  const registers = [registry]
  if (options.processMetrics ?? true) collectDefaultMetrics({ register: registry })

  const buildInfo = new Gauge({
    name: 'muster_build_info',
    help: 'Always 1; the label says which Muster this is.',
    labelNames: ['version'],
    registers,
  })
  buildInfo.set({ version: options.version }, 1)

  /** What reviews have counted since the last scrape; see `webhookRecorder`. */
  const tallies = new Set<() => void>()
  const collect = () => {
    for (const tally of tallies) tally()
  }

  const metrics = {
    registry,
    tallies,
    webhookRequests: new Counter({
      name: 'muster_webhook_requests_total',
      help: 'Admission reviews answered, by webhook, operation and verdict (allowed, patched, denied, error).',
      labelNames: ['webhook', 'operation', 'verdict'],
      registers,
      collect,
    }),
    webhookLatency: new LatencyHistogram({
      name: 'muster_webhook_latency_seconds',
      help: 'From the arrival of a review to its answer.',
      label: 'webhook',
      buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3],
      registry,
    }),
    webhookInFlight: new Gauge({
      name: 'muster_webhook_requests_in_flight',
      help: 'Admission reviews being worked on right now.',
      labelNames: ['webhook'],
      registers,
      collect,
    }),
    webhookErrors: new Counter({
      name: 'muster_webhook_errors_total',
      help: 'Reviews that got no decision: the handler failed, the time ran out, or the body could not be read.',
      labelNames: ['webhook', 'cause'],
      registers,
    }),
    webhookLookups: new Counter({
      name: 'muster_webhook_lookups_total',
      help: 'API calls that reviews had to make for a namespace or an owner that no cache held yet.',
      registers,
    }),
    webhookCuts: new Counter({
      name: 'muster_webhook_cuts_total',
      help: 'Connections and bodies that were cut because there were too many at once, by reason (connections, bytes).',
      labelNames: ['reason'],
      registers,
    }),
    configurationChanges: new Counter({
      name: 'muster_configuration_changes_total',
      help: 'Changes of the configuration file that were seen: taken, partly (the rest needs a restart), refused.',
      labelNames: ['result'],
      registers,
    }),
    webhookCoverage: new Gauge({
      name: 'muster_webhook_coverage_findings',
      help: 'Differences between the installed webhook configuration and the one of Muster (slips, wasted, unclear).',
      labelNames: ['kind'],
      registers,
    }),
    coScheduling: new Gauge({
      name: 'muster_co_scheduling_served',
      help: 'Whether the API server serves what places pods together, by backend (kubernetes, kai).',
      labelNames: ['backend'],
      registers,
    }),
    tlsNotAfter: new Gauge({
      name: 'muster_tls_not_after_timestamp_seconds',
      help: 'When the serving certificate (leaf) and the earliest certificate of its CA bundle (ca) expire.',
      labelNames: ['certificate'],
      registers,
    }),
    tlsSwapFailures: new Counter({
      name: 'muster_tls_swap_failures_total',
      help: 'New serving certificates that were refused; the old one keeps serving.',
      registers,
    }),
    apiRequests: new Counter({
      name: 'muster_api_requests_total',
      help: 'Calls to the API server, by verb, resource and status code.',
      labelNames: ['verb', 'resource', 'code'],
      registers,
    }),
    relists: new Counter({
      name: 'muster_watch_relists_total',
      help: 'Times the whole state of a resource was read, by resource and reason; once each at the start.',
      labelNames: ['resource', 'reason'],
      registers,
    }),
    watchRestarts: new Counter({
      name: 'muster_watch_restarts_total',
      help: 'Lists and watches that failed and were tried again, by resource and reason.',
      labelNames: ['resource', 'reason'],
      registers,
    }),
    cacheErrors: new Counter({
      name: 'muster_cache_errors_total',
      help: 'Failures of our own code on what a watch brought, by resource: something has missed a change.',
      labelNames: ['resource'],
      registers,
    }),
    leader: new Gauge({
      name: 'muster_leader_election_master_status',
      help: '1 on the replica that holds the Lease and reconciles, 0 elsewhere.',
      registers,
    }),
    reconciles: new Counter({
      name: 'muster_reconcile_total',
      help: 'Decisions of the reconciler, by kind of key (single, group, queue) and result (success, error).',
      labelNames: ['kind', 'result'],
      registers,
    }),
    reconcileTime: new Histogram({
      name: 'muster_reconcile_time_seconds',
      help: 'Time of one decision with all its writes, by kind of key.',
      labelNames: ['kind'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    queueDepth: new Gauge({
      name: 'muster_workqueue_depth',
      help: 'Keys that wait for a worker of the reconciler.',
      registers,
    }),
    queueAdds: new Counter({
      name: 'muster_workqueue_adds_total',
      help: 'Keys that were put into the queue of the reconciler.',
      registers,
    }),
    queueRetries: new Counter({
      name: 'muster_workqueue_retries_total',
      help: 'Keys that were put back to be tried again later.',
      registers,
    }),
    queueTime: new Histogram({
      name: 'muster_workqueue_queue_duration_seconds',
      help: 'How long a key waited before a worker took it.',
      buckets: [0.0001, 0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 10, 60],
      registers,
    }),
    events: new Counter({
      name: 'muster_events_total',
      help: 'Events about pods, by what became of them (sent, known, overtaken, retried, dropped, failed).',
      labelNames: ['result'],
      registers,
    }),
    actions: new Counter({
      name: 'muster_actions_total',
      help: 'Writes of the reconciler, by action and result (done, stale, blocked, error).',
      labelNames: ['action', 'result'],
      registers,
    }),
    gateRemoval: new Histogram({
      name: 'muster_pod_scheduling_gate_removal_seconds',
      help: 'From the admission of a Workload to the removal of the gate, once per pod.',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300],
      registers,
    }),
    waitingPods: new Gauge({
      name: 'muster_waiting_pods',
      help: 'Pods that wait, by reason.',
      labelNames: ['reason'],
      registers,
    }),
  }
  beginWithZero(metrics)
  return metrics
}

/** Prometheus sees no increase in a series that begins with 1: the first error of all would wake nobody. */
function beginWithZero(metrics: Readonly<Record<'webhookCuts' | 'configurationChanges' | 'events', Counter>>): void {
  for (const reason of CUTS) metrics.webhookCuts.inc({ reason }, 0)
  for (const result of CHANGES) metrics.configurationChanges.inc({ result }, 0)
  for (const result of TOLD) metrics.events.inc({ result }, 0)
}

/** What one webhook counts. */
export interface WebhookRecorder {
  started(): void
  finished(): void
  decided(operation: Operation | undefined, verdict: VerdictLabel, seconds: number): void
  failed(cause: ErrorCause): void
}

/**
 * Reviews count in plain numbers, which a scrape moves into the registry: prom-client hashes and validates the labels
 * on every call, children included, and that showed in the throughput. Every series exists from the start with 0,
 * so that a rate over the first error is not lost.
 */
export function webhookRecorder(metrics: Metrics, webhook: string): WebhookRecorder {
  const observe = metrics.webhookLatency.series(webhook)
  const errors = new Map(CAUSES.map(cause => [cause, metrics.webhookErrors.labels(webhook, cause)]))
  for (const counter of errors.values()) counter.inc(0)
  let inFlight = 0
  const requests = OPERATIONS.map(operation => ({
    operation,
    counts: { allowed: 0, patched: 0, denied: 0, error: 0 },
  }))
  const byOperation = new Map(requests.map(({ operation, counts }) => [operation, counts]))

  metrics.tallies.add(() => {
    metrics.webhookInFlight.set({ webhook }, inFlight)
    for (const { operation, counts } of requests) {
      for (const verdict of VERDICTS) {
        metrics.webhookRequests.inc({ webhook, operation, verdict }, counts[verdict])
        counts[verdict] = 0
      }
    }
  })

  return {
    started: () => {
      inFlight++
    },
    finished: () => {
      inFlight--
    },
    decided: (operation, verdict, seconds) => {
      const counts = operation && byOperation.get(operation)
      if (counts !== undefined) counts[verdict]++
      observe(seconds)
    },
    failed: cause => errors.get(cause)?.inc(),
  }
}
