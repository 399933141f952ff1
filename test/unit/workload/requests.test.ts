import { describe, expect, it } from 'vitest'
import { overdraft, podRequests, requestsIn } from '../../../src/workload/requests.ts'

describe('the requests of a pod', () => {
  const nano = 1_000_000_000n
  const container = (cpu: string, restartPolicy?: string) => ({
    name: 'c',
    resources: { requests: { cpu } },
    restartPolicy,
  })

  it('are the larger of its containers together and any init container', () => {
    const spec = { containers: [container('1'), container('500m')], initContainers: [container('2')] }
    expect(podRequests(spec).get('cpu')).toBe(2n * nano)
  })

  it('count a sidecar beside the containers and beside the init containers after it', () => {
    const spec = {
      containers: [container('1')],
      initContainers: [container('1', 'Always'), container('3'), container('1')],
    }
    expect(podRequests(spec).get('cpu')).toBe(4n * nano)
  })

  it('take a limit without a request for one, as the API server does', () => {
    const limited = (limits: Record<string, string>) => ({ name: 'c', resources: { limits, requests: { cpu: '1' } } })
    const asked = podRequests({ containers: [limited({ cpu: '4', memory: '1Gi' }), limited({ memory: '1Gi' })] })
    expect(asked).toEqual(
      new Map([
        ['cpu', 2n * nano],
        ['memory', (2n << 30n) * nano],
      ]),
    )
    const onPod = {
      containers: [container('1')],
      resources: { limits: { cpu: '4', memory: '1Gi', 'hugepages-2Mi': '4Mi' } },
    }
    expect(podRequests(onPod)).toEqual(
      new Map([
        ['cpu', nano],
        ['memory', (1n << 30n) * nano],
        ['hugepages-2Mi', (4n << 20n) * nano],
      ]),
    )
  })

  it('are a problem where one is below nothing or no quantity', () => {
    expect(requestsIn({ containers: [container('-1')] })).toEqual({ problem: expect.stringContaining('cpu is -1') })
    expect(requestsIn({ containers: [container('a lot')] })).toEqual({ problem: expect.stringContaining('no') })
    expect(requestsIn({ containers: 7 } as never)).toEqual({ problem: expect.any(String) })
  })

  it('take the pod level where it is given, and add overhead', () => {
    const spec = { containers: [container('1')], resources: { requests: { cpu: '5' } }, overhead: { cpu: '250m' } }
    expect(podRequests(spec).get('cpu')).toBe(5_250_000_000n)
  })
})

describe('what is asked beyond what was charged', () => {
  const nano = 1_000_000_000n
  const of = (entries: Readonly<Record<string, bigint>>) => new Map(Object.entries(entries))

  it('is nothing where each resource is covered', () => {
    expect(overdraft(of({ cpu: nano }), of({ cpu: nano, memory: 1n }))).toBeUndefined()
  })

  it('is told with both figures, also for a resource that was not charged at all', () => {
    const charged = of({ cpu: nano / 1000n })
    expect(overdraft(of({ cpu: 64n * nano }), charged)).toEqual({ resource: 'cpu', asked: '64', charged: '1m' })
    expect(overdraft(of({ gpu: nano }), charged)).toEqual({ resource: 'gpu', asked: '1', charged: '0' })
  })
})
