import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answerText } from '../../../src/admission/answer.ts'
import type { PodSpec } from '../../../src/kube/vocabulary/objects.ts'
import { RecentRoles } from '../../../src/server/recent-roles.ts'
import { reviewPodMutation } from '../../../src/webhooks/pods/pods.ts'
import { creatorStamp } from '../../../src/workload/creator.ts'
import { roleHash } from '../../../src/workload/role-hash.ts'
import { tallyOf } from '../../support/tally.ts'
import { podOf, requestOf, worldOf } from '../webhooks/pods/fixtures.ts'

const own = (json: string): PodSpec => JSON.parse(json)

/** Nearly alike, each in one point that a careless comparison overlooks. */
const SPECS = [
  own('{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}'),
  own('{"containers":[{"resources":{"requests":{"cpu":"1"}}}],"priority":0}'),
  own('{"containers":[{"resources":{"requests":{"cpu":"1"}}}],"priority":null}'),
  own('{"containers":[{"resources":{"requests":{"cpu":"1"}}}],"priority":1e999}'),
  own('{"containers":[],"nodeSelector":{"a":"b"}}'),
  own('{"containers":[],"nodeSelector":{"__proto__":"b"}}'),
  own('{"containers":[],"nodeSelector":{"__proto__":{}}}'),
  own('{"containers":[],"nodeSelector":{}}'),
  own('{"containers":[],"nodeSelector":[]}'),
  own('{"containers":[],"tolerations":[{"key":"a","value":"b"}]}'),
  own('{"containers":[],"tolerations":[{"value":"b","key":"a"}]}'),
  own('{"containers":[],"tolerations":[{"key":"a"}]}'),
  own('{"containers":[],"tolerations":{"0":{"key":"a"}}}'),
  own('{"containers":[],"resources":{}}'),
  own('{"containers":[]}'),
  own('{"containers":{}}'),
  own('{"containers":[{"ports":[]}]}'),
  own('{"containers":[{}]}'),
  own('{"containers":[{},{}]}'),
  own('{"initContainers":[{}]}'),
]

describe('the memory of roles', () => {
  it('answers what would be answered without it, in any order and with more roles than it holds', () => {
    const tried = tallyOf('new', 'again at once', 'again after others')
    // One memory for all runs, so that each is compared with each and it overflows again and again.
    const roles = new RecentRoles()
    const labels = { 'queue-name': 'q' }
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...SPECS), { minLength: 1, maxLength: 40 }), sequence => {
        for (const [index, spec] of sequence.entries()) {
          expect(roles.hashOf(structuredClone(spec))).toBe(roleHash(spec))
          const pod = { ...podOf({ labels, annotations: { x: 'y' } }), spec }
          const request = requestOf(pod)
          const plain = reviewPodMutation(request, worldOf())
          const remembered = reviewPodMutation(request, { ...worldOf(), roles })
          expect(answerText(request, remembered, true)).toBe(answerText(request, plain, true))
          const known = sequence.lastIndexOf(spec, index - 1)
          tried.count(index === 0 || known < 0 ? 'new' : known === index - 1 ? 'again at once' : 'again after others')
        }
      }),
    )
    tried.expectAll()
  })

  const marksOf = (roles: RecentRoles, hash: string) =>
    roles.marksOf(hash, () => [{ op: 'add', path: '/metadata/labels/x', value: hash }])

  it('gives pods of one role one patch, and other roles another', () => {
    const roles = new RecentRoles()
    expect(marksOf(roles, 'a')).toBe(marksOf(roles, 'a'))
    expect(marksOf(roles, 'b').operations).not.toEqual(marksOf(roles, 'a').operations)
  })

  it('stamps every creator as if it remembered nobody, more of them than it keeps, and long names', () => {
    const roles = new RecentRoles()
    const names = [...Array.from({ length: 300 }, (_, user) => `user-${user}`), 'x'.repeat(1000), 'user-0', 'user-299']
    for (const namespace of ['uid-a', 'uid-b']) {
      for (const name of [...names, ...names])
        expect(roles.stampOf(name, namespace)).toBe(creatorStamp(name, namespace))
    }
  })

  it('has an end', () => {
    const roles = new RecentRoles()
    const first = marksOf(roles, 'first')
    for (let role = 0; role < 255; role++) marksOf(roles, `role-${role}`)
    expect(marksOf(roles, 'first')).toBe(first)
    marksOf(roles, 'one more')
    expect(marksOf(roles, 'first')).not.toBe(first)
  })
})
