import { describe, expect, it } from 'vitest'
import { file, results, review } from './fixtures.ts'

let files = 0
/** `CODE severity field: message`. */
async function found(spec: object, name = 'set'): Promise<readonly string[]> {
  const object = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', metadata: { name }, spec }
  const report = await review([file(`jobset-values-${files++}.json`, object)])
  expect([report.unreadable, report.failures]).toEqual([[], []])
  return results(report).flatMap(({ findings }) =>
    findings.map(({ code, severity, field, message }) => `${code} ${severity} ${field}: ${message}`),
  )
}

const containers = [{ name: 'c', image: 'x' }]
const jobs = (...of: readonly object[]) => ({
  replicatedJobs: of.map((each, index) => ({
    name: `r${index}`,
    template: { spec: { template: { spec: { containers } } } },
    ...each,
  })),
})
const behind = (name: unknown, status: unknown = 'Ready') => ({ dependsOn: [{ name, status }] })
const AT = 'FieldInvalid error spec.replicatedJobs'

describe('the Jobs of a JobSet', () => {
  it('wait for those before them, and not for themselves or for nobody', async () => {
    expect(await found(jobs({}, behind('r0')))).toEqual([])
    expect(await found(jobs({}, {}, behind('r0', 'Complete')))).toEqual([])
    expect(await found(jobs({}, behind('$NAME')))).toEqual([])
    expect(await found(jobs({}, behind('r1')))).toEqual([
      `${AT}[1].dependsOn[0].name: "r1" waits for itself: it never starts`,
    ])
    for (const wrong of [jobs(behind('r1'), {}), jobs({}, behind('nobody'))]) {
      expect(await found(wrong)).toEqual([
        expect.stringMatching(/FieldInvalid.*there is no "(r1|nobody)" among the Jobs/),
      ])
    }
  })

  it('say for what they wait', async () => {
    expect(await found(jobs({}, behind('r0', 'Done')))).toEqual([
      `${AT}[1].dependsOn[0].status: status is Ready or Complete, not "Done"`,
    ])
    expect(await found(jobs({}, behind('r0', null)))).toEqual([
      expect.stringMatching(/^FieldMissing warning .*status: /),
    ])
    expect(await found(jobs({}, behind('')))).toEqual([expect.stringMatching(/^FieldMissing warning .*name: /)])
  })

  it('come in one order', async () => {
    const both = { startupPolicy: { startupPolicyOrder: 'InOrder' }, ...jobs({}, behind('r0')) }
    expect(await found(both)).toEqual([`${AT}[1].dependsOn: startupPolicy InOrder and dependsOn exclude each other`])
  })

  it('are those whose success counts', async () => {
    const counted = (name: string) => ({
      successPolicy: { operator: 'All', targetReplicatedJobs: [name] },
      ...jobs({}),
    })
    expect(await found(counted('r0'))).toEqual([])
    expect(await found(counted('r9'))).toEqual([
      'FieldInvalid error spec.successPolicy.targetReplicatedJobs[0]: there is no "r9" among its Jobs',
    ])
  })

  it('have pods with names that are not too long', async () => {
    const of = (more: object) =>
      jobs({ template: { spec: { completions: 10, template: { spec: { containers } }, ...more } } })
    expect(await found(of({}), 'a'.repeat(50))).toEqual([])
    expect(await found(of({}), 'a'.repeat(51))).toEqual([expect.stringContaining('a pod of it would be called')])
    expect(await found(of({ completionMode: 'NonIndexed' }), 'a'.repeat(51))).toEqual([])
  })

  it('have the restart policy that JobSet fills in, and the volumes that it claims', async () => {
    const spec = {
      restartPolicy: '',
      containers: [{ ...containers[0], volumeMounts: [{ name: 'data', mountPath: '/d' }] }],
    }
    const claiming = {
      volumeClaimPolicies: [{ templates: [{ metadata: { name: 'data' } }] }],
      ...jobs({ template: { spec: { template: { spec } } } }),
    }
    expect(await found(claiming)).toEqual([])
  })
})
