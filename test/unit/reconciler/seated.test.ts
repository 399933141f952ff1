import { describe, expect, it } from 'vitest'
import { ApiError, type KubeApi, type ListOptions } from '../../../src/kube/vocabulary/api.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import { perform } from '../../../src/reconciler/perform.ts'
import type { Action } from '../../../src/workload/actions.ts'
import { managedPod, type PodOptions } from '../../support/pods.ts'

const member = (name: string, more: PodOptions = {}): Pod => managedPod({ name, group: 'gang', count: 2, ...more })
const target = (name: string) => ({ namespace: 'ml', name, uid: `uid-${name}` })
const dismissal: Action = {
  ...{ kind: 'WhileSeated', namespace: 'ml', labelSelector: 'group=gang' },
  seated: [target('a'), target('b')],
  actions: [{ kind: 'DeletePod', pod: target('late') }],
}

/** Lists what is selected, and answers for each of the others. */
async function attempt(action: Action, selected: readonly Pod[], others: readonly Pod[] = []) {
  const calls: string[] = []
  const seen: unknown[] = []
  const api = {
    list: async (_: unknown, { labelSelector }: ListOptions) => {
      calls.push(`list ${labelSelector}`)
      return { items: selected }
    },
    get: async (_: unknown, { name }: { name: string }) => {
      calls.push(`get ${name}`)
      const found = others.find(pod => pod.metadata.name === name)
      if (found === undefined) throw new ApiError(404, 'NotFound', 'not found')
      return found
    },
    delete: async (_: unknown, { name }: { name: string }) => calls.push(`delete ${name}`),
  } as unknown as KubeApi
  const { kind } = await perform(action, api, (_, object) => seen.push(object.metadata.name))
  return { kind, calls, seen }
}

describe('a pod for which there is no place', () => {
  const running = member('a', { gates: [], nodeName: 'node-1', phase: 'Running' })
  const failed = member('b', { gates: [], nodeName: 'node-1', phase: 'Failed' })

  it('is deleted while all that have the places are there', async () => {
    const { kind, calls } = await attempt(dismissal, [running, member('b'), member('late')])
    expect(kind).toBe('done')
    expect(calls.slice(0, 2)).toEqual(['list group=gang', 'delete late'])
  })

  it('stays when one of them has failed, which no watch has told yet, and is told from here on', async () => {
    const { kind, calls, seen } = await attempt(dismissal, [running, failed, member('late')])
    expect({ kind, calls, seen }).toEqual({ kind: 'stale', calls: ['list group=gang'], seen: ['b'] })
  })

  it('stays when one of them is gone, or another has its name', async () => {
    expect(await attempt(dismissal, [running])).toMatchObject({ kind: 'stale', calls: ['list group=gang', 'get b'] })
    const successor = member('b', { uid: 'uid-of-another' })
    expect(await attempt(dismissal, [running, successor], [successor])).toMatchObject({ kind: 'stale', seen: ['b'] })
  })

  it('is deleted, too, where those that have the places are found by their names alone', async () => {
    const { labelSelector: _, ...byName } = dismissal as Extract<Action, { kind: 'WhileSeated' }>
    const { kind, calls } = await attempt(byName, [], [running, member('b')])
    expect(kind).toBe('done')
    expect(calls.slice(0, 3)).toEqual(['get a', 'get b', 'delete late'])
  })
})
