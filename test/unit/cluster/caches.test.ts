import { describe, expect, it } from 'vitest'
import { knownOwner, ownerForCache } from '../../../src/cluster/owner-cache.ts'
import { boundedLookUp, slimNamespace, slimQueue } from '../../../src/cluster/world.ts'
import type { Fact } from '../../../src/server/asking-world.ts'

const identity = { name: 'a', namespace: 'ml', uid: 'u', resourceVersion: '7' }
const junk = { 'example.com/junk': 'x'.repeat(200_000) }

describe('what the caches behind the reviews keep', () => {
  it('of a namespace is its name and its labels, and of a queue its name', () => {
    const { namespace: _, ...named } = identity
    const hung = { metadata: { ...identity, labels: { team: 'a' }, annotations: junk } }
    expect(slimNamespace(hung)).toEqual({ metadata: { ...named, labels: { team: 'a' } } })
    expect(slimQueue(hung)).toEqual({ metadata: identity })
  })

  const reference = (kind: string, controller = false) => ({ apiVersion: 'v1', kind, name: 'b', uid: 'v', controller })

  it('of an owner is its queue and its controller', () => {
    const labels = { 'kueue.x-k8s.io/queue-name': 'q', ...junk }
    const ownerReferences = [...Array(9000).fill(reference('ConfigMap')), reference('JobSet', true)]
    const owner = { kind: 'Job', metadata: { ...identity, labels, annotations: junk, ownerReferences } }
    expect(ownerForCache(owner)).toEqual({
      kind: 'Job',
      metadata: {
        ...identity,
        labels: { 'kueue.x-k8s.io/queue-name': 'q' },
        ownerReferences: [reference('JobSet', true)],
      },
    })
  })

  it('of an owner that has gone before one of its name is not taken for that one', () => {
    const owner = { kind: 'Job', metadata: { ...identity, labels: { 'kueue.x-k8s.io/queue-name': 'q' } } }
    expect(knownOwner(owner, { uid: 'u' })).toEqual({ uid: 'u', labels: owner.metadata.labels, ownerReferences: [] })
    expect(knownOwner(owner, { uid: 'its successor' })).toBe('unknown')
    expect(knownOwner(undefined, { uid: 'u' })).toBe('unknown')
  })

  it('of a reference that can lead to nothing is nothing', () => {
    const owner = { metadata: { ...identity, ownerReferences: [reference('x'.repeat(2000), true)] } }
    expect(ownerForCache(owner)).toEqual({ metadata: identity })
  })
})

describe('look-ups', () => {
  it('are so many at a time and no more, and the places of those that have ended are free', async () => {
    const question = { kind: 'namespace', namespace: 'new' } as const
    let settle: (facts: readonly Fact[]) => void = () => {}
    const ask = boundedLookUp(
      () =>
        new Promise(resolve => {
          settle = resolve
        }),
      1,
    )
    const { signal } = new AbortController()
    const first = ask([question], signal)
    await expect(ask([question], signal)).rejects.toThrow('try again')
    settle([])
    expect(await first).toEqual([])
    const second = ask([question], signal)
    settle([])
    expect(await second).toEqual([])
  })
})
