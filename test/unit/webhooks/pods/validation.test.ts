import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import { reviewPodValidation } from '../../../../src/webhooks/pods/pods.ts'
import {
  askingWorld,
  brief,
  controller,
  errorsOf,
  GATE,
  K,
  likeKueue,
  MANAGED,
  ownerObject,
  type PodOptions,
  podOf,
  queuedPod,
  requestOf,
  type WorldOptions,
  worldOf,
} from './fixtures.ts'

const create = (options: PodOptions, world: WorldOptions = {}): Verdict =>
  reviewPodValidation(requestOf(podOf(options)), worldOf(world))

const label = (key: string): string => `metadata.labels[${K}${key}]`
const annotation = (key: string): string => `metadata.annotations[${K}${key}]`

describe('a new pod is refused for', () => {
  it.each<[string, PodOptions, readonly string[], string]>([
    [
      'a queue name with capitals',
      { labels: { 'queue-name': 'Q' } },
      [`Invalid ${label('queue-name')}`],
      'a lowercase RFC 1123 subdomain',
    ],
    [
      'a long queue name',
      { labels: { 'queue-name': 'q'.repeat(254) } },
      [`Invalid ${label('queue-name')}`],
      'must be no more than 253 characters',
    ],
    [
      'an empty prebuilt name',
      { labels: { 'prebuilt-workload-name': '' } },
      [`Invalid ${label('prebuilt-workload-name')}`],
      'a lowercase RFC 1123 subdomain',
    ],
    [
      'a time limit of zero',
      { labels: { 'max-exec-time-seconds': '0' } },
      [`Invalid ${label('max-exec-time-seconds')}`],
      'should be greater than 0',
    ],
    [
      'a negative time limit',
      { labels: { 'max-exec-time-seconds': '-5' } },
      [`Invalid ${label('max-exec-time-seconds')}`],
      'should be greater than 0',
    ],
    [
      'a time limit beyond int32',
      { labels: { 'max-exec-time-seconds': '2147483648' } },
      [`Invalid ${label('max-exec-time-seconds')}`],
      'value out of range',
    ],
    [
      'a time limit with a space',
      { labels: { 'max-exec-time-seconds': ' 5' } },
      [`Invalid ${label('max-exec-time-seconds')}`],
      'strconv.Atoi: parsing " 5": invalid syntax',
    ],
    [
      'an empty admission gate',
      { annotations: { 'admission-gated-by': 'a.io/x,' } },
      [`Invalid ${annotation('admission-gated-by')}`],
      'cannot contain empty gate names',
    ],
    [
      'an admission gate twice',
      { annotations: { 'admission-gated-by': 'a.io/x, a.io/x' } },
      [`Invalid ${annotation('admission-gated-by')}`],
      'duplicate gate name: a.io/x',
    ],
    [
      'nothing but commas between admission gates',
      { annotations: { 'admission-gated-by': ',,' } },
      [`Invalid ${annotation('admission-gated-by')}`],
      'cannot contain empty gate names',
    ],
    [
      'an admission gate three times',
      { annotations: { 'admission-gated-by': 'a.io/x,a.io/x,a.io/x' } },
      [`Invalid ${annotation('admission-gated-by')}`],
      'duplicate gate name: a.io/x',
    ],
    [
      'an admission gate of nobody',
      { annotations: { 'admission-gated-by': 'x' } },
      [`Invalid ${annotation('admission-gated-by')}`],
      'domain-prefixed path',
    ],
    [
      'a long admission gate',
      { annotations: { 'admission-gated-by': `a.io/${'x'.repeat(60)}` } },
      [`TooLong ${annotation('admission-gated-by')}`],
      '63',
    ],
    [
      'a count without a group',
      { annotations: { 'pod-group-total-count': '3' } },
      [`Required ${label('pod-group-name')}`],
      "annotation and the 'kueue.x-k8s.io/pod-group-name' label should be set",
    ],
    [
      'a group without a count',
      { labels: { 'pod-group-name': 'g' } },
      [`Required ${annotation('pod-group-total-count')}`],
      'should be set',
    ],
    [
      'a count of zero',
      { labels: { 'pod-group-name': 'g' }, annotations: { 'pod-group-total-count': '0' } },
      [`Invalid ${annotation('pod-group-total-count')}`],
      "incorrect annotation value 'kueue.x-k8s.io/pod-group-total-count=0': group total count should be greater than zero",
    ],
    [
      'a count beyond int64',
      { labels: { 'pod-group-name': 'g' }, annotations: { 'pod-group-total-count': '99999999999999999999' } },
      [`Invalid ${annotation('pod-group-total-count')}`],
      'value out of range',
    ],
    [
      'two topology requests',
      { annotations: { 'podset-required-topology': 'a', 'podset-preferred-topology': 'b' } },
      ['Invalid metadata.annotations'],
      'must not contain more than one topology annotation',
    ],
    [
      'a topology that is no label key',
      { annotations: { 'podset-required-topology': 'a b' } },
      [`Invalid ${annotation('podset-required-topology')}`],
      'name part must consist of alphanumeric',
    ],
    [
      'a topology with a name that is too long',
      { annotations: { 'podset-required-topology': `a.b/${'x'.repeat(64)}` } },
      [`Invalid ${annotation('podset-required-topology')}`],
      'name part must be no more than 63 bytes',
    ],
    [
      'a topology with a domain that is too long',
      { annotations: { 'podset-preferred-topology': `${'x'.repeat(254)}/y` } },
      [`Invalid ${annotation('podset-preferred-topology')}`],
      'prefix part must be no more than 253 bytes',
    ],
    [
      'a podSet group that is a number',
      { annotations: { 'podset-group-name': '7', 'podset-required-topology': 'a' } },
      [`Invalid ${annotation('podset-group-name')}`],
      'must not be a number',
    ],
    [
      'a slice size without a topology',
      { annotations: { 'podset-slice-size': '2' } },
      [`Forbidden ${annotation('podset-slice-size')}`],
      "may not be set when 'kueue.x-k8s.io/podset-slice-required-topology' is not specified",
    ],
    [
      'a slice size that is text',
      { annotations: { 'podset-slice-size': 'two', 'podset-slice-required-topology': 'a' } },
      [`Invalid ${annotation('podset-slice-size')}`],
      'must be a numeric value',
    ],
    [
      'broken constraints',
      { annotations: { 'podset-slice-required-topology-constraints': '{' } },
      [`Invalid ${annotation('podset-slice-required-topology-constraints')}`],
      'must be a valid JSON array',
    ],
    [
      'a constraint whose size Go takes for no whole number',
      { annotations: { 'podset-slice-required-topology-constraints': '[{"topology":"a","size":1e1}]' } },
      [`Invalid ${annotation('podset-slice-required-topology-constraints')}`],
      'must be a valid JSON array',
    ],
    [
      'a constraint whose size has a point',
      { annotations: { 'podset-slice-required-topology-constraints': '[{"topology":"a","size":4.0}]' } },
      [`Invalid ${annotation('podset-slice-required-topology-constraints')}`],
      'must be a valid JSON array',
    ],
    [
      'a size in capitals, which Go reads like any other',
      { annotations: { 'podset-slice-required-topology-constraints': '[{"Topology":"a","SIZE":0}]' } },
      [`Invalid ${annotation('podset-slice-required-topology-constraints')}[0].size`],
      'must be greater than or equal to 1',
    ],
    [
      'no constraints',
      { annotations: { 'podset-slice-required-topology-constraints': '[]' } },
      [`Invalid ${annotation('podset-slice-required-topology-constraints')}`],
      'must contain between 1 and 3 entries',
    ],
    [
      'a constraint of size zero',
      { annotations: { 'podset-slice-required-topology-constraints': '[{"topology":"a"}]' } },
      [`Invalid ${annotation('podset-slice-required-topology-constraints')}[0].size`],
      'greater than or equal to 1',
    ],
    [
      'a constraint twice',
      {
        annotations: {
          'podset-slice-required-topology-constraints': '[{"topology":"a","size":4},{"topology":"a","size":2}]',
        },
      },
      [`Duplicate ${annotation('podset-slice-required-topology-constraints')}[1].topology`],
      'also at index 0',
    ],
    [
      'constraints that do not divide',
      {
        annotations: {
          'podset-slice-required-topology-constraints': '[{"topology":"a","size":4},{"topology":"b","size":3}]',
        },
      },
      [`Invalid ${annotation('podset-slice-required-topology-constraints')}[1].size`],
      'must evenly divide the parent layer size 4',
    ],
  ])('%s', (_what, options, expected, detail) => {
    const verdict = create(options)
    expect(verdict).toMatchObject({ kind: 'denied', code: 422 })
    expect(brief(verdict)).toEqual(expected)
    expect(errorsOf(verdict)[0]?.detail).toContain(detail)
  })

  it('everything at once, in Kueue’s order', () => {
    const verdict = create({
      labels: { 'queue-name': '', 'max-exec-time-seconds': 'x', managed: 'no', 'pod-group-name': 'G' },
      annotations: {
        'elastic-job': 'true',
        'podset-unconstrained-topology': 'maybe',
        'prebuilt-workload-name': 'other',
      },
    })
    expect(brief(verdict)).toEqual([
      `Invalid ${label('queue-name')}`,
      `Invalid ${label('max-exec-time-seconds')}`,
      `Forbidden ${annotation('elastic-job')}`,
      `Forbidden ${label('managed')}`,
      `Invalid ${label('pod-group-name')}`,
      `Required ${annotation('pod-group-total-count')}`,
      `Invalid ${annotation('podset-unconstrained-topology')}`,
      `Invalid ${annotation('prebuilt-workload-name')}`,
    ])
  })
})

describe('a pod of ours', () => {
  const review = (options: PodOptions, world: WorldOptions = {}): Verdict =>
    reviewPodValidation(requestOf(queuedPod(options)), worldOf(world))

  it('is accepted as our mutator leaves it', () => {
    expect(review({})).toMatchObject({ kind: 'allowed', reason: 'Valid', warnings: [] })
  })

  it('is refused with a false role', () => {
    expect(brief(review({ annotations: { 'role-hash': 'leader' } }))).toEqual([`Invalid ${annotation('role-hash')}`])
  })

  it('is refused with marks that only an admitted pod has', () => {
    const labels = { podset: 'main', 'local-queue-name': 'q', 'cluster-queue-name': 'c' }
    expect(brief(review({ labels, annotations: { workload: 'w' } }))).toEqual([
      `Forbidden ${label('podset')}`,
      `Forbidden ${label('local-queue-name')}`,
      `Forbidden ${label('cluster-queue-name')}`,
      `Forbidden ${annotation('workload')}`,
    ])
  })

  it('is refused when another webhook has removed our gate', () => {
    const verdict = review({ gates: [] })
    expect(verdict).toMatchObject({ kind: 'denied', code: 403 })
    expect(brief(verdict)).toEqual(['Required spec.schedulingGates'])
  })

  it('is refused when another webhook has set the queue after our mutator was passed over', () => {
    expect(brief(create({ labels: { 'queue-name': 'q' } }))).toEqual(['Required spec.schedulingGates'])
    expect(brief(create({}, { manageAll: true }))).toEqual(['Required spec.schedulingGates'])
  })
})

describe('a pod that is not ours', () => {
  const owner = controller('batch/v1', 'Job', 'job')
  const options = { labels: { 'queue-name': 'q', podset: 'main' }, owners: [owner] }

  it('may carry the marks that Kueue gives to the pods of a Job', () => {
    const world = { ...likeKueue(['pod', 'batch/job']), objects: [ownerObject(owner, { queue: 'q' })] }
    expect(create(options, world)).toMatchObject({ kind: 'allowed', reason: 'Valid' })
  })

  it('is not asked about before its owner is known', () => {
    const world = askingWorld(worldOf(likeKueue(['pod', 'batch/job'])), 'owner')
    reviewPodValidation(requestOf(podOf(options)), world)
    expect(world.open).toMatchObject([{ kind: 'owner', reference: { kind: 'Job', name: 'job' } }])
  })

  it.each<[string, WorldOptions]>([
    ['in a namespace outside the selector', { namespaceLabels: { 'kubernetes.io/metadata.name': 'kube-system' } }],
    ['while pods are not enabled', { frameworks: ['batch/job'] }],
  ])('is not judged %s', (_what, world) => {
    expect(create({ labels: { 'queue-name': 'BAD' } }, world)).toMatchObject({ kind: 'allowed' })
  })

  it.each<[string, PodOptions, readonly string[]]>([
    ['our label', { labels: { managed: 'true' } }, [`Forbidden ${label('managed')}`]],
    ['our finalizer', { finalizers: [MANAGED] }, ['Forbidden metadata.finalizers']],
    [
      'all our marks',
      { labels: { managed: 'true' }, finalizers: [MANAGED], gates: [GATE] },
      [`Forbidden ${label('managed')}`, 'Forbidden metadata.finalizers'],
    ],
    [
      'our label by the template of an owner that nothing queues',
      { labels: { managed: 'true' }, owners: [owner] },
      [`Forbidden ${label('managed')}`],
    ],
  ])('does not come with %s', (_what, marked, expected) => {
    const verdict = create(marked)
    expect(verdict).toMatchObject({ kind: 'denied', code: 403 })
    expect(brief(verdict)).toEqual(expected)
  })

  it.each<[string, PodOptions, readonly string[]]>([
    ['label', { labels: { 'queue-name': 'q', managed: 'true' } }, [`Forbidden ${label('managed')}`]],
    ['label, without a queue', { labels: { managed: 'true' } }, [`Forbidden ${label('managed')}`]],
    ['finalizer', { labels: { 'queue-name': 'q' }, finalizers: [MANAGED] }, ['Forbidden metadata.finalizers']],
  ])('does not come with our %s from a Job in a queue, by whose policies it is kept', (_what, marked, expected) => {
    const user = { username: 'system:serviceaccount:kube-system:job-controller' }
    const world = worldOf({ objects: [ownerObject(owner, { queue: 'q' })] })
    const verdict = reviewPodValidation({ ...requestOf(podOf({ ...marked, owners: [owner] })), userInfo: user }, world)
    expect(verdict).toMatchObject({ kind: 'denied', code: 403 })
    expect(brief(verdict)).toEqual(expected)
  })

  it('does not come with our label where the selector leaves it out', () => {
    const world = { podSelector: { matchLabels: { team: 'a' } } }
    expect(brief(create({ labels: { 'queue-name': 'q', managed: 'true' } }, world))).toEqual([
      `Forbidden ${label('managed')}`,
    ])
  })

  it('may wait behind a gate of the same name without our label', () => {
    expect(create({ gates: [GATE] })).toMatchObject({ kind: 'allowed' })
  })
})

it('answers a request for another kind without an opinion', () => {
  const request = { ...requestOf(podOf({})), kind: { group: 'policy', version: 'v1', kind: 'Eviction' } }
  expect(reviewPodValidation(request, worldOf())).toMatchObject({ kind: 'allowed', reason: 'NotAPod' })
})
