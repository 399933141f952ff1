import type { Configuration } from '../config/configuration.ts'
import { DEFAULT_SCHEDULER, type ServedScheduling } from '../kube/vocabulary/served-scheduling.ts'

/** Who places pods together: kube-scheduler by its PodGroups, KAI by its own, or nobody. */
export type Backend = 'kubernetes' | 'kai' | 'none'

type CoScheduling = Configuration['coScheduling']

/**
 * Which backend a pod of this scheduler is placed by. Webhooks and reconciler ask here, so that no pod is given the name
 * of a group that nobody makes. A backend that the configuration names and the server does not serve is none: who waits
 * for it is told by the readiness check.
 */
export function backendOf(
  schedulerName: string | null | undefined,
  { backend, kubernetes, kai }: CoScheduling,
  served: ServedScheduling,
): Backend {
  const scheduler = schedulerName || DEFAULT_SCHEDULER
  if (scheduler === kai.schedulerName) return served.kai && allows(backend, 'kai') ? 'kai' : 'none'
  if (!kubernetes.schedulerNames.includes(scheduler)) return 'none'
  return served.kubernetes?.podGroups === true && allows(backend, 'kubernetes') ? 'kubernetes' : 'none'
}

const allows = (configured: CoScheduling['backend'], backend: Backend): boolean =>
  configured === 'auto' || configured === backend

/** Why the backend that the configuration names cannot be used, or undefined if it can. */
export function missingBackend({ backend }: CoScheduling, served: ServedScheduling): string | undefined {
  if (backend === 'kubernetes' && served.kubernetes?.podGroups !== true) {
    return (
      'coScheduling.backend is kubernetes, and the API server serves no PodGroups of scheduling.k8s.io: switch on the ' +
      'feature gate GenericWorkload and the API (--runtime-config=scheduling.k8s.io/v1beta1=true), or set it to auto'
    )
  }
  if (backend === 'kai' && !served.kai) {
    return 'coScheduling.backend is kai, and the API server serves no podgroups.scheduling.run.ai: install KAI, or set it to auto'
  }
  return undefined
}
