import { describe, expect, it } from 'vitest'
import { workloadRequests } from '../../../src/engines/builtin/requests.ts'
import { composeWorkload, workloadForCache } from '../../../src/engines/builtin/workloads.ts'
import { composeSingle } from '../../../src/workload/compose.ts'
import { managedPod } from '../../support/pods.ts'

describe('what the cache keeps of a Workload', () => {
  it('asks for as much as the Workload itself, in a fraction of the space', () => {
    const pod = managedPod({ cpu: '3' })
    const spec = { ...pod.spec, volumes: [{ name: 'data', emptyDir: {} }] }
    const workload = composeWorkload(composeSingle('w', { ...pod, spec } as typeof pod))
    const kept = workloadForCache(workload)
    expect(JSON.stringify(workload.spec)).toContain('volumes')
    expect(workloadRequests(kept)).toEqual(workloadRequests(workload))
    expect(JSON.stringify(kept.spec)).not.toContain('volumes')
    expect(kept.metadata).toEqual(workload.metadata)
  })
})
