import { describe, expect, it } from 'vitest'
import { type Change, ObjectStore } from '../../../../src/kube/cache/store.ts'
import type { KubeObject, ObjectMeta } from '../../../../src/kube/vocabulary/objects.ts'
import { compareVersions } from '../../../../src/kube/vocabulary/versions.ts'

function object(name: string, uid: string, version: number, more: ObjectMeta = {}): KubeObject {
  return { metadata: { namespace: 'ns', name, uid, resourceVersion: String(version), ...more } }
}

function createStore(accepts: (object: KubeObject) => boolean = () => true) {
  const changes: string[] = []
  const errors: string[] = []
  const store = new ObjectStore<KubeObject>({
    accepts,
    indexes: {
      app: ({ metadata }) => (metadata.labels?.app ? [metadata.labels.app] : []),
      fragile: ({ metadata }) => {
        if (metadata.name === 'poison') throw new Error('cannot digest')
        return ['all']
      },
    },
    onChange: (change: Change<KubeObject>) => {
      const { metadata } = change.object
      changes.push(`${change.type} ${metadata.uid}@${metadata.resourceVersion}`)
    },
    onIndexError: index => errors.push(index),
  })
  const replace = (version: number, ...objects: KubeObject[]) => {
    const items = new Map(objects.map(item => [`ns/${item.metadata.name}`, item]))
    let steps = 0
    for (const _ of store.replace(items, String(version))) steps++
    return steps
  }
  const taken = () => changes.splice(0)
  return { store, replace, taken, errors }
}

describe('resource versions', () => {
  it('compare as numbers of any size', () => {
    expect(compareVersions('9', '10')).toBeLessThan(0)
    expect(compareVersions('18446744073709551616', '18446744073709551615')).toBeGreaterThan(0)
    expect(compareVersions('7', '7')).toBe(0)
    expect(compareVersions(undefined, '1')).toBeLessThan(0)
  })
})

describe('the store under a watch', () => {
  it('drops events that are older than what it holds of the same object', () => {
    const { store, taken } = createStore()
    store.upsert(object('a', 'u1', 5))
    store.upsert(object('a', 'u1', 4))
    store.upsert(object('a', 'u1', 5))
    store.upsert(object('a', 'u1', 6))
    expect(taken()).toEqual(['added u1@5', 'updated u1@6'])
  })

  it('tells a recreation under the same name as deleted, then added', () => {
    const { store, taken } = createStore()
    store.upsert(object('a', 'u1', 5))
    store.upsert(object('a', 'u2', 8))
    expect(taken()).toEqual(['added u1@5', 'deleted u1@5', 'added u2@8'])
  })

  it('ignores late news of an object whose name belongs to a younger one by now', () => {
    const { store, taken } = createStore()
    store.upsert(object('a', 'u2', 8))
    store.upsert(object('a', 'u1', 6))
    store.remove(object('a', 'u1', 7))
    expect(taken()).toEqual(['added u2@8'])
    expect(store.get('ns', 'a')?.metadata.uid).toBe('u2')
  })

  it('removes the older holder of a name when the deletion of a younger one arrives', () => {
    const { store, taken } = createStore()
    store.upsert(object('a', 'u1', 5))
    store.remove(object('a', 'u2', 9))
    expect(taken()).toEqual(['added u1@5', 'deleted u1@5'])
    expect(store.size).toBe(0)
  })

  it('keeps indexes in step and survives an index function that throws', () => {
    const { store, errors } = createStore()
    store.upsert(object('a', 'u1', 1, { labels: { app: 'x' } }))
    store.upsert(object('b', 'u2', 2, { labels: { app: 'x' } }))
    store.upsert(object('a', 'u1', 3, { labels: { app: 'y' } }))
    store.upsert(object('poison', 'u3', 4))
    expect(store.byIndex('app', 'x').map(({ metadata }) => metadata.name)).toEqual(['b'])
    expect(store.byIndex('app', 'y').map(({ metadata }) => metadata.resourceVersion)).toEqual(['3'])
    store.remove(object('b', 'u2', 5))
    expect(store.byIndex('app', 'x')).toEqual([])
    expect(store.byIndex('fragile', 'all')).toHaveLength(1)
    expect(errors).toEqual(['fragile'])
    expect(store.get('ns', 'poison')).toBeDefined()
    expect(() => store.byIndex('nope', 'x')).toThrow('no index "nope"')
  })
})

describe('the store on a new list', () => {
  it('finds what is gone, new, changed and recreated, and leaves the rest alone', () => {
    const { store, replace, taken } = createStore()
    replace(10, object('same', 'u1', 1), object('gone', 'u2', 2), object('new-uid', 'u3', 3), object('edit', 'u4', 4))
    taken()
    replace(20, object('same', 'u1', 1), object('new-uid', 'u9', 19), object('edit', 'u4', 15), object('new', 'u5', 16))
    expect(taken()).toEqual(['deleted u3@3', 'added u9@19', 'updated u4@15', 'added u5@16', 'deleted u2@2'])
    expect(store.version).toBe('20')
  })

  it('keeps what our own writes brought in after the list was taken', () => {
    const { store, replace, taken } = createStore()
    replace(10, object('a', 'u1', 5))
    store.offer(object('a', 'u1', 13))
    store.offer(object('b', 'u2', 14))
    taken()
    replace(12, object('a', 'u1', 11))
    expect(taken()).toEqual([])
    expect(store.get('ns', 'a')?.metadata.resourceVersion).toBe('13')
    expect(store.get('ns', 'b')).toBeDefined()
  })

  it('believes a consistent list even when the history has gone backwards', () => {
    const { store, replace, taken } = createStore()
    replace(1000, object('a', 'u1', 900), object('b', 'u2', 950))
    taken()
    replace(500, object('a', 'u1', 400))
    expect(taken()).toEqual(['updated u1@400', 'deleted u2@950'])
    expect(store.version).toBe('500')
  })

  it('takes 200,000 objects in steps, so that nobody waits for all of them', () => {
    const { store, replace } = createStore()
    const many = Array.from({ length: 200_000 }, (_, index) => object(`pod-${index}`, `u${index}`, index + 1))
    expect(replace(200_000, ...[])).toBe(0)
    const items = new Map(many.map(item => [`ns/${item.metadata.name}`, item]))
    let steps = 0
    for (const _ of store.replace(items, '300000')) steps++
    expect(steps).toBeGreaterThanOrEqual(400)
    expect(store.byIndex('fragile', 'all')).toHaveLength(200_000)
  })
})

describe('an object that is held already', () => {
  it('is not held twice while a list comes in', () => {
    const { store } = createStore()
    const held = object('a', 'u1', 5)
    store.upsert(held)
    expect(store.orStored(object('a', 'u1', 5))).toBe(held)
    for (const other of [object('a', 'u1', 6), object('a', 'u2', 5), object('b', 'u1', 5)]) {
      expect(store.orStored(other)).toBe(other)
    }
  })
})

describe('offers of our own writes', () => {
  it('are taken when newer, and then the same news from the watch is no news', () => {
    const { store, taken } = createStore()
    store.upsert(object('a', 'u1', 5))
    expect(store.offer(object('a', 'u1', 8))).toBe(true)
    expect(store.offer(object('a', 'u1', 7))).toBe(false)
    store.upsert(object('a', 'u1', 6))
    store.upsert(object('a', 'u1', 8))
    expect(taken()).toEqual(['added u1@5', 'updated u1@8'])
    expect(store.version).toBe('8')
  })

  it('of an unknown object count only if the watch has not passed them', () => {
    const { store, taken } = createStore()
    store.advance('10')
    expect(store.offer(object('a', 'u1', 9))).toBe(false)
    expect(store.offer(object('b', 'u2', 11))).toBe(true)
    expect(taken()).toEqual(['added u2@11'])
    expect(store.version).toBe('10')
  })

  it('that end an object end it for good, although the answer has the old version and old events follow', () => {
    const { store, taken } = createStore()
    const ending = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 }
    store.upsert(object('a', 'u1', 5, { ...ending, finalizers: ['x'] }))
    expect(store.offer(object('a', 'u1', 5, { ...ending, finalizers: [] }))).toBe(true)
    store.upsert(object('a', 'u1', 6, ending))
    expect(store.offer(object('a', 'u1', 7))).toBe(false)
    store.remove(object('a', 'u1', 8))
    store.upsert(object('a', 'u2', 9))
    expect(taken()).toEqual(['added u1@5', 'deleted u1@5', 'added u2@9'])
  })

  it('that end an object of which the watch has not told yet end it, too, and are forgotten with it', () => {
    const { store, taken } = createStore(({ metadata }) => metadata.labels?.mine === 'yes')
    const ended = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0, labels: { mine: 'yes' } }
    store.advance('4')
    expect(store.offer(object('a', 'u1', 6, ended))).toBe(false)
    store.upsert(object('a', 'u1', 5, { labels: { mine: 'yes' } }))
    expect(store.size).toBe(0)
    store.remove(object('a', 'u1', 8))
    // What the watch has passed, and what it never shows, nobody would ever strike off.
    store.offer(object('b', 'u2', 7, ended))
    store.offer(object('c', 'u3', 20, { ...ended, labels: {} }))
    store.upsert(object('b', 'u2', 9, { labels: { mine: 'yes' } }))
    store.upsert(object('c', 'u3', 21, { labels: { mine: 'yes' } }))
    expect(taken()).toEqual(['added u2@9', 'added u3@21'])
  })

  it('do not end a pod that still has its grace period', () => {
    const { store } = createStore()
    store.upsert(object('a', 'u1', 5))
    const terminating = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 }
    store.offer(object('a', 'u1', 6, terminating))
    expect(store.get('ns', 'a')?.metadata.resourceVersion).toBe('6')
  })

  it('that leave the selector leave the store until a newer event brings them back', () => {
    const { store, taken } = createStore(({ metadata }) => metadata.labels?.mine === 'yes')
    const mine = { labels: { mine: 'yes' } }
    store.upsert(object('a', 'u1', 5, mine))
    expect(store.offer(object('a', 'u1', 8))).toBe(true)
    store.upsert(object('a', 'u1', 7, mine))
    expect(store.size).toBe(0)
    store.remove(object('a', 'u1', 8))
    store.upsert(object('a', 'u1', 9, mine))
    expect(taken()).toEqual(['added u1@5', 'deleted u1@8', 'added u1@9'])
    expect(store.offer(object('other', 'u7', 20))).toBe(false)
  })

  it('of a recreated object replace the old one', () => {
    const { store, taken } = createStore()
    store.upsert(object('a', 'u1', 5))
    store.offer(object('a', 'u2', 9))
    store.remove(object('a', 'u1', 8))
    expect(taken()).toEqual(['added u1@5', 'deleted u1@5', 'added u2@9'])
  })

  it('without uid or version are refused', () => {
    const { store } = createStore()
    expect(store.offer({ metadata: { name: 'a' } })).toBe(false)
  })
})
