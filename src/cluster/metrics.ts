import type { CacheObserver } from '../kube/cache/observer.ts'
import type { Metrics } from '../server/metrics.ts'
import type { ControllerDeps } from './controller.ts'
import type { WatchMonitor } from './watch-monitor.ts'

/** The controller's port to the metrics registry. */
export function controllerMetrics(metrics: Metrics): ControllerDeps['metrics'] {
  return {
    reconciled: (kind, result, seconds) => {
      metrics.reconciles.inc({ kind, result })
      metrics.reconcileTime.observe({ kind }, seconds)
    },
    acted: (action, result) => metrics.actions.inc({ action, result }),
    lifted: seconds => metrics.gateRemoval.observe(seconds),
    leading: leads => metrics.leader.set(leads ? 1 : 0),
    told: result => metrics.events.inc({ result }),
    waiting: (reason, pods) => metrics.waitingPods.set({ reason }, pods),
    queue: {
      depth: keys => metrics.queueDepth.set(keys),
      add: () => metrics.queueAdds.inc(),
      retry: () => metrics.queueRetries.inc(),
      latency: seconds => metrics.queueTime.observe(seconds),
    },
  }
}

export function cacheObserver(metrics: Metrics, monitor: Pick<WatchMonitor, 'watch' | 'unwatch'>): CacheObserver {
  return {
    started: cache => {
      monitor.watch(cache)
      // Prometheus sees no increase in a series that begins with 1.
      metrics.cacheErrors.inc({ resource: cache.resource.plural }, 0)
      metrics.watchRestarts.inc({ resource: cache.resource.plural, reason: 'silence' }, 0)
    },
    stopped: cache => monitor.unwatch(cache),
    relisted: ({ plural }, reason) => metrics.relists.inc({ resource: plural, reason }),
    restarted: ({ plural }, reason) => metrics.watchRestarts.inc({ resource: plural, reason }),
    failed: ({ plural }) => metrics.cacheErrors.inc({ resource: plural }),
  }
}
