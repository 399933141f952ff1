import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { applyPatch } from '../../src/admission/patch.ts'
import type { Verdict } from '../../src/admission/verdict.ts'
import { MANAGED, PRIORITY_CLASS, QUEUE_NAME, ROLE_HASH } from '../../src/kube/vocabulary/names.ts'
import type { KubeObject, LabelSelector, Pod, StringMap } from '../../src/kube/vocabulary/objects.ts'
import { type FieldError, invalid } from '../../src/validation/field-error.ts'
import { reviewPodMutation, reviewPodValidation } from '../../src/webhooks/pods/pods.ts'
import type { World } from '../../src/webhooks/world.ts'
import { likeKueue, requestOf, worldOf } from '../unit/webhooks/pods/fixtures.ts'

/** Cases of Kueue's behaviour: its own test tables, and rows read from its code. Unlisted keys are free. */
interface Case {
  readonly id: string
  readonly kind: 'mutate' | 'validate'
  readonly operation: 'CREATE' | 'UPDATE'
  readonly config: {
    readonly enabledFrameworks: readonly string[]
    readonly namespaceSelector?: LabelSelector
    readonly podSelector?: LabelSelector
    readonly manageJobsWithoutQueueName?: boolean
    readonly defaultLocalQueue?: boolean
  }
  readonly namespaceLabels: StringMap
  readonly object: Pod
  readonly oldObject: Pod | null
  readonly clusterObjects?: readonly KubeObject[]
  readonly expect: {
    readonly allowed: boolean
    readonly gates?: readonly string[]
    readonly finalizers?: readonly string[]
    readonly labels?: Readonly<Record<string, string | null>>
    readonly annotations?: Readonly<Record<string, string | null>>
    readonly errors?: readonly { readonly field: string; readonly type: string; readonly detailContains?: string }[]
    readonly warnings?: readonly string[]
  }
}

type Answer = Case['expect']

/** Cases that Muster decides otherwise than Kueue: why, and what it answers instead. */
const DIFFERENT_ON_PURPOSE: Readonly<Record<string, { readonly reason: string; readonly answer: Partial<Answer> }>> = {
  'mutate-suspending-parent-skips-finalizer-and-managed-label': {
    reason: 'no controller of a parent lifts such a gate here, so the pod is queued like any other',
    answer: { labels: { [MANAGED]: 'true', [QUEUE_NAME]: 'test-queue' }, finalizers: [MANAGED] },
  },
  'create-group-valid': {
    reason: 'our label on a pod that nobody queued is forged: the reconciler would count it',
    answer: { allowed: false, errors: [{ field: `metadata.labels[${MANAGED}]`, type: 'Forbidden' }] },
  },
  'create-topology-valid': {
    reason: 'our label on a pod that nobody queued is forged: the reconciler would count it',
    answer: { allowed: false, errors: [{ field: `metadata.labels[${MANAGED}]`, type: 'Forbidden' }] },
  },
  'mutate-wpc-default-applied': {
    reason: 'no engine here knows priority classes: a label without effect would promise one',
    answer: { labels: { [MANAGED]: 'true', [QUEUE_NAME]: 'queue', [PRIORITY_CLASS]: null } },
  },
}

/** What the mutator leaves alone and the validator refuses; Kueue's validator takes the second one. */
const REFUSED_AFTERWARDS: Readonly<Record<string, { readonly reason: string; readonly error: FieldError }>> = {
  'mutate-empty-queue-label-unmanaged': {
    reason: 'an empty name is no queue, and both systems say so when they validate',
    error: invalid(
      `metadata.labels[${QUEUE_NAME}]`,
      '',
      expect.stringContaining('a lowercase RFC 1123 subdomain must consist of'),
    ),
  },
  'mutate-keeps-preset-role-hash': {
    reason: 'a role that is believed charges a large pod as a small one',
    error: invalid(
      `metadata.annotations[${ROLE_HASH}]`,
      'leader',
      'is not the role of this pod, which is dc85db45; remove the annotation: Muster computes it',
    ),
  },
}

const cases = JSON.parse(readFileSync(new URL('cases/pods.json', import.meta.url), 'utf8')) as readonly Case[]

function worldFor({ config, namespaceLabels, clusterObjects }: Case): World {
  return worldOf({
    ...likeKueue(config.enabledFrameworks),
    manageAll: config.manageJobsWithoutQueueName ?? false,
    defaultQueue: config.defaultLocalQueue ?? false,
    namespaceLabels,
    objects: clusterObjects ?? [],
    ...(config.namespaceSelector && { namespaceSelector: config.namespaceSelector }),
    ...(config.podSelector && { podSelector: config.podSelector }),
  })
}

function mutated(pod: Pod, verdict: Verdict): Pod {
  if (verdict.kind !== 'allowed') throw new Error(`not allowed: ${JSON.stringify(verdict)}`)
  return applyPatch(pod, verdict.patch)
}

/** What Muster answers, as far as the case speaks of it. */
function answerTo(testCase: Case, wanted: Answer): unknown {
  const { kind, object, oldObject } = testCase
  const request = requestOf(object, oldObject === null ? {} : { old: oldObject })
  const verdict = (kind === 'mutate' ? reviewPodMutation : reviewPodValidation)(request, worldFor(testCase))
  const errors = verdict.kind === 'denied' ? verdict.errors : []
  const pod = kind === 'mutate' && verdict.kind === 'allowed' ? mutated(object, verdict) : undefined
  return {
    allowed: verdict.kind === 'allowed',
    errors: errors.map(({ field, type, detail }) => ({ field, type, detail })),
    ...(wanted.warnings && { warnings: verdict.warnings }),
    ...(pod && {
      gates: (pod.spec.schedulingGates ?? []).map(gate => gate.name),
      ...(wanted.finalizers && { finalizers: pod.metadata.finalizers ?? [] }),
      ...(wanted.labels && { labels: picked(pod.metadata.labels, wanted.labels) }),
      ...(wanted.annotations && { annotations: picked(pod.metadata.annotations, wanted.annotations) }),
    }),
  }
}

function picked(actual: StringMap | null | undefined, wanted: object): Readonly<Record<string, string | null>> {
  return Object.fromEntries(Object.keys(wanted).map(key => [key, actual?.[key] ?? null]))
}

function expected({ errors = [], ...rest }: Answer): unknown {
  const described = errors.map(({ field, type, detailContains = '' }) => ({
    field,
    type,
    detail: expect.stringContaining(detailContains),
  }))
  return { ...rest, errors: described }
}

describe('Kueue’s pod webhook, case by case', () => {
  for (const testCase of cases) {
    const { id, expect: kueues } = testCase
    const difference = DIFFERENT_ON_PURPOSE[id]
    if (difference === undefined) {
      it(id, () => expect(answerTo(testCase, kueues)).toEqual(expected(kueues)))
      continue
    }
    it(`${id}, otherwise: ${difference.reason}`, () => {
      const ours = { ...kueues, ...difference.answer }
      expect(answerTo(testCase, ours)).toEqual(expected(ours))
      expect(answerTo(testCase, kueues)).not.toEqual(expected(kueues))
    })
  }

  it('has no difference that no case shows', () => {
    const differences = [...Object.keys(DIFFERENT_ON_PURPOSE), ...Object.keys(REFUSED_AFTERWARDS)]
    expect(cases.map(({ id }) => id)).toEqual(expect.arrayContaining(differences))
  })
})

describe('the two webhooks together', () => {
  for (const testCase of cases.filter(({ kind, expect: { allowed } }) => kind === 'mutate' && allowed)) {
    const { id, object } = testCase
    const world = worldFor(testCase)
    const once = () => mutated(object, reviewPodMutation(requestOf(object), world))

    it(`mutates twice as once: ${id}`, () => {
      expect(mutated(once(), reviewPodMutation(requestOf(once()), world))).toEqual(once())
    })

    const refusal = REFUSED_AFTERWARDS[id]
    it(refusal === undefined ? `accepts its own result: ${id}` : `refuses ${id}: ${refusal.reason}`, () => {
      const verdict = reviewPodValidation(requestOf(once()), world)
      if (refusal === undefined) expect(verdict).toMatchObject({ kind: 'allowed' })
      else expect(verdict).toMatchObject({ kind: 'denied', code: 422, errors: [refusal.error] })
    })
  }
})
