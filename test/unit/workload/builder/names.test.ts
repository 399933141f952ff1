import { describe, expect, it } from 'vitest'
import { jobTemplateName, podGroupName, workloadName } from '../../../../src/workload/builder/names.ts'

describe('names of the Job controller', () => {
  // Computed with the Go algorithm of Kubernetes 1.37.
  it.each([
    ['my-job', 'uid-123', 'my-job-795ddf89fd', 'my-job-795ddf89fd-my-job-pgt-0-74cffdfb57'],
    ['train', '6f1c2a4e-1111-2222-3333-444455556666', 'train-745747f885', 'train-745747f885-train-pgt-0-657957bb64'],
    ['train', '00000000-0000-0000-0000-000000000000', 'train-587798f5c5', 'train-587798f5c5-train-pgt-0-68d5f9f49b'],
  ])('of the Job %s with the uid %s', (name, uid, workload, podGroup) => {
    expect(workloadName(name, uid)).toBe(workload)
    expect(podGroupName(workload, jobTemplateName(name))).toBe(podGroup)
  })

  it('cut the name of the Job so that the hash fits', () => {
    expect(workloadName('j'.repeat(253), 'uid-123')).toBe(`${'j'.repeat(242)}-795ddf89fd`)
  })

  it.each([
    ['w'.repeat(200), 't'.repeat(200), `${'w'.repeat(121)}-${'t'.repeat(120)}-6f9f45db49`],
    ['wl', 't'.repeat(250), `wl-${'t'.repeat(239)}-5c9dbd8778`],
    ['w'.repeat(250), 'tpl', `${'w'.repeat(239)}-tpl-5598d65b5`],
  ])('share the room between workload and template: case %#', (workload, template, expected) => {
    expect(podGroupName(workload, template)).toBe(expected)
    expect(expected).toHaveLength(253)
  })

  it('do not cut the name of the template', () => {
    expect(jobTemplateName('j'.repeat(63))).toBe(`${'j'.repeat(63)}-pgt-0`)
  })
})
