import { JOB_FAMILIES } from './bugs/jobs.ts'
import { TLS_FAMILIES } from './bugs/tls.ts'
import { WORKLOAD_FAMILIES } from './bugs/workloads.ts'
import { expectAllFound } from './families.ts'

expectAllFound([...JOB_FAMILIES, ...WORKLOAD_FAMILIES, ...TLS_FAMILIES])
