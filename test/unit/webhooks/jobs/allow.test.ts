import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import { reviewJobValidation } from '../../../../src/webhooks/jobs/jobs.ts'
import { askingWorld, brief, controller, errorsOf } from '../pods/fixtures.ts'
import { A, annotated, BASIC, created, gang, jobOf, jobRequest, jobWorld, updated, ZONE } from './fixtures.ts'

describe('the allow-lists', () => {
  const messages = (verdict: Verdict): readonly string[] =>
    errorsOf(verdict).map(({ type, field, detail }) => `${type} ${field}: ${detail}`)

  it('deny what they do not list, with what they do', () => {
    const allow = { policies: ['basic'], disruptionModes: [], topologyKeys: ['rack', 'row'], resourceClaims: false }
    const scheduling = {
      ...gang(),
      ...ZONE,
      disruptionMode: { all: {} },
      resourceClaims: [{ name: 'a', resourceClaimName: 'x' }],
    }
    const verdict = created({ scheduling }, jobWorld({ allow }))
    expect(verdict).toMatchObject({ kind: 'denied', code: 403 })
    expect(messages(verdict)).toEqual([
      'Forbidden spec.scheduling.schedulingPolicy.gang: the policy `gang` is not allowed here; allowed: basic ' +
        '(jobs.scheduling.allow.policies)',
      'Forbidden spec.scheduling.schedulingConstraints.topology[0].key: the topology key ' +
        '"topology.kubernetes.io/zone" is not allowed here; allowed: rack, row (jobs.scheduling.allow.topologyKeys)',
      'Forbidden spec.scheduling.disruptionMode.all: the disruption mode `all` is not allowed here; allowed: nothing ' +
        '(jobs.scheduling.allow.disruptionModes)',
      'Forbidden spec.scheduling.resourceClaims: resource claims are not allowed here ' +
        '(jobs.scheduling.allow.resourceClaims is false)',
    ])
  })

  it('take a block without a policy for basic', () => {
    const world = jobWorld({ allow: { policies: ['gang'] } })
    expect(messages(created({ scheduling: {} }, world))).toEqual([
      'Forbidden spec.scheduling.schedulingPolicy: a block without a policy means `basic`, which is not allowed here; ' +
        'allowed: gang (jobs.scheduling.allow.policies)',
    ])
    expect(brief(created(annotated('constraints: {}'), world))).toEqual([`Forbidden ${A}.policy`])
    expect(created({ scheduling: gang() }, world)).toMatchObject({ kind: 'allowed' })
  })

  it('allow a key that they name exactly, and every key by "*"', () => {
    const only = (key: string) => jobWorld({ allow: { topologyKeys: [key] } })
    for (const key of ['topology.kubernetes.io/zone', '*']) {
      expect(created({ scheduling: ZONE }, only(key))).toMatchObject({ kind: 'allowed' })
    }
    expect(created({ scheduling: ZONE }, only('topology.kubernetes.io/*'))).toMatchObject({ kind: 'denied' })
  })

  it('are not deceived by a list that is longer than anybody looks at', () => {
    const topology = Array.from({ length: 100_000 }, () => ({ key: 'rack' }))
    const verdict = created(
      { scheduling: { schedulingConstraints: { topology } } },
      jobWorld({ allow: { topologyKeys: ['rack'] } }),
    )
    expect(messages(verdict)).toEqual([
      'TooMany spec.scheduling.schedulingConstraints.topology: must have at most 1 item',
      expect.stringContaining('the topology key "and 99984 more" is not allowed here'),
    ])
  })

  it('deny options that do not exist yet', () => {
    expect(messages(created({ scheduling: { schedulingPolicy: { gang: {}, quorum: {} } } }))).toEqual([
      'Forbidden spec.scheduling.schedulingPolicy.quorum: `quorum` is not allowed here; allowed: basic, gang',
    ])
    expect(messages(created({ scheduling: { ...BASIC, disruptionMode: { single: {}, half: {} } } }))).toEqual([
      'Forbidden spec.scheduling.disruptionMode.half: `half` is not allowed here; allowed: single, all',
    ])
    expect(messages(created({ scheduling: { ...BASIC, deadline: 5 } }))).toEqual([
      'Forbidden spec.scheduling.deadline: `deadline` is not allowed here; ' +
        'allowed: schedulingPolicy, schedulingConstraints, disruptionMode, resourceClaims',
    ])
    expect(messages(created({ scheduling: { policy: { gang: { maxCount: 3 } } } }))).toEqual([
      'Forbidden spec.scheduling.policy.gang.maxCount: `maxCount` is not allowed here; allowed: minCount',
    ])
  })

  it('complete the error that an unknown member alone already is', () => {
    const world = jobWorld({ allow: { policies: ['gang'] } })
    const verdict = created({ scheduling: { schedulingPolicy: { quorum: {} } } }, world)
    expect(verdict).toMatchObject({ code: 422 })
    expect(messages(verdict)).toEqual([
      'Invalid spec.scheduling.schedulingPolicy: must specify one of: `basic`, `gang`; `quorum` is not allowed here; ' +
        'allowed: gang',
    ])
  })

  it('judge an update only when the block has changed', () => {
    const world = jobWorld({ allow: { policies: ['basic'], topologyKeys: [] } })
    const was = { ...gang(2), ...ZONE, unknown: 1 }
    expect(updated({ scheduling: was }, { scheduling: was, spec: { suspend: true } }, world)).toMatchObject({
      kind: 'allowed',
      warnings: [],
    })
    expect(brief(updated({ scheduling: was }, { scheduling: { ...was, ...gang(3) } }, world))).toContain(
      'Forbidden spec.scheduling.schedulingPolicy.gang',
    )
    expect(brief(updated({ scheduling: was }, { scheduling: { ...was, unknown: 2 } }, world))).toContain(
      'Forbidden spec.scheduling.unknown',
    )
  })

  it('leave the Jobs of a CronJob or JobSet to what their root was allowed, if it is the root that asks', () => {
    const world = jobWorld({ allow: { policies: [] } })
    const ownedBy = (apiVersion: string, kind: string, username: string) => {
      const metadata = { ownerReferences: [controller(apiVersion, kind, 'root')] }
      const request = jobRequest(jobOf({ scheduling: gang(), metadata }))
      return reviewJobValidation({ ...request, userInfo: { username } }, world)
    }
    const [cronJobs, jobSets] = [
      'system:serviceaccount:kube-system:cronjob-controller',
      'system:serviceaccount:jobset-system:jobset-controller-manager',
    ]
    expect(ownedBy('batch/v1', 'CronJob', cronJobs)).toMatchObject({ kind: 'allowed' })
    expect(ownedBy('jobset.x-k8s.io/v1alpha2', 'JobSet', jobSets)).toMatchObject({ kind: 'allowed' })
    expect(ownedBy('batch/v1', 'CronJob', 'alice')).toMatchObject({ kind: 'denied', code: 403 })
    expect(ownedBy('jobset.x-k8s.io/v1alpha2', 'JobSet', cronJobs)).toMatchObject({ kind: 'denied' })
    expect(ownedBy('example.com/v1', 'JobSet', jobSets)).toMatchObject({ kind: 'denied' })
    expect(ownedBy('example.com/v1', 'Pipeline', cronJobs)).toMatchObject({ kind: 'denied' })
  })

  it('let the garbage collector set a Job free whose root was deleted without it', () => {
    const owned = { ownerReferences: [controller('batch/v1', 'CronJob', 'root')] }
    const request = jobRequest(jobOf({ scheduling: gang() }), jobOf({ scheduling: gang(), metadata: owned }))
    const freedBy = (username: string) =>
      reviewJobValidation({ ...request, userInfo: { username } }, jobWorld({ allow: { policies: [] } }))
    expect(freedBy('system:serviceaccount:kube-system:generic-garbage-collector')).toMatchObject({ kind: 'allowed' })
    expect(freedBy('system:serviceaccount:kube-system:generic')).toMatchObject({ kind: 'denied' })
  })

  it('judge a Job that is set free: then its block begins to count', () => {
    const owned = { ownerReferences: [controller('batch/v1', 'CronJob', 'root')] }
    const other = { ownerReferences: [controller('example.com/v1', 'Pipeline', 'p')] }
    const world = jobWorld({ allow: { policies: [] } })
    for (const metadata of [{}, other]) {
      const freed = updated({ scheduling: gang(), metadata: owned }, { scheduling: gang(), metadata }, world)
      expect(freed).toMatchObject({ kind: 'denied', code: 403 })
      const rightly = updated({ scheduling: gang(), metadata: owned }, { scheduling: gang(), metadata }, jobWorld())
      expect(rightly).toMatchObject({ kind: 'allowed' })
    }
    // What was never judged by a list stays as it is while nothing changes.
    expect(
      updated({ scheduling: gang(), metadata: owned }, { scheduling: gang(), metadata: owned }, world),
    ).toMatchObject({
      kind: 'allowed',
    })
    expect(updated({ scheduling: gang() }, { scheduling: gang() }, world)).toMatchObject({ kind: 'allowed' })
    expect(updated({ metadata: owned }, { metadata: {} }, world)).toMatchObject({ kind: 'allowed' })
  })

  describe('of namespaces', () => {
    const selector = (tier: string) => ({ matchLabels: { tier } })
    const none = { policies: [], disruptionModes: [], topologyKeys: [], resourceClaims: false }
    const namespaces = [
      { selector: selector('small'), allow: { ...none, policies: ['basic'] } },
      { selector: {}, allow: { ...none, policies: ['gang'] } },
    ]

    it('replace the general one, the first that matches', () => {
      const small = jobWorld({ namespaces, namespaceLabels: { tier: 'small' } })
      const other = jobWorld({ namespaces })
      expect(created({ scheduling: BASIC }, small)).toMatchObject({ kind: 'allowed' })
      expect(created({ scheduling: BASIC }, other)).toMatchObject({ kind: 'denied' })
      expect(created({ scheduling: gang() }, other)).toMatchObject({ kind: 'allowed' })
      expect(errorsOf(created({ scheduling: gang() }, small))[0]?.detail).toContain(
        '(jobs.scheduling.namespaces[0].allow.policies)',
      )
    })

    it('ask for the labels of a namespace that is not known yet, for Jobs with a block only', () => {
      const world = askingWorld({ ...jobWorld({ namespaces }), holds: ['pod'] }, 'namespace')
      expect(created({}, world)).toMatchObject({ kind: 'allowed' })
      expect(updated({ scheduling: gang() }, { scheduling: gang() }, world)).toMatchObject({ kind: 'allowed' })
      expect(world.open).toEqual([])
      created({ scheduling: gang() }, world)
      expect(world.open).toEqual([{ kind: 'namespace', namespace: 'team-a' }])
    })

    it('know a namespace that is gone by its name', () => {
      const byName = [{ selector: { matchLabels: { 'kubernetes.io/metadata.name': 'team-a' } }, allow: none }]
      const world = jobWorld({ namespaces: byName, namespaceLabels: 'absent' })
      expect(created({ scheduling: gang() }, world)).toMatchObject({ kind: 'denied' })
    })
  })
})
