import { describe, expect, it } from 'vitest'
import { type Cache, CacheSet } from '../../../../src/kube/cache/cache-set.ts'

/** A cache that is read when it is told so, and remembers what it was asked. */
class TestCache implements Cache {
  synced = false
  readonly asked: string[] = []
  start(): void {
    this.asked.push('start')
  }
  async stop(): Promise<void> {
    this.asked.push('stop')
  }
  async whenSynced(): Promise<void> {
    this.asked.push('whenSynced')
  }
  async refresh(): Promise<void> {
    this.asked.push('refresh')
  }
}

describe('caches that are one', () => {
  it('are read when each of them is, and not before they are started', () => {
    const [first, second] = [new TestCache(), new TestCache()]
    const set = new CacheSet([first, second])
    first.synced = true
    second.synced = true
    expect(set.synced).toBe(false)
    set.start()
    expect(set.synced).toBe(true)
    second.synced = false
    expect(set.synced).toBe(false)
  })

  it('are waited for and read again only once they are started, which they are once', async () => {
    const cache = new TestCache()
    const set = new CacheSet([cache])
    await Promise.all([set.whenSynced(), set.refresh()])
    expect(cache.asked).toEqual([])
    set.start()
    set.start()
    await Promise.all([set.whenSynced(), set.refresh()])
    expect(cache.asked).toEqual(['start', 'whenSynced', 'refresh'])
  })

  it('are stopped whether they were started or not', async () => {
    const cache = new TestCache()
    await new CacheSet([cache]).stop()
    expect(cache.asked).toEqual(['stop'])
  })
})
