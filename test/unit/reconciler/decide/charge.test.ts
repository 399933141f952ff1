import { describe, expect, it } from 'vitest'
import { GROUP_ROLE, PODSET_LABEL } from '../../../../src/kube/vocabulary/names.ts'
import type { Pod, PodSpec } from '../../../../src/kube/vocabulary/objects.ts'
import { podForCache } from '../../../../src/reconciler/cache-contents.ts'
import { ADMITTED, workloadOf } from '../../../support/workloads.ts'

import { decide, gang, group, kinds, member, NOW, running } from './fixtures.ts'

const withLabels = (pod: Pod, labels: Readonly<Record<string, string>>): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...labels } },
})
const withSpec = (pod: Pod, spec: PodSpec): Pod => ({ ...pod, spec: { ...pod.spec, ...spec } })
const told = (pods: readonly Pod[], workload = workloadOf(gang(3, { cpu: '1m' }), ADMITTED)) =>
  decide(group(pods, workload), NOW).standings.flatMap(({ pod, reason, note }) =>
    reason === 'InvalidGroup' ? [`${pod.metadata.name}: ${note}`] : [],
  )

describe('what a place is charged with', () => {
  const small = [running(0, { cpu: '1m' }), running(1, { cpu: '1m' })]
  const sidecar = { name: 's', restartPolicy: 'Always', resources: { requests: { cpu: '1m' } } }

  it.each<[string, Pod, string]>([
    ['containers', member(2, { cpu: '64' }), 'asks for 64 cpu, and podSet dc85db45 is charged with 1m'],
    [
      'another resource',
      withSpec(member(2, { cpu: '1m' }), { overhead: { memory: '1Gi' } }),
      'asks for 1Gi memory, and podSet dc85db45 is charged with 0',
    ],
    [
      'a sidecar',
      withSpec(member(2, { cpu: '1m' }), { initContainers: [sidecar] }),
      'asks for 2m cpu, and podSet dc85db45 is charged with 1m',
    ],
    [
      'the pod itself',
      withSpec(member(2, { cpu: '1m' }), { resources: { requests: { cpu: '2' } } }),
      'asks for 2 cpu, and podSet dc85db45 is charged with 1m',
    ],
    [
      'limits',
      withSpec(member(2), { containers: [{ name: 'main', resources: { limits: { cpu: '3' } } }] }),
      'asks for 3 cpu, and podSet dc85db45 is charged with 1m',
    ],
  ])('is not left for a pod that asks for more by %s', (_, large, figures) => {
    const workload = workloadOf(gang(3, { cpu: '1m' }), ADMITTED)
    for (const pod of [large, podForCache(large)]) {
      const unit = group([...small, pod], workload)
      expect(kinds(unit)).not.toContain('LiftGate')
      expect(told([...small, pod])).toEqual([
        expect.stringMatching(new RegExp(`^gang-2: it ${figures} for each of its pods; delete it`)),
      ])
    }
  })

  it('goes to the next that is covered, be there one before it that is not', () => {
    const late = member(3, { cpu: '1m' })
    const workload = workloadOf([...gang(2, { cpu: '1m' }), late], ADMITTED)
    const { actions } = decide(group([...small, member(2, { cpu: '64' }), late], workload), NOW)
    expect(actions).toMatchObject([{ kind: 'LiftGate', pod: { name: 'gang-3' } }])
  })

  it('is enough for a pod that asks for less', () => {
    const pods = [...small, member(2, { cpu: '1u' })]
    expect(kinds(group(pods, workloadOf(gang(3, { cpu: '1m' }), ADMITTED)))).toEqual(['LiftGate'])
  })

  it('must cover all members when the Workload is made: a role or a hash is only a name', () => {
    const pods = [member(0, { cpu: '1m' }), member(1, { cpu: '64' }), member(2, { cpu: '1m' })]
    const { actions, standings } = decide(group(pods), NOW)
    expect(actions).toEqual([])
    expect(standings.map(({ reason }) => reason)).toEqual(['InvalidGroup', 'InvalidGroup', 'InvalidGroup'])
    expect(standings[0]?.note).toBe(
      'pod gang-1 asks for 64 cpu, and podSet dc85db45 is charged with 1m for each of its pods; all of them may ask for that at most',
    )
  })

  it('is found out where nobody can read it', () => {
    const workload = workloadOf(gang(3, { cpu: '1' }), ADMITTED)
    const [podSet] = workload.spec.podSets
    const template = { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '-1' } } }] } }
    const odd = { ...workload, spec: { ...workload.spec, podSets: podSet ? [{ ...podSet, template }] : [] } }
    expect(kinds(group(gang(3), odd))).not.toContain('LiftGate')
  })
})

describe('a lifted member takes its place', () => {
  const roles = [
    ...[0, 1].map(index => withLabels(member(index, { cpu: '1', count: 3 }), { [GROUP_ROLE]: 'big' })),
    withLabels(member(2, { cpu: '1m', count: 3 }), { [GROUP_ROLE]: 'small' }),
  ].map(pod => ({
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: {
        'kueue.x-k8s.io/pod-group-roles': '2',
        'kueue.x-k8s.io/pod-group-role-count': pod.metadata.labels?.[GROUP_ROLE] === 'big' ? '2' : '1',
      },
    },
  }))
  const workload = workloadOf(roles, ADMITTED)
  const lifted = (index: number, cpu: string, labels: Readonly<Record<string, string>>) =>
    withLabels(running(index, { cpu }), labels)
  const replacement = withLabels(member(9, { name: 'gang-1', cpu: '1' }), { [GROUP_ROLE]: 'big' })
  const lifts = (...pods: readonly Pod[]) =>
    decide(group(pods, workload), NOW).actions.filter(({ kind }) => kind === 'LiftGate' || kind === 'AddOwners')

  it('in its role', () => {
    const big = { [GROUP_ROLE]: 'big', [PODSET_LABEL]: 'big' }
    const small = lifted(2, '1m', { [GROUP_ROLE]: 'small', [PODSET_LABEL]: 'small' })
    expect(lifts(lifted(0, '1', big), lifted(1, '1', big), small, replacement)).toEqual([])
    expect(lifts(lifted(0, '1', big), small, replacement)).toHaveLength(1)
  })

  it('and in no other when it has become too long to be kept', () => {
    const excess = 'it has grown by the tolerations of its queue'
    const small = { ...lifted(2, '1m', { [GROUP_ROLE]: 'small', [PODSET_LABEL]: 'small' }), excess }
    const big = lifted(0, '1', { [GROUP_ROLE]: 'big', [PODSET_LABEL]: 'big' })
    expect(lifts(big, { ...small, requests: { problem: excess } }, replacement)).toHaveLength(1)
  })

  it.each([
    ['a role that is none of the group', { [GROUP_ROLE]: 'huge', [PODSET_LABEL]: 'big' }],
    ['another role than it was lifted in', { [GROUP_ROLE]: 'small', [PODSET_LABEL]: 'big' }],
    ['another podSet than its role', { [GROUP_ROLE]: 'big', [PODSET_LABEL]: 'small' }],
    ['both of a smaller one', { [GROUP_ROLE]: 'small', [PODSET_LABEL]: 'small' }],
  ])('also with %s', (_, labels) => {
    const big = { [GROUP_ROLE]: 'big', [PODSET_LABEL]: 'big' }
    expect(lifts(lifted(0, '1', big), lifted(1, '1', labels), replacement)).toEqual([])
  })
})
