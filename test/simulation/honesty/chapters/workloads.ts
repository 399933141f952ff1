import { WORKLOADS } from '../../../../src/engines/builtin/workloads.ts'
import { condition, KEEP, OTHER_UID, workload } from '../objects.ts'
import type { Chapter } from '../play.ts'

export const workloads: Chapter = {
  name: 'workloads',
  async play(p) {
    const it = p.at('it')
    const status = p.at('it', 'status')
    const merge = (step: string, body: object) => p.merge(step, WORKLOADS, it, body)
    const mergeStatus = (step: string, body: object) => p.merge(step, WORKLOADS, status, body)
    const created = await p.create('a Workload', WORKLOADS, workload('it', { labels: { a: '1' } }))
    const { uid, resourceVersion } = created.metadata
    const podSets = (created.spec as { podSets: readonly object[] }).podSets

    await p.strategic('a strategic merge', WORKLOADS, it, { metadata: { labels: { a: '2' } } })
    await p.strategic('a strategic merge of nobody', WORKLOADS, p.at('nobody'), { metadata: { labels: { a: '2' } } })
    await p.strategic('a strategic merge of the status', WORKLOADS, status, { status: { pods: 1 } })

    await merge('another queue', { spec: { queueName: 'team-b' } })
    await merge('the same queue', { spec: { queueName: 'team-b' } })
    await merge('not active', { spec: { active: false } })
    await merge('active by default', { spec: { active: null } })
    await merge('more pods', { spec: { podSets: podSets.map(set => ({ ...set, count: 2 })) } })

    await merge('a status where the spec is', { status: { pods: 2 } })
    await merge('a status and a spec where the spec is', { spec: { priority: 5 }, status: { pods: 2 } })
    await mergeStatus('a status where the status is', { status: { pods: 2 } })
    await mergeStatus('the same status', { status: { pods: 2 } })
    await mergeStatus('a spec where the status is', { spec: { priority: 6 } })
    await mergeStatus('a spec and a status where the status is', { spec: { priority: 6 }, status: { pods: 3 } })
    await mergeStatus('a label where the status is', { metadata: { labels: { a: '3' } } })
    await mergeStatus('a finalizer where the status is', { metadata: { finalizers: [KEEP] } })
    await mergeStatus('a status by uid', { metadata: { uid }, status: { pods: 4 } })
    await mergeStatus('a status by another uid', { metadata: { uid: OTHER_UID }, status: { pods: 5 } })
    await mergeStatus('a status by an old version', { metadata: { resourceVersion }, status: { pods: 6 } })
    await mergeStatus('a status by another uid and an old version', {
      metadata: { uid: OTHER_UID, resourceVersion },
      status: { pods: 6 },
    })
    await mergeStatus('a status by no version', { metadata: { resourceVersion: null }, status: { pods: 6 } })
    await p.merge('a status of nobody', WORKLOADS, p.at('nobody', 'status'), { status: { pods: 1 } })
    const current = (await p.get('read', WORKLOADS, it)).metadata
    await mergeStatus('a status by uid and version', {
      metadata: { uid, resourceVersion: current.resourceVersion },
      status: { pods: 7 },
    })
    await mergeStatus('a status by the version before that', {
      metadata: { uid, resourceVersion: current.resourceVersion },
      status: { pods: 8 },
    })
    await mergeStatus('conditions', { status: { conditions: [condition('QuotaReserved'), condition('Admitted')] } })
    await merge('other podSets while quota is reserved', {
      spec: { podSets: podSets.map(set => ({ ...set, count: 9 })) },
    })
    await merge('another queue while quota is reserved', { spec: { queueName: 'team-c' } })
    await merge('another priority while quota is reserved', { spec: { priority: 9 } })
    await mergeStatus('one condition: the list is replaced', { status: { conditions: [condition('Admitted')] } })
    await merge('another queue without quota', { spec: { queueName: 'team-c' } })
    const waiting = { queueName: 'team-c', since: '2026-11-16T10:00:02Z' }
    await mergeStatus('it waits', { status: { waiting } })
    await mergeStatus('it waits as before', { status: { waiting } })
    await mergeStatus('it waits no longer', { status: { waiting: null } })
    await mergeStatus('it waits no longer, as before', { status: { waiting: null } })
    await mergeStatus('no status', { status: null })
    await p.json('a status by JSON Patch', WORKLOADS, status, [{ op: 'add', path: '/status', value: { pods: 1 } }])
    await p.json('a test of the status', WORKLOADS, status, [{ op: 'test', path: '/status/pods', value: 2 }])
    await p.json('a spec by JSON Patch of the status', WORKLOADS, status, [
      { op: 'replace', path: '/spec/queueName', value: 'team-d' },
    ])
  },
}
