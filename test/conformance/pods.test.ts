import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { applyPatch } from '../../src/admission/patch.ts'
import type { Verdict } from '../../src/admission/verdict.ts'
import type { KubeObject, LabelSelector, Pod, StringMap } from '../../src/kube/vocabulary/objects.ts'
import { reviewPodMutation, reviewPodValidation } from '../../src/webhooks/pods/pods.ts'
import type { World } from '../../src/webhooks/world.ts'
import { requestOf, worldOf } from '../unit/webhooks/pods/fixtures.ts'

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

/** Optional cases that Muster decides otherwise, each with its reason. */
const DIFFERENT_ON_PURPOSE: Readonly<Record<string, string>> = {
  'mutate-suspending-parent-skips-finalizer-and-managed-label':
    'no controller of a parent lifts such a gate here, so the pod is queued like any other',
  'mutate-wpc-default-applied': 'workload priority classes are not defaulted',
}

const cases = JSON.parse(readFileSync(new URL('cases/pods.json', import.meta.url), 'utf8')) as readonly Case[]

function worldFor({ config, namespaceLabels, clusterObjects }: Case): World {
  return worldOf({
    frameworks: config.enabledFrameworks,
    manageAll: config.manageJobsWithoutQueueName ?? false,
    defaultQueue: config.defaultLocalQueue ?? false,
    namespaceLabels: { found: namespaceLabels },
    objects: clusterObjects ?? [],
    ...(config.namespaceSelector && { namespaceSelector: config.namespaceSelector }),
    ...(config.podSelector && { podSelector: config.podSelector }),
  })
}

function mutated(pod: Pod, verdict: Verdict): Pod {
  if (verdict.kind !== 'allowed') throw new Error(`not allowed: ${JSON.stringify(verdict)}`)
  return applyPatch(pod, verdict.patch)
}

function expectKeys(actual: StringMap | null | undefined, wanted: Readonly<Record<string, string | null>> = {}): void {
  for (const [key, value] of Object.entries(wanted)) expect(actual?.[key] ?? null, key).toBe(value)
}

describe('Kueue’s pod webhook, case by case', () => {
  for (const testCase of cases) {
    const { id, kind, object, oldObject, expect: wanted } = testCase
    const reason = DIFFERENT_ON_PURPOSE[id]
    it.skipIf(reason !== undefined)(reason === undefined ? id : `${id} (${reason})`, () => {
      const world = worldFor(testCase)
      const request = requestOf(object, oldObject === null ? {} : { old: oldObject })
      if (kind === 'mutate') {
        const verdict = reviewPodMutation(request, world)
        expect(verdict.kind === 'allowed').toBe(wanted.allowed)
        if (!wanted.allowed) return
        const result = mutated(object, verdict)
        expect((result.spec.schedulingGates ?? []).map(gate => gate.name)).toEqual(wanted.gates)
        if (wanted.finalizers) expect(result.metadata.finalizers ?? []).toEqual(wanted.finalizers)
        expectKeys(result.metadata.labels, wanted.labels)
        expectKeys(result.metadata.annotations, wanted.annotations)
        return
      }
      const verdict = reviewPodValidation(request, world)
      expect(verdict.kind === 'allowed', JSON.stringify(verdict)).toBe(wanted.allowed)
      const errors = verdict.kind === 'denied' ? verdict.errors : []
      const brief = errors.map(({ field, type }) => ({ field, type }))
      expect(brief).toEqual((wanted.errors ?? []).map(({ field, type }) => ({ field, type })))
      for (const [index, { detailContains }] of (wanted.errors ?? []).entries()) {
        expect(errors[index]?.detail).toContain(detailContains ?? '')
      }
      if (wanted.warnings) expect(verdict.kind === 'needs' ? [] : verdict.warnings).toEqual(wanted.warnings)
    })
  }
})

describe('the two webhooks together', () => {
  const refused = new Set(['mutate-empty-queue-label-unmanaged', 'mutate-keeps-preset-role-hash'])

  for (const testCase of cases.filter(({ kind, expect: { allowed } }) => kind === 'mutate' && allowed)) {
    const { id, object } = testCase
    const world = worldFor(testCase)

    it(`mutates twice as once: ${id}`, () => {
      const once = mutated(object, reviewPodMutation(requestOf(object), world))
      expect(mutated(once, reviewPodMutation(requestOf(once), world))).toEqual(once)
    })

    it(`${refused.has(id) ? 'refuses what Kueue keeps' : 'accepts its own result'}: ${id}`, () => {
      const once = mutated(object, reviewPodMutation(requestOf(object), world))
      expect(reviewPodValidation(requestOf(once), world).kind).toBe(refused.has(id) ? 'denied' : 'allowed')
    })
  }
})
