import { describe, expect, it } from 'vitest'
import { podGrouperRemark } from '../../../src/cluster/pod-grouper-watch.ts'

const deployment = (args: readonly string[], replicas = 1) => ({
  metadata: { name: 'pod-grouper', namespace: 'kai-scheduler' },
  spec: { replicas, template: { spec: { containers: [{ args }] } } },
})

describe("the remark on KAI's own pod-grouper", () => {
  it('is made when no flag keeps it away', () => {
    expect(podGrouperRemark(deployment(['--scheduler-name', 'kai-scheduler']))).toContain('groups every pod anew')
  })

  it.each([
    ['it is not there', undefined],
    ['it is switched off', deployment([], 0)],
    ['it is for some pods', deployment(['--pod-label-selector', 'app=training'])],
    ['it is for some namespaces', deployment(['--namespace-label-selector=team=ai'])],
  ])('is not made when %s', (_, found) => {
    expect(podGrouperRemark(found)).toBeUndefined()
  })
})
