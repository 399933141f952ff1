import { describe, expect, it } from 'vitest'
import { workloadRequests } from '../../../src/engines/builtin/requests.ts'
import { workloadForCache } from '../../../src/engines/builtin/workloads.ts'
import { managedPod } from '../../support/pods.ts'
import { workloadOf } from '../../support/workloads.ts'

describe('what the cache keeps of a Workload', () => {
  const pod = managedPod({ cpu: '3' })

  it('asks for as much as the Workload itself, in a fraction of the space', () => {
    const workload = workloadOf([pod])
    const podSets = workload.spec.podSets.map(podSet => ({
      ...podSet,
      template: { spec: { ...podSet.template.spec, volumes: [{ name: 'data', emptyDir: {} }] } },
    }))
    const whole = { ...workload, spec: { ...workload.spec, podSets } }
    const kept = workloadForCache(whole)
    expect(workloadRequests(kept)).toEqual(workloadRequests(whole))
    expect(JSON.stringify(kept.spec)).not.toContain('volumes')
    expect(kept.metadata).toEqual(workload.metadata)
  })

  it('is of the marks that others hang on it nothing', () => {
    const workload = workloadOf([pod])
    const { metadata } = workload
    const annotations = { ...metadata.annotations, 'example.com/junk': 'x'.repeat(200_000) }
    const hung = { ...workload, metadata: { ...metadata, labels: { 'example.com/junk': 'x' }, annotations } }
    expect(workloadForCache(hung).metadata).toEqual(metadata)
  })
})

describe('a Workload', () => {
  it('holds of its pods only what admission reads', () => {
    const large = { ...managedPod(), spec: { ...managedPod().spec, volumes: [{ name: 'data' }], nodeName: 'n1' } }
    expect(workloadOf([large]).spec.podSets.map(({ template }) => template.spec)).toEqual([
      { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] },
    ])
  })
})
