import { describe, expect, it } from 'vitest'
import type { KubeObject, StringMap } from '../../../../src/kube/vocabulary/objects.ts'
import { brief, K } from '../pods/fixtures.ts'
import { job, jobSet, passed, validated, waiting } from './queue-fixtures.ts'

const REQUIRED = `${K}podset-required-topology`
const PREFERRED = `${K}podset-preferred-topology`
const SLICE = `${K}podset-slice-required-topology`
const SIZE = `${K}podset-slice-size`
const LAYERS = `${K}podset-slice-required-topology-constraints`
const JOB_PATH = 'spec.template.metadata.annotations'

const template = (annotations: StringMap) => ({ metadata: { annotations }, spec: { containers: [{ name: 'main' }] } })
const placed = (annotations: StringMap): KubeObject =>
  job({ labels: { 'queue-name': 'q' }, spec: { template: template(annotations) } })

/** The second of its replicated jobs asks: two Jobs of three pods. */
function placedSet(annotations: StringMap): KubeObject {
  const replicated = (name: string, replicas: number, parallelism: number, own: StringMap) => ({
    ...{ name, replicas },
    template: { spec: { parallelism, template: template(own) } },
  })
  const replicatedJobs = [replicated('leader', 1, 2, {}), replicated('workers', 2, 3, annotations)]
  return jobSet({ labels: { 'queue-name': 'q' }, spec: { replicatedJobs } })
}
const SET_PATH = `spec.replicatedJobs[1].template.${JOB_PATH}`

/** Each with the path of the Job; that of the JobSet is the same below its template. */
const WRONG: readonly (readonly [string, StringMap, string, string])[] = [
  ['two at once', { [REQUIRED]: 'a/b', [PREFERRED]: 'a/b' }, '', 'Invalid'],
  ['a level that is no name', { [REQUIRED]: 'not a name' }, `[${REQUIRED}]`, 'Invalid'],
  ['a preferred level that is no name', { [PREFERRED]: '-' }, `[${PREFERRED}]`, 'Invalid'],
  ['slices without a size', { [SLICE]: 'a/b' }, `[${SIZE}]`, 'Required'],
  ['a size without slices', { [SIZE]: '2' }, `[${SIZE}]`, 'Forbidden'],
  ['a size that is none', { [SLICE]: 'a/b', [SIZE]: 'two' }, `[${SIZE}]`, 'Invalid'],
  ['a slice that is larger than all', { [SLICE]: 'a/b', [SIZE]: '7' }, `[${SIZE}]`, 'Invalid'],
  ['no boolean', { [`${K}podset-unconstrained-topology`]: 'maybe' }, `[${K}podset-unconstrained-topology]`, 'Invalid'],
]

describe('where the pods of a Job ask to be placed', () => {
  it.each(WRONG)('is judged in its template: %s', (_what, annotations, key, type) => {
    const { verdict } = passed(placed(annotations))
    expect(brief(verdict)).toEqual([`${type} ${JOB_PATH}${key}`])
  })

  it.each(WRONG)('is judged in every template of a JobSet: %s', (_what, annotations, key, type) => {
    const { verdict } = passed(placedSet(annotations))
    expect(brief(verdict)).toEqual([`${type} ${SET_PATH}${key}`])
  })

  it('may be what Kueue takes', () => {
    const right: readonly StringMap[] = [
      { [REQUIRED]: 'cloud.example.com/rack' },
      { [PREFERRED]: 'cloud.example.com/rack' },
      { [SLICE]: 'cloud.example.com/rack', [SIZE]: '2' },
      { [`${K}podset-unconstrained-topology`]: 'true' },
    ]
    for (const annotations of right) {
      expect(passed(placed(annotations)).verdict.kind).toBe('allowed')
      expect(passed(placedSet(annotations)).verdict.kind).toBe('allowed')
    }
  })

  it('has slices of at most as many pods as run at once', () => {
    const sliced = (size: string) => ({ [SLICE]: 'a/b', [SIZE]: size })
    expect(passed(placed(sliced('4'))).verdict.kind).toBe('allowed')
    expect(passed(placed(sliced('5'))).verdict).toMatchObject({
      errors: [{ field: `${JOB_PATH}[${SIZE}]`, detail: 'must not be greater than pod set count 4' }],
    })
    expect(passed(placedSet(sliced('6'))).verdict.kind).toBe('allowed')
    expect(passed(placedSet(sliced('7'))).verdict).toMatchObject({
      errors: [{ detail: 'must not be greater than pod set count 6' }],
    })
  })

  it('has an outermost slice of at most as many pods as run at once', () => {
    const layered = (size: number) => ({
      [LAYERS]: `[{"topology": "a/b", "size": ${size}}, {"topology": "a/c", "size": 1}]`,
    })
    expect(passed(placed(layered(4))).verdict.kind).toBe('allowed')
    expect(passed(placed(layered(5))).verdict).toMatchObject({
      errors: [{ field: `${JOB_PATH}[${LAYERS}]`, detail: 'must not be greater than pod set count 4', value: 5 }],
    })
    expect(passed(placedSet(layered(7))).verdict).toMatchObject({
      errors: [{ field: `${SET_PATH}[${LAYERS}]`, detail: 'must not be greater than pod set count 6' }],
    })
  })

  it('of a Job is wrong before it is too large', () => {
    const wrong = { [SIZE]: '9' }
    expect(brief(passed(placed(wrong)).verdict)).toEqual([`Forbidden ${JOB_PATH}[${SIZE}]`])
    expect(brief(passed(placedSet(wrong)).verdict)).toEqual([
      `Forbidden ${SET_PATH}[${SIZE}]`,
      `Invalid ${SET_PATH}[${SIZE}]`,
    ])
  })

  it('keeps nobody from his work who does not change it', () => {
    const wrong = { template: template({ [REQUIRED]: 'not a name' }) }
    const old = waiting({ spec: wrong })
    expect(validated(waiting({ spec: { ...wrong, parallelism: 3 } }), { old }).kind).toBe('allowed')
    expect(brief(validated(waiting({ spec: wrong }), { old: waiting() }))).toEqual([`Invalid ${JOB_PATH}[${REQUIRED}]`])
  })

  it('is nothing where templates are not what the API says', () => {
    const odd = [null, 'text', { metadata: null }, { metadata: { annotations: { [REQUIRED]: 7 } } }]
    for (const template of odd) {
      const replicatedJobs = [{ name: 'a', template: { spec: { template } } }, null, 7]
      expect(() => validated(jobSet({ labels: { 'queue-name': 'q' }, spec: { replicatedJobs } }))).not.toThrow()
    }
  })
})
