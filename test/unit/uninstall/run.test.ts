import { describe, expect, it } from 'vitest'
import { WORKLOADS } from '../../../src/engines/builtin/workloads.ts'
import { ApiError } from '../../../src/kube/vocabulary/api.ts'
import type { Clock } from '../../../src/kube/vocabulary/clock.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import { NARROW_KINDS, WIDE_KINDS } from '../../../src/uninstall/kinds.ts'
import type { Hands } from '../../../src/uninstall/perform.ts'
import type { Remains } from '../../../src/uninstall/remains.ts'
import { renderReport, reportDeed } from '../../../src/uninstall/report.ts'
import { leave } from '../../../src/uninstall/run.ts'
import { managedPod } from '../../support/pods.ts'

/** Pods alone, of which each write takes one away. `refuses` answers with an error. */
function cluster(names: readonly string[], refuses: (name: string) => Error | undefined) {
  const pods = new Map(names.map(name => [name, managedPod({ name, gates: [] })]))
  let most = 0
  let open = 0
  const api: Hands['api'] = {
    get: () => Promise.reject(new Error('nothing is awaited')),
    create: () => Promise.reject(new Error('nothing is created')),
    delete: () => Promise.reject(new Error('nothing is deleted')),
    async patch(_, { name }) {
      open += 1
      most = Math.max(most, open)
      await Promise.resolve()
      open -= 1
      const error = refuses(name)
      if (error !== undefined) throw error
      pods.delete(name)
      return { metadata: {} } as never
    },
  }
  const survey = async (): Promise<Remains> => ({
    wide: WIDE_KINDS.map(kind => ({ ...kind, objects: [] })),
    narrow: NARROW_KINDS.map(kind => ({ ...kind, objects: [] })),
    ...{ namespace: undefined, kueueWorkloads: undefined, podGroupVersion: undefined, kueueQueuesPods: false },
    ...{ jobs: [], podGroups: [], around: [], kaiPodGroups: [], workloads: { resource: WORKLOADS, objects: [] } },
    pods: [...pods.values()] as readonly Pod[],
  })
  return { api, survey, left: () => [...pods.keys()], most: () => most }
}

/** A clock of its own, on which a wait takes as long as it says and nobody waits. */
function leaving({ api, survey }: Pick<ReturnType<typeof cluster>, 'api' | 'survey'>) {
  let time = 0
  const clock: Clock = {
    now: () => time,
    monotonic: () => time,
    after(ms, callback) {
      queueMicrotask(() => {
        time += ms
        callback()
      })
      return () => {}
    },
  }
  const { signal } = new AbortController()
  return leave({ api, survey, clock, signal, choice: 'start', onProgress: () => {} })
}

const forbidden = () => new ApiError(403, 'Forbidden', 'a policy that is about to go says no')

describe('a leave', () => {
  it('does a bounded number of writes at once', async () => {
    const many = cluster(
      Array.from({ length: 100 }, (_, index) => `pod-${index}`),
      () => undefined,
    )
    const deed = await leaving(many)
    expect(many.left()).toEqual([])
    expect(many.most()).toBe(16)
    expect(deed.phases.get('FreePods')).toHaveLength(100)
  })

  it('tries again what is refused while a guard is about to go', async () => {
    let refusals = 5
    const one = cluster(['a', 'b'], name => (name === 'b' && refusals-- > 0 ? forbidden() : undefined))
    expect((await leaving(one)).left).toEqual([])
    expect(one.left()).toEqual([])
  })

  it('gives up what is refused for long, and says what and why', async () => {
    const one = cluster(['a', 'b'], name => (name === 'b' ? forbidden() : undefined))
    const deed = await leaving(one)
    expect(one.left()).toEqual(['b'])
    const text = renderReport(reportDeed(deed, 'start'))
    expect(text).toContain('Left: Pod ml/b: a policy that is about to go says no')
    expect(text).not.toContain('Nothing of Muster is left')
  })

  it('says of what somebody else writes back that it is left, and does not write it for ever', async () => {
    const pods = cluster(['a', 'b'], () => undefined)
    let writes = 0
    const patch = async (...[resource, ref, ...rest]: Parameters<typeof pods.api.patch>) => {
      if (ref.name === 'b') return pods.api.patch(resource, ref, ...rest)
      writes += 1
      return { metadata: {} } as never
    }
    const deed = await leaving({ ...pods, api: { ...pods.api, patch: patch as typeof pods.api.patch } })
    expect(deed.left).toEqual([{ what: 'Pod ml/a', message: expect.stringContaining('somebody else puts it back') }])
    expect(writes).toBeLessThan(40)
  })

  it('waits for what is told to go and is held, says what holds it, and does not delete it for ever', async () => {
    const deletionTimestamp = '2026-11-16T10:00:00Z'
    const held = { metadata: { name: 'muster', uid: 'u', deletionTimestamp, finalizers: ['example.com/theirs'] } }
    const none = cluster([], () => undefined)
    let deletions = 0
    const api = {
      ...none.api,
      get: async () => held,
      delete: async () => {
        deletions += 1
      },
    } as unknown as Hands['api']
    const survey = async (): Promise<Remains> => {
      const remains = await none.survey()
      const wide = remains.wide.map(kind =>
        kind.resource.kind === 'ClusterRoleBinding' ? { ...kind, objects: [held] } : kind,
      )
      return { ...remains, wide }
    }
    const { left } = await leaving({ api, survey })
    expect(left).toEqual([
      { what: 'ClusterRoleBinding muster', message: expect.stringContaining('see what holds it (metadata.finalizers') },
    ])
    expect(deletions).toBeLessThan(3)
  })

  it('takes what has gone by itself for done', async () => {
    const pods = cluster(['a'], () => undefined)
    const gone = new ApiError(404, 'NotFound', 'pods "a" not found')
    const api = {
      ...pods.api,
      patch: (...args: Parameters<typeof pods.api.patch>) => pods.api.patch(...args).then(() => Promise.reject(gone)),
    }
    expect((await leaving({ ...pods, api: api as typeof pods.api })).left).toEqual([])
  })
})
