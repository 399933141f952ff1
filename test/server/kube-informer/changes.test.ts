import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { converged, createInformer, PATH, pod, server, started, useServer } from './fixtures.ts'

useServer()

describe('changes', () => {
  it('tell a recreation while away as the end of one object and the start of another', async () => {
    const { informer, changes } = await started()
    changes.length = 0
    server.resetConnections()
    server.remove(PATH, 'team', 'a')
    server.put(PATH, pod('a'))
    server.compact()
    await converged(informer)
    expect(changes).toEqual(['deleted uid-1', 'added uid-4'])
  })

  it('tell a recreation that the watch shows as one modification in the same way', async () => {
    const { changes } = await started()
    changes.length = 0
    const [watch] = server.watches
    if (!watch) throw new Error('no watch is open')
    const object = { metadata: { namespace: 'team', name: 'a', uid: 'other', resourceVersion: '200' } }
    server.write(watch, { type: 'MODIFIED', object })
    await eventually('both changes are told', () => changes.length === 2)
    expect(changes).toEqual(['deleted uid-1', 'added other'])
  })

  it('reach the other subscribers and the store when one subscriber throws', async () => {
    const { informer, log, failures } = createInformer()
    informer.subscribe(() => {
      throw new Error('boom')
    })
    const seen: string[] = []
    const unsubscribe = informer.subscribe(({ object }) => seen.push(object.metadata.name ?? ''))
    informer.start()
    await informer.whenSynced()
    expect(seen).toEqual(['a', 'b', 'c'])
    expect(failures).toHaveLength(3)
    expect(log.lines).toHaveLength(3)
    unsubscribe()
    server.put(PATH, pod('d'))
    await converged(informer)
    expect(seen).toEqual(['a', 'b', 'c'])
  })

  it('include our own writes before the watch shows them, once', async () => {
    const { informer, changes } = await started()
    changes.length = 0
    const [watch] = server.watches
    if (!watch) throw new Error('no watch is open')
    server.watches.delete(watch)
    const written = server.put(PATH, pod('a', { mine: 'yes' }))
    expect(informer.offer(written)).toBe(true)
    expect(informer.get('team', 'a')?.metadata.labels?.mine).toBe('yes')
    server.write(watch, { type: 'MODIFIED', object: written })
    server.write(watch, {
      type: 'DELETED',
      object: { metadata: { ...pod('c').metadata, uid: 'uid-3', resourceVersion: '900' } },
    })
    await eventually('the watch has gone on', () => informer.size === 2)
    expect(changes).toEqual(['updated uid-1', 'deleted uid-3'])
  })

  it('take no offer that a filtered watch might never show', async () => {
    const { informer } = await started({ labelSelector: 'queue' })
    const offered = { metadata: { namespace: 'team', name: 'x', uid: 'ux', resourceVersion: '9999' } }
    expect(informer.offer(offered)).toBe(false)
    const { informer: knowing } = await started({ labelSelector: 'queue', accepts: () => true })
    expect(knowing.offer(offered)).toBe(true)
  })
})
