import { describe, expect, it } from 'vitest'
import {
  CLUSTER_QUEUE_LABEL,
  LOCAL_QUEUE_LABEL,
  PODSET_LABEL,
  WORKLOAD_ANNOTATION,
} from '../../../src/kube/vocabulary/names.ts'
import { additionsTo, conflictWith, updateOf } from '../../../src/workload/pod-set-update.ts'
import type { PodSetUpdate, QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { managedPod } from '../../support/pods.ts'
import { ADMITTED, workloadOf } from '../../support/workloads.ts'

const GPU = { key: 'dedicated', operator: 'Equal', value: 'gpu', effect: 'NoSchedule' }

function admitted(place: PodSetUpdate = {}, clusterQueue = 'team-a'): QueuedWorkload {
  const workload = workloadOf([managedPod()], ADMITTED)
  const admission = { clusterQueue, podSetAssignments: [{ name: 'main', count: 1, ...place }] }
  return { ...workload, status: { ...workload.status, admission } }
}

function updateFor(workload: QueuedWorkload): PodSetUpdate {
  const [podSet] = workload.spec.podSets
  if (podSet === undefined) throw new Error('no podSet')
  return updateOf(workload, podSet)
}

describe('what a pod gets with its admission', () => {
  it('are the marks by which others account for it', () => {
    const workload = admitted()
    expect(updateFor(workload)).toEqual({
      labels: { [PODSET_LABEL]: 'main', [LOCAL_QUEUE_LABEL]: 'team-a', [CLUSTER_QUEUE_LABEL]: 'team-a' },
      annotations: { [WORKLOAD_ANNOTATION]: workload.metadata.name },
    })
  })

  it('leaves out a cluster queue whose name no label can hold', () => {
    expect(updateFor(admitted({}, 'a.long.name')).labels).not.toHaveProperty([CLUSTER_QUEUE_LABEL])
    expect(updateFor(admitted({}, 'q'.repeat(64))).labels).not.toHaveProperty([CLUSTER_QUEUE_LABEL])
  })

  it('has what the assignment of its podSet says, and not what another one says', () => {
    const place = { nodeSelector: { pool: 'gpu' }, tolerations: [GPU], labels: { a: 'b' }, annotations: { c: 'd' } }
    expect(updateFor(admitted(place))).toMatchObject(place)
    const other = admitted(place)
    const podSet = { name: 'other', count: 1, template: { spec: {} } }
    expect(updateOf(other, podSet)).not.toHaveProperty('nodeSelector')
  })
})

describe('merging it into the pod', () => {
  const update: PodSetUpdate = { labels: { a: '1' }, nodeSelector: { pool: 'gpu' }, tolerations: [GPU] }
  const pod = (spec: object = {}, labels: object = {}) => {
    const base = managedPod({ version: '77' })
    return {
      ...base,
      metadata: { ...base.metadata, labels: { ...base.metadata.labels, ...labels } },
      spec: { ...base.spec, ...spec },
    }
  }

  it('adds what is missing, with the version that was looked at', () => {
    expect(additionsTo(pod(), update)).toEqual({
      labels: { a: '1' },
      nodeSelector: { pool: 'gpu' },
      tolerations: [GPU],
      resourceVersion: '77',
    })
  })

  it('adds nothing that is there already, so that sending it twice is sending it once', () => {
    const done = pod({ nodeSelector: { pool: 'gpu' }, tolerations: [GPU] }, { a: '1' })
    expect(additionsTo(done, update)).toEqual({ resourceVersion: '77' })
    expect(conflictWith(done, update)).toBeUndefined()
  })

  it('appends tolerations to those of the pod, however long those last', () => {
    const own = { key: 'own', operator: 'Exists', tolerationSeconds: 300 }
    expect(additionsTo(pod({ tolerations: [own] }), update).tolerations).toEqual([own, GPU])
    const { operator: _, ...withoutOperator } = GPU
    const same = { ...withoutOperator, tolerationSeconds: 5 }
    expect(additionsTo(pod({ tolerations: [same] }), update)).not.toHaveProperty('tolerations')
  })

  it.each([
    [
      { nodeSelector: { pool: 'cpu' } },
      {},
      'conflict for nodeSelector: pod train says pool=cpu, and its admission pool=gpu',
    ],
    [{}, { a: '2' }, 'conflict for labels: pod train says a=2, and its admission a=1'],
  ])('never overwrites what the pod says: %j %j', (spec, labels, conflict) => {
    expect(conflictWith(pod(spec, labels), update)).toBe(conflict)
  })

  it('takes a key that every object inherits for what it is: not there', () => {
    const odd: PodSetUpdate = { labels: { constructor: 'x' } }
    expect(conflictWith(pod(), odd)).toBeUndefined()
    expect(additionsTo(pod(), odd).labels).toEqual({ constructor: 'x' })
  })
})
