import { JOB_WEBHOOKS } from './jobs/jobs.ts'
import { QUEUE_LABEL_WEBHOOKS } from './jobs/queue-label.ts'
import { POD_GROUP_WEBHOOKS } from './pod-groups/pod-groups.ts'
import { BINDING_WEBHOOKS } from './pods/binding.ts'
import { POD_WEBHOOKS } from './pods/pods.ts'
import type { Webhook } from './webhook.ts'
import { WORKLOAD_WEBHOOKS } from './workloads/workloads.ts'

/** Every webhook of Muster. A thread of its own can be told to run one of these by its name. */
export const WEBHOOKS: readonly Webhook[] = [
  ...POD_WEBHOOKS,
  ...BINDING_WEBHOOKS,
  ...JOB_WEBHOOKS,
  ...WORKLOAD_WEBHOOKS,
  ...QUEUE_LABEL_WEBHOOKS,
  ...POD_GROUP_WEBHOOKS,
]
