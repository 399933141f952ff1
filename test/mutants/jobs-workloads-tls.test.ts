import { JOB_BLOCK_FAMILIES } from './bugs/job-blocks.ts'
import { JOB_GROUP_FAMILIES } from './bugs/job-groups.ts'
import { JOB_QUEUE_FAMILIES } from './bugs/job-queues.ts'
import { TLS_FAMILIES } from './bugs/tls.ts'
import { WORKLOAD_FAMILIES } from './bugs/workloads.ts'
import { expectAllFound } from './families.ts'

expectAllFound([
  ...[...JOB_BLOCK_FAMILIES, ...JOB_QUEUE_FAMILIES, ...JOB_GROUP_FAMILIES],
  ...[...WORKLOAD_FAMILIES, ...TLS_FAMILIES],
])
