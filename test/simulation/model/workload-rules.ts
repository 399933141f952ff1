import type { Resource } from '../../../src/kube/vocabulary/api.ts'
import { SCHEDULING_GROUP } from '../../../src/kube/vocabulary/served-scheduling.ts'
import { type FieldError, invalid } from '../../../src/validation/field-error.ts'
import { equal } from './patches.ts'
import type { Stored } from './server.ts'

interface Workload {
  readonly spec?: { readonly queueName?: string; readonly podSets?: readonly { name: string; count: number }[] }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/** Every engine has Workloads of its own kind; to the API server they are custom resources like any other. */
export const isWorkload = ({ kind, group }: Resource): boolean => kind === 'Workload' && group !== SCHEDULING_GROUP

/** The default of the CRD's schema. */
export function withWorkloadDefaults(object: Stored): Stored {
  const spec = object.spec as { active?: boolean | null } | undefined
  return { ...object, spec: { ...spec, active: spec?.active ?? true } }
}

/** The rules of the CRD: what quota was reserved for does not change. */
export function workloadUpdateProblem(before: Stored, after: Stored): FieldError | undefined {
  const [was, is] = [before as Workload, after as Workload]
  const reserved = was.status?.conditions?.some(({ type, status }) => type === 'QuotaReserved' && status === 'True')
  if (!reserved) return undefined
  if (!equal(shape(was), shape(is))) {
    return invalid('spec.podSets', is.spec?.podSets, 'spec.podSets cannot change while quota is reserved')
  }
  return was.spec?.queueName === is.spec?.queueName
    ? undefined
    : invalid('spec.queueName', is.spec?.queueName, 'spec.queueName cannot change while quota is reserved')
}

function shape({ spec }: Workload): unknown {
  return spec?.podSets?.map(({ name, count }) => [name, count])
}
