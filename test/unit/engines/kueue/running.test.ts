import { describe, expect, it } from 'vitest'
import { kueueEngine } from '../../../../src/engines/kueue/kueue.ts'
import type { KueueWorkload } from '../../../../src/engines/kueue/objects.ts'
import { GROUP_SERVING } from '../../../../src/kube/vocabulary/names.ts'
import type { Condition, Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { decide } from '../../../../src/reconciler/decide.ts'
import type { Unit } from '../../../../src/reconciler/unit.ts'
import { gang, group, member, running, single } from '../../reconciler/decide/fixtures.ts'
import { admission, engineWith, is, NOW, stored } from './fixtures.ts'

const engine = engineWith()
const under = (workload: KueueWorkload, ...more: readonly Condition[]): KueueWorkload => ({
  ...workload,
  status: { ...workload.status, conditions: [...(workload.status?.conditions ?? []), ...more] },
})
const evicted = (workload: KueueWorkload, reason = 'Preempted') =>
  under(workload, is('Evicted', 'True', reason, 'make room'))

describe('pods whose admission Kueue takes back', () => {
  const workload = evicted(admission(stored(engine, gang(3)), {}))

  it('say why they are stopped, in the words of Kueue', () => {
    const { actions } = decide(group([running(0), running(1), member(2)], workload), engine, NOW)
    const because = { reason: 'WorkloadEvictedDueToPreempted', message: 'make room', at: NOW }
    expect(actions).toMatchObject([
      { kind: 'DeletePod', pod: { name: 'gang-0' }, because },
      { kind: 'DeletePod', pod: { name: 'gang-1' }, because },
    ])
  })

  it('say that Kueue switched their Workload off, and why, before Kueue has evicted it', () => {
    const { spec, ...rest } = admission(stored(engine, gang(3)), {})
    const off = { ...rest, spec: { ...spec, active: false } }
    const why = is('DeactivationTarget', 'True', 'MaximumExecutionTimeExceeded', 'took too long')
    const reasonsOf = (workload: KueueWorkload) =>
      decide(group([running(0)], workload), engine, NOW).actions.map(action => 'because' in action && action.because)
    expect(reasonsOf(under(off, why))).toMatchObject([
      { reason: 'WorkloadEvictedDueToDeactivatedDueToMaximumExecutionTimeExceeded', message: 'took too long' },
    ])
    expect(reasonsOf(off)).toMatchObject([{ reason: 'WorkloadEvictedDueToDeactivated' }])
  })

  it('keep their quota until the last has stopped, and then wait for the ones that are missing', () => {
    const stopping = running(0, { deleting: 30 })
    expect(decide(group([stopping, member(1), member(2)], workload), engine, NOW).actions).toEqual([])
    const { actions } = decide(group([member(1), member(2)], workload), engine, NOW)
    const [action] = actions
    if (action?.kind !== 'SetStatus') throw new Error(`unexpected ${action?.kind}`)
    const conditions = Object.fromEntries((action.status.conditions ?? []).map(({ type, status }) => [type, status]))
    expect(conditions).toMatchObject({ QuotaReserved: 'False', Requeued: 'True', WaitingForReplacementPods: 'True' })
  })

  it('are not missed when they have come again', () => {
    const waiting = under(
      stored(engine, gang(3), { conditions: [is('QuotaReserved', 'False', 'PendingEvaluation')] }),
      is('WaitingForReplacementPods', 'True', 'WaitingForReplacement'),
    )
    const { actions } = decide(group(gang(3), waiting), engine, NOW)
    expect(actions).toMatchObject([{ kind: 'SetStatus' }])
    expect(JSON.stringify(actions)).toContain('no pod needs a replacement')
  })

  it('are not admitted once more when a single one is gone', () => {
    const pod = member(0)
    const alone = { ...pod, metadata: { ...pod.metadata, labels: { 'kueue.x-k8s.io/queue-name': 'team-a' } } }
    const left = evicted(admission(stored(engine, [alone]), {}))
    const [action] = decide(single(undefined, left), engine, NOW).actions
    expect(JSON.stringify(action)).toContain('{"type":"Requeued","status":"False"')
  })
})

describe('places that were given back for pods that had done their work', () => {
  const role = stored(engine, gang(3)).spec.podSets[0]?.name ?? ''
  const back = (count: number) => (count === 0 ? [] : [{ name: role, count }])
  const having = (workload: KueueWorkload, count: number): KueueWorkload => ({
    ...workload,
    status: { ...workload.status, reclaimablePods: back(count) },
  })
  const admitted = admission(stored(engine, gang(3)), {})
  const waiting = stored(engine, gang(3), { conditions: [is('QuotaReserved', 'False', 'Pending')] })
  const done = (index: number) => running(index, { phase: 'Succeeded' })
  const reclaimed = (unit: Unit) =>
    decide(unit, engine, NOW).actions.flatMap(action =>
      action.kind === 'SetStatus' && action.status.reclaimablePods ? [action.status.reclaimablePods] : [],
    )

  it('are asked for again when the admission is given back and the pods are gone', () => {
    const off = having(evicted(admitted), 2)
    expect(reclaimed(group([member(1)], off))).toEqual([[]])
    expect(reclaimed(group([done(0), member(1)], off))).toEqual([back(1)])
    expect(reclaimed(group([done(0), done(1), member(2)], off))).toEqual([])
  })

  it('are asked for again while the group waits', () => {
    expect(reclaimed(group(gang(3), having(waiting, 2)))).toEqual([[]])
    expect(reclaimed(group([done(0), member(1), member(2)], having(waiting, 2)))).toEqual([back(1)])
    expect(reclaimed(group([done(0), member(1), member(2)], having(waiting, 1)))).toEqual([])
  })

  it('are not taken again within the same admission', () => {
    const { actions, standings } = decide(group([running(0), member(1), member(2)], having(admitted, 1)), engine, NOW)
    expect(actions.flatMap(action => (action.kind === 'LiftGate' ? [action.pod.name] : []))).toEqual(['gang-1'])
    expect(standings).toContainEqual(expect.objectContaining({ pod: member(2), reason: 'LiftBlocked' }))
  })

  it('are what they were whatever somebody says who has not started', () => {
    const serving = member(2, { annotations: { [GROUP_SERVING]: 'true' } })
    const { actions, standings } = decide(group([done(0), running(1), serving], having(admitted, 1)), engine, NOW)
    expect(actions.map(({ kind }) => kind)).toEqual(['LiftGate'])
    expect(standings.map(({ reason }) => reason)).toEqual(['Lifting'])
  })

  it('are free for a new group of the name when the old one is gone as a whole', () => {
    const [end] = decide(group(gang(3), having(admitted, 1)), engine, NOW).actions
    expect(JSON.stringify(end)).toContain('"type":"Finished","status":"True"')
    const over = under(having(admitted, 1), is('Finished', 'True', 'Abandoned'))
    const kinds = decide(group(gang(3), over), engine, NOW).actions.map(({ kind }) => kind)
    expect(kinds).toEqual(['ReleaseWorkload', 'DeleteWorkload'])
    // Also beside those who have done their work, as long as nobody runs.
    const left = [done(0), done(1), member(2)]
    const [last] = decide(group(left, having(admitted, 3)), engine, NOW).actions
    expect(JSON.stringify(last)).toContain('"type":"Finished","status":"True"')
    expect(decide(group(left, over), engine, NOW).actions.map(({ kind }) => kind)).toContain('DeleteWorkload')
    // A Workload that others have made is not Muster's to end.
    const { annotations: _, ...metadata } = admitted.metadata
    const annotations = { 'kueue.x-k8s.io/is-group-workload': 'true' }
    const ahead = having({ ...admitted, metadata: { ...metadata, annotations } }, 1)
    const lifted = decide(group(gang(3), ahead), engine, NOW).actions.map(({ kind }) => kind)
    expect(lifted).toEqual(['LiftGate', 'LiftGate'])
  })
})

describe('readiness, where Kueue waits for it', () => {
  const waits = kueueEngine('v1beta2', { waitsForPodsReady: true })
  const ready = (pod: Pod): Pod => ({ ...pod, status: { ...pod.status, ready: true } })
  const workload = admission(stored(waits, gang(3)), {})
  const said = (unit: Unit) =>
    decide(unit, waits, NOW).actions.flatMap(action =>
      action.kind === 'SetStatus'
        ? (action.status.conditions ?? [])
            .filter(({ type }) => type === 'PodsReady')
            .map(({ status, reason }) => `${status} ${reason}`)
        : [],
    )

  it('is told when all pods are ready, and not before', () => {
    expect(said(group([running(0), running(1), running(2)], workload))).toEqual([])
    expect(said(group([ready(running(0)), ready(running(1)), running(2)], workload))).toEqual([])
    expect(said(group([ready(running(0)), ready(running(1)), ready(running(2))], workload))).toEqual(['True Started'])
  })

  it('is not lost when a pod has done its work', () => {
    const done = running(2, { phase: 'Succeeded' })
    const told = under(workload, is('PodsReady', 'True', 'Started'))
    expect(said(group([ready(running(0)), ready(running(1)), done], told))).toEqual([])
  })

  it('is taken back when a pod is lost, and comes again with its replacement', () => {
    const told = under(workload, is('PodsReady', 'True', 'Started'))
    const failed = running(2, { phase: 'Failed' })
    expect(said(group([ready(running(0)), ready(running(1)), failed], told))).toContain('False WaitForRecovery')
    const lost = under(workload, is('PodsReady', 'False', 'WaitForRecovery'))
    const all = [0, 1, 2].map(index => ready(running(index)))
    expect(said(group(all, lost))).toContain('True Recovered')
  })

  it('is nobody else to be told', () => {
    const all = [0, 1, 2].map(index => ready(running(index)))
    expect(decide(group(all, admission(stored(engine, gang(3)), {})), engine, NOW).actions).toEqual([])
  })
})
