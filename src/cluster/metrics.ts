import type { ReconcilerMetrics } from '../reconciler/loop.ts'
import type { Metrics } from '../server/metrics.ts'

/** The reconciler's port to the metrics registry. */
export function reconcilerMetrics(metrics: Metrics): ReconcilerMetrics {
  return {
    reconciled: (kind, result, seconds) => {
      metrics.reconciles.inc({ kind, result })
      metrics.reconcileTime.observe({ kind }, seconds)
    },
    acted: (action, result) => metrics.actions.inc({ action, result }),
    lifted: seconds => metrics.gateRemoval.observe(seconds),
    waiting: (reason, pods) => metrics.waitingPods.set({ reason }, pods),
  }
}
