import { expect } from 'vitest'
import type { OwnerReference } from '../../../../src/kube/vocabulary/objects.ts'
import type { FieldError } from '../../../../src/validation/field-error.ts'
import { buildWorkload } from '../../../../src/workload/builder/build.ts'
import type {
  Built,
  MaybeItem,
  SchedulingCallback,
  SchedulingConfig,
  WorkloadItem,
} from '../../../../src/workload/builder/item.ts'
import type {
  CompositePodGroupTemplate,
  PodGroupTemplate,
  SchedulingWorkload,
} from '../../../../src/workload/builder/objects.ts'

export const ZONE = 'topology.kubernetes.io/zone'
export const JOB_OWNER: OwnerReference = { apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: 'job-uid' }
export const IDENTITY = { name: 'wl', namespace: 'ns', owner: JOB_OWNER }

export const BASIC: SchedulingConfig = { policy: { basic: {} } }
export const gang = (minCount: number): SchedulingConfig => ({ policy: { gang: { minCount } } })

export const gangItem: WorkloadItem = { name: 'pgt-0', input: { policy: { group: { gang: { minCount: 3 } } } } }

export const compositeItem: WorkloadItem = {
  name: 'cpgt-0',
  defaults: gang(2),
  children: [
    { name: 'pgt-0', defaults: BASIC },
    { name: 'cpgt-1', defaults: gang(2), children: [{ name: 'pgt-1', defaults: BASIC }] },
  ],
}

/** Fills in the size of a gang that names none. */
export const gangSize =
  (minCount: number): SchedulingCallback =>
  config =>
    config.policy?.gang !== undefined && config.policy.gang.minCount === undefined
      ? { ...config, policy: { gang: { minCount } } }
      : config

export function ok<T>(built: Built<T>): T {
  if ('errors' in built) throw new Error(`unexpected errors: ${JSON.stringify(built.errors)}`)
  return built.ok
}

export function errorsOf<T>(built: Built<T>): readonly FieldError[] {
  if ('ok' in built) throw new Error(`expected errors, got ${JSON.stringify(built.ok)}`)
  return built.errors
}

export const build = (root: MaybeItem): SchedulingWorkload => ok(buildWorkload(root, IDENTITY))

export function soleTemplate(root: WorkloadItem): PodGroupTemplate {
  const { podGroupTemplates = [], compositePodGroupTemplates } = build(root).spec
  expect(compositePodGroupTemplates).toBeUndefined()
  return only(podGroupTemplates)
}

export function soleComposite(root: WorkloadItem): CompositePodGroupTemplate {
  const { podGroupTemplates, compositePodGroupTemplates = [] } = build(root).spec
  expect(podGroupTemplates).toBeUndefined()
  return only(compositePodGroupTemplates)
}

export function only<T>(list: readonly T[]): T {
  expect(list).toHaveLength(1)
  return list[0] as T
}
