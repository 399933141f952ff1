import { describe, expect, it } from 'vitest'
import type { AdmissionRequest, Operation } from '../../../src/admission/review.ts'
import type { Verdict } from '../../../src/admission/verdict.ts'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { BREAK_GLASS, MANAGED, QUEUE_NAME, SCHEDULING } from '../../../src/kube/vocabulary/names.ts'
import { NOTHING_SERVED } from '../../../src/kube/vocabulary/served-scheduling.ts'
import { WEBHOOKS } from '../../../src/webhooks/all.ts'
import { localWorld } from '../../../src/webhooks/local-world.ts'
import { isCalledFor } from '../../../src/webhooks/webhook.ts'
import { podReview } from '../../support/reviews.ts'

const OPERATIONS: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT']
const RULES = WEBHOOKS.flatMap(({ rules }) => rules)
const SUBRESOURCES = new Set([...RULES.map(({ subresource }) => subresource), 'ephemeralcontainers', 'binding'])
const KINDS = new Set([
  ...RULES.map(({ of }) => of),
  { group: 'example.com', version: 'v1', kind: 'Pod', resource: 'pods' },
  { group: 'apps', version: 'v1', kind: 'ReplicaSet', resource: 'replicasets' },
])

describe('every webhook', () => {
  it('has a name and a path of its own', () => {
    for (const key of ['name', 'path'] as const) {
      expect(new Set(WEBHOOKS.map(webhook => webhook[key])).size).toBe(WEBHOOKS.length)
    }
  })

  it.each(WEBHOOKS)('lets through untouched what $path does not ask for', webhook => {
    const world = localWorld(DEFAULT_CONFIGURATION)
    let asked = 0
    let tried = 0
    for (const { group, version, kind, resource } of KINDS) {
      for (const operation of OPERATIONS) {
        for (const subResource of SUBRESOURCES) {
          const request = {
            ...podReview({ operation }).request,
            kind: { group, version, kind },
            resource: { group, version, resource },
            ...(subResource !== undefined && { subResource }),
          }
          if (isCalledFor(webhook, request)) {
            asked++
            continue
          }
          tried++
          expect(webhook.review(request, world), `${operation} of ${resource}/${subResource}`).toMatchObject({
            kind: 'allowed',
            patch: [],
          })
        }
      }
    }
    expect(asked).toBe(webhook.rules.reduce((sum, { operations }) => sum + operations.length, 0))
    expect(tried).toBe(KINDS.size * SUBRESOURCES.size * OPERATIONS.length - asked)
    expect(tried).toBeGreaterThan(100)
  })
  it.each(WEBHOOKS)('$path holds up a member of the break-glass group only if it mutates', webhook => {
    // Wrong in every way: no webhook of ours lets it pass as it is.
    const wrong = { [QUEUE_NAME]: 'Not_A_Queue', [MANAGED]: 'no' }
    const spec = { schedulerName: 'kai-scheduler', schedulingGroup: { podGroupName: 'pg' } }
    const object = { metadata: { labels: wrong, annotations: { [SCHEDULING]: '{' } }, spec }
    const [rule] = webhook.rules
    if (rule === undefined) throw new Error('a webhook without a rule')
    const request = {
      ...podReview({ operation: 'CREATE' }).request,
      kind: rule.of,
      resource: rule.of,
      object,
    } as unknown as AdmissionRequest
    const { frameworks } = DEFAULT_CONFIGURATION.integrations
    const scheduling = () => ({ ...NOTHING_SERVED, kai: true })
    const world = { ...localWorld(DEFAULT_CONFIGURATION), holds: frameworks, scheduling }
    const ada = { username: 'ada', groups: ['system:authenticated'] }
    const inNeed = { username: 'ada', groups: ['system:authenticated', BREAK_GLASS] }
    const passesAsItIs = (verdict: Verdict): boolean => verdict.kind === 'allowed' && verdict.patch.length === 0
    expect(passesAsItIs(webhook.review({ ...request, userInfo: ada }, world))).toBe(webhook.advisory ?? false)
    const verdict = webhook.review({ ...request, userInfo: inNeed }, world)
    if (webhook.mutating) expect(passesAsItIs(verdict)).toBe(webhook.advisory ?? false)
    else {
      expect(verdict).toMatchObject({
        kind: 'allowed',
        reason: 'BreakGlass',
        audit: { exemption: 'group muster:break-glass' },
      })
    }
  })
})
