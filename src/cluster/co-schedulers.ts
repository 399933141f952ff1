import { kaiCoScheduler } from '../coscheduling/kai/co-scheduler.ts'
import { kubernetesCoScheduler } from '../coscheduling/kubernetes/co-scheduler.ts'
import type { CoScheduler } from '../reconciler/co-scheduler.ts'

/** Everybody who places units as a whole. Each looks after the pods that are marked for it, whatever is configured now. */
export const coSchedulers = (): readonly CoScheduler[] => [kubernetesCoScheduler, kaiCoScheduler]
