import { describe, expect, it } from 'vitest'
import type { OptionalInformer } from '../../../src/kube/cache/optional-informer.ts'
import type { EventRecorder } from '../../../src/kube/coordination/events.ts'
import type { Resource } from '../../../src/kube/vocabulary/api.ts'
import { GROUPED, SCHEDULING } from '../../../src/kube/vocabulary/names.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { SCHEDULING_WORKLOADS } from '../../../src/kube/vocabulary/resources.ts'
import { GroupedJobs } from '../../../src/reconciler/grouped/grouped-jobs.ts'
import type { Outcome, Performer } from '../../../src/reconciler/performer.ts'
import { workloadName } from '../../../src/workload/builder/names.ts'
import {
  GROUPED_JOB_SET,
  type GroupedKind,
  type GroupedObject,
  groupedForCache,
} from '../../../src/workload/grouped/grouped-object.ts'
import { SERVERS } from '../workload/grouped/served.ts'

const JOB_SET = {
  apiVersion: 'jobset.x-k8s.io/v1alpha2',
  kind: 'JobSet',
  metadata: {
    ...{ name: 'set', namespace: 'ml', uid: 'set-uid', labels: { [GROUPED]: 'true' } },
    annotations: { [SCHEDULING]: '{"schedulingPolicy": {"gang": {}}}' },
  },
  spec: {
    replicatedJobs: ['driver', 'workers'].map(name => ({
      name,
      replicas: 1,
      template: { spec: { parallelism: 2, template: { spec: {} } } },
    })),
  },
} as KubeObject

const WORKLOAD = {
  metadata: {
    ...{ name: workloadName('set', 'set-uid'), namespace: 'ml', uid: 'workload-uid' },
    ownerReferences: [
      { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'set', uid: 'set-uid', controller: true },
    ],
  },
  spec: { podGroupTemplates: [] },
} as KubeObject

/** One object, and nobody who changes it. */
const holding = <T extends KubeObject>(object: T) =>
  ({ subscribe: () => () => {}, get: () => object, byIndex: () => [] }) as unknown as OptionalInformer<T>

describe('what the scheduler needs for a JobSet', () => {
  it('is decided anew when all writes of the last time have ended, also if one of them failed', async () => {
    const writes: { readonly end: (outcome: Outcome) => void; readonly fail: (error: Error) => void }[] = []
    const performAll = () => new Promise<Outcome>((end, fail) => writes.push({ end, fail }))
    const grouped = new GroupedJobs({
      jobs: new Map<GroupedKind, OptionalInformer<GroupedObject>>([
        [GROUPED_JOB_SET, holding(groupedForCache(GROUPED_JOB_SET, JOB_SET))],
      ]),
      scheduling: new Map<Resource, OptionalInformer<KubeObject>>([[SCHEDULING_WORKLOADS.v1beta1, holding(WORKLOAD)]]),
      served: () => SERVERS.generic,
      events: { record: () => {}, forget: () => {} } as unknown as EventRecorder,
      add: () => {},
    })
    let over = false
    const looked = grouped.reconcile('grouped-jobset/ml/set', { performAll } as unknown as Performer, 1).finally(() => {
      over = true
    })
    const refused = expect(looked).rejects.toThrow('refused')
    expect(writes).toHaveLength(2)
    writes[0]?.fail(new Error('refused'))
    await new Promise(resolve => setImmediate(resolve))
    expect(over).toBe(false)
    writes[1]?.end('settled')
    await refused
  })
})
