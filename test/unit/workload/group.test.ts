import { describe, expect, it } from 'vitest'
import {
  forbidsRetries,
  groupNameOf,
  groupOf,
  isAdmittedAhead,
  parseGroup,
  serves,
} from '../../../src/workload/group.ts'
import { podOf } from '../webhooks/pods/fixtures.ts'

const labels = { 'pod-group-name': 'ring' }
const problems = (options: Parameters<typeof podOf>[0]): readonly string[] =>
  parseGroup(podOf(options)).errors.map(({ type, field, detail }) => `${type} ${field}: ${detail}`)

describe('a group declaration', () => {
  it('is none for a pod without group keys', () => {
    expect(parseGroup(podOf())).toEqual({ declaration: undefined, errors: [], warnings: [] })
  })

  it('takes the name from the annotation when that is not empty', () => {
    expect(groupNameOf(podOf({ labels, annotations: { 'pod-group-name': 'long' } }))).toBe('long')
    expect(groupNameOf(podOf({ labels, annotations: { 'pod-group-name': '' } }))).toBe('ring')
    expect(groupNameOf(podOf({ labels: { 'pod-group-name': '' } }))).toBeUndefined()
  })

  it('reads Kueue’s dialect', () => {
    const annotations = {
      'pod-group-total-count': '+3',
      'pod-group-fast-admission': 'true',
    }
    expect(groupOf(podOf({ labels, annotations }))).toEqual({
      name: 'ring',
      totalCount: 3,
      fastAdmission: true,
    })
  })

  it('is asked for a wish by the exact word, whether the rest can be read or not', () => {
    const withAnnotation = (key: string, value: string) => podOf({ annotations: { [key]: value } })
    expect(serves(withAnnotation('pod-group-serving', 'true'))).toBe(true)
    expect(serves(withAnnotation('pod-group-serving', 'yes'))).toBe(false)
    expect(forbidsRetries(withAnnotation('retriable-in-group', 'false'))).toBe(true)
    expect(forbidsRetries(withAnnotation('retriable-in-group', 'no'))).toBe(false)
    expect(isAdmittedAhead(withAnnotation('pod-group-fast-admission', 'true'))).toBe(true)
    expect(isAdmittedAhead(withAnnotation('pod-group-fast-admission', 'false'))).toBe(false)
    expect(isAdmittedAhead(withAnnotation('pod-group-sets', ''))).toBe(true)
    expect([serves, forbidsRetries, isAdmittedAhead].map(question => question(podOf()))).toEqual([false, false, false])
  })

  it('reads story 2 of KEP-976: pods of one shape', () => {
    const group = groupOf(podOf({ labels, annotations: { 'pod-group-count': '10' } }))
    expect(group).toMatchObject({ name: 'ring', totalCount: 10, fastAdmission: false })
  })

  it('reads story 3 of KEP-976: named roles', () => {
    const annotations = { 'pod-group-roles': '2', 'pod-group-role-count': '10' }
    const group = groupOf(podOf({ labels: { ...labels, 'pod-group-role': 'worker' }, annotations }))
    expect(group).toMatchObject({ role: 'worker', roles: 2, roleCount: 10 })
    expect(group?.totalCount).toBeUndefined()
  })

  it('assumes one pod for a role without a count', () => {
    const options = { labels: { ...labels, 'pod-group-role': 'driver' }, annotations: { 'pod-group-roles': '2' } }
    expect(groupOf(podOf(options))?.roleCount).toBe(1)
  })

  it('knows the size of a group with a single role', () => {
    const annotations = { 'pod-group-roles': '1', 'pod-group-role-count': '4' }
    expect(groupOf(podOf({ labels: { ...labels, 'pod-group-role': 'w' }, annotations }))?.totalCount).toBe(4)
  })

  it('reads the worker of story 4, which names only its role', () => {
    const group = groupOf(podOf({ labels: { ...labels, 'pod-group-role': 'worker' } }))
    expect(group).toMatchObject({ name: 'ring', role: 'worker', roleCount: 1 })
  })

  it.each([
    ['pod-group-count', '0'],
    ['pod-group-count', '2147483648'],
    ['pod-group-count', '1.5'],
    ['pod-group-count', ''],
    ['pod-group-roles', '9'],
    ['pod-group-roles', '-1'],
    ['pod-group-role-count', 'many'],
  ])('refuses %s "%s"', (key, value) => {
    const options = { labels: { ...labels, 'pod-group-role': 'w' }, annotations: { [key]: value } }
    expect(problems(options)).toEqual([
      expect.stringMatching(
        /^Invalid metadata\.annotations\[kueue\.x-k8s\.io\/pod-group-.*must be a whole number from 1/,
      ),
    ])
  })

  it('refuses a role that is no DNS label', () => {
    expect(problems({ labels: { ...labels, 'pod-group-role': 'a.b' } })).toEqual([
      'Invalid metadata.labels[kueue.x-k8s.io/pod-group-role]: must not contain dots',
    ])
  })

  it('asks for the role where the group has roles', () => {
    expect(problems({ labels, annotations: { 'pod-group-roles': '2' } })).toEqual([
      expect.stringContaining('Required metadata.labels[kueue.x-k8s.io/pod-group-role]'),
    ])
  })

  it('asks for the group where there is a role', () => {
    expect(problems({ labels: { 'pod-group-role': 'w' } })).toEqual([
      expect.stringContaining('Required metadata.labels[kueue.x-k8s.io/pod-group-name]'),
    ])
  })

  it('names both keys when the dialects are mixed', () => {
    const [error, ...others] = problems({
      labels,
      annotations: { 'pod-group-total-count': '3', 'pod-group-count': '3' },
    })
    expect(others).toEqual([])
    expect(error).toContain('Forbidden metadata.annotations[kueue.x-k8s.io/pod-group-count]')
    expect(error).toContain("'kueue.x-k8s.io/pod-group-count'")
    expect(error).toContain("'kueue.x-k8s.io/pod-group-total-count'")
  })

  it('refuses roles that cannot add up to the count', () => {
    const annotations = { 'pod-group-count': '3', 'pod-group-roles': '3', 'pod-group-role-count': '2' }
    expect(problems({ labels: { ...labels, 'pod-group-role': 'w' }, annotations })).toEqual([
      expect.stringContaining('that does not add up'),
    ])
  })

  it.each(['0', '-1'])('refuses a group of %s pods', count => {
    expect(problems({ labels, annotations: { 'pod-group-total-count': count } })).toEqual([
      expect.stringContaining('group total count should be greater than zero'),
    ])
  })

  it('refuses a total count that is no int32', () => {
    expect(problems({ labels, annotations: { 'pod-group-total-count': '3000000000' } })).toEqual([
      expect.stringContaining('strconv.Atoi: parsing "3000000000": value out of range'),
    ])
  })
})
