import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyPatch, type PatchOperation } from '../../../../src/admission/patch.ts'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import type { Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { reviewPodMutation, reviewPodValidation } from '../../../../src/webhooks/pods/pods.ts'
import { tallyOf } from '../../../support/tally.ts'
import { GATE, K, MANAGED, requestOf, worldOf } from './fixtures.ts'

const foreignKey = fc.constantFrom('app', 'example.com/a', 'team~/x', '__proto__', 'x')
const maybeNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof(arbitrary, fc.constant(null), fc.constant(undefined))

const labels = fc
  .record({
    foreign: fc.dictionary(foreignKey, fc.string()),
    queue: fc.constantFrom(undefined, 'team-a', 'default'),
    managed: fc.constantFrom(undefined, 'true'),
  })
  .map(({ foreign, queue, managed }) => ({
    ...foreign,
    ...(queue && { [`${K}queue-name`]: queue }),
    ...(managed && { [MANAGED]: managed }),
  }))

const annotations = fc
  .record({
    foreign: fc.dictionary(foreignKey, fc.string()),
    hash: fc.constantFrom(undefined, '', 'dc85db45', '00000000', 'leader'),
  })
  .map(({ foreign, hash }) => ({ ...foreign, ...(hash !== undefined && { [`${K}role-hash`]: hash }) }))

const requests = fc.dictionary(
  fc.constantFrom('cpu', 'memory', 'nvidia.com/gpu'),
  fc.constantFrom('1', '100m', '1000m', '1Gi', '0.5'),
)

/** Pods with nothing wrong in them but perhaps a false role; every list and map may be there, empty, null or absent. */
const pods = fc
  .record({
    labels: maybeNull(labels),
    annotations: maybeNull(annotations),
    finalizers: maybeNull(fc.uniqueArray(fc.constantFrom('a.io/x', 'b.io/y', MANAGED))),
    gates: maybeNull(fc.uniqueArray(fc.constantFrom('a.io/g', 'b.io/h', GATE))),
    containers: fc.array(fc.record({ name: fc.string(), resources: fc.record({ requests }) }), { maxLength: 3 }),
    extra: fc.dictionary(fc.constantFrom('volumes', 'unknownField', 'hostNetwork', 'tolerations'), fc.jsonValue()),
    nodeSelector: maybeNull(fc.dictionary(fc.string(), fc.string())),
  })
  .map(
    ({ labels, annotations, finalizers, gates, containers, extra, nodeSelector }) =>
      ({
        metadata: { name: 'p', namespace: 'team-a', labels, annotations, finalizers, unknownMeta: [1] },
        spec: { ...extra, containers, nodeSelector, schedulingGates: gates?.map(name => ({ name, unknown: 1 })) },
        unknownTop: { a: null },
      }) as unknown as Pod,
  )

const worlds = fc
  .record({ manageAll: fc.boolean(), defaultQueue: fc.boolean() })
  .map(options => ({ world: worldOf(options), options }))

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const asksForQueue = (pod: Pod, options: { manageAll: boolean; defaultQueue: boolean }): boolean =>
  Boolean(pod.metadata.labels?.[`${K}queue-name`]) || options.manageAll || options.defaultQueue

/** The pod after the mutator, or undefined when it was denied. */
function mutate(pod: Pod, world: ReturnType<typeof worldOf>): Pod | undefined {
  const verdict = reviewPodMutation(requestOf(pod), world)
  return verdict.kind === 'allowed' ? applyPatch(pod, verdict.patch) : undefined
}

type Fate = 'denied' | 'patched' | 'left alone'

const fateOf = (pod: Pod, after: Pod | undefined): Fate =>
  after === undefined ? 'denied' : same(pod, after) ? 'left alone' : 'patched'

type OperationKind = 'label' | 'annotation' | 'finalizer' | 'gate' | 'replace'

function kindsOfOperation({ op, path }: PatchOperation): readonly OperationKind[] {
  const places = {
    labels: 'label',
    annotations: 'annotation',
    finalizers: 'finalizer',
    schedulingGates: 'gate',
  } as const
  const field = path.split('/')[2] as keyof typeof places
  return op === 'replace' ? [places[field], 'replace'] : [places[field]]
}

const RUNS = { numRuns: 300 }

describe('for every pod', () => {
  it('mutating twice is mutating once', () => {
    const tried = tallyOf<Fate>('denied', 'patched', 'left alone')
    fc.assert(
      fc.property(pods, worlds, (pod, { world }) => {
        const once = mutate(pod, world)
        expect(once === undefined || same(mutate(once, world), once)).toBe(true)
        tried.count(fateOf(pod, once))
      }),
      RUNS,
    )
    tried.expectAll()
  })

  it('no operation of the patch is without effect, and all of them apply in order', () => {
    const tried = tallyOf('label', 'annotation', 'finalizer', 'gate', 'replace')
    fc.assert(
      fc.property(pods, worlds, (pod, { world }) => {
        const verdict = reviewPodMutation(requestOf(pod), world)
        let current = pod
        for (const operation of verdict.kind === 'allowed' ? verdict.patch : []) {
          const next = applyPatch(current, [operation])
          expect(same(next, current)).toBe(false)
          current = next
          tried.count(...kindsOfOperation(operation))
        }
      }),
      RUNS,
    )
    tried.expectAll()
  })

  it('everything that is not ours survives', () => {
    const tried = tallyOf('foreign labels', 'foreign annotations', 'a foreign finalizer', 'a foreign gate')
    fc.assert(
      fc.property(pods, worlds, (pod, { world }) => {
        const after = mutate(pod, world)
        if (after === undefined) return
        const strip = (source: Pod) => {
          const { labels, annotations, finalizers, ...metadata } = source.metadata
          const foreign = (map: object | null | undefined) =>
            Object.entries(map ?? {}).filter(([key]) => !key.startsWith(K))
          const { schedulingGates, ...spec } = source.spec
          return {
            ...source,
            metadata,
            spec,
            labels: foreign(labels),
            annotations: foreign(annotations),
            finalizers: (finalizers ?? []).filter(name => name !== MANAGED),
            gates: (schedulingGates ?? []).filter(gate => gate.name !== GATE),
          }
        }
        const before = strip(pod)
        expect(strip(after)).toEqual(before)
        if (fateOf(pod, after) !== 'patched') return
        if (before.labels.length > 0) tried.count('foreign labels')
        if (before.annotations.length > 0) tried.count('foreign annotations')
        if (before.finalizers.length > 0) tried.count('a foreign finalizer')
        if (before.gates.length > 0) tried.count('a foreign gate')
      }),
      RUNS,
    )
    tried.expectAll()
  })

  it('the validator accepts what the mutator made, unless the role was preset or the marks are not ours', () => {
    const tried = tallyOf('denied before', 'preset', 'gated', 'not ours', 'marked by others')
    fc.assert(
      fc.property(pods, worlds, (pod, { world, options }) => {
        const after = mutate(pod, world)
        const preset = pod.metadata.annotations?.[`${K}role-hash`]
        // The mutator corrects a hash only on pods that it queues; one that merely wears our marks is left to judge.
        const forged = preset === 'leader' || (Boolean(preset) && !asksForQueue(pod, options))
        if (after === undefined || forged) return tried.count(forged ? 'preset' : 'denied before')
        const marked = pod.metadata.labels?.[MANAGED] || pod.metadata.finalizers?.includes(MANAGED)
        const kind = marked && !asksForQueue(pod, options) ? 'denied' : 'allowed'
        expect(reviewPodValidation(requestOf(after), world)).toMatchObject({ kind })
        tried.count(asksForQueue(pod, options) ? 'gated' : marked ? 'marked by others' : 'not ours')
      }),
      RUNS,
    )
    tried.expectAll()
  })

  it('a pod that is ours is never let through without the gate', () => {
    const tried = tallyOf('denied', 'not ours', 'by its label', 'by the default queue', 'with all pods')
    fc.assert(
      fc.property(pods, worlds, (pod, { world, options }) => {
        const after = mutate(pod, world)
        if (after === undefined || !asksForQueue(pod, options)) {
          return tried.count(after === undefined ? 'denied' : 'not ours')
        }
        expect(after.spec.schedulingGates?.filter(gate => gate.name === GATE)).toHaveLength(1)
        expect(after.metadata.finalizers?.filter(name => name === MANAGED)).toHaveLength(1)
        expect(after.metadata.labels?.[MANAGED]).toBe('true')
        if (pod.metadata.labels?.[`${K}queue-name`]) tried.count('by its label')
        else tried.count(options.defaultQueue ? 'by the default queue' : 'with all pods')
      }),
      RUNS,
    )
    tried.expectAll()
  })

  it('no object, however malformed, makes a review throw', () => {
    const part = fc.oneof(fc.jsonValue(), pods)
    const objects = fc.oneof(part, fc.record({ metadata: part, spec: part }), pods)
    const tried = tallyOf(
      ...(['mutation', 'creation', 'update', 'status'] as const).flatMap(
        review => [`${review} allowed`, `${review} denied`] as const,
      ),
    )
    fc.assert(
      fc.property(objects, objects, (object, old) => {
        const request = { ...requestOf({ metadata: {}, spec: {} }), object: object as Pod, oldObject: old as Pod }
        const outcome = ({ kind }: Verdict) => (kind === 'allowed' ? 'allowed' : 'denied')
        const update = { ...request, operation: 'UPDATE' as const }
        tried.count(
          `mutation ${outcome(reviewPodMutation(request, worldOf({ manageAll: true })))}`,
          `creation ${outcome(reviewPodValidation(request, worldOf({ manageAll: true })))}`,
          `update ${outcome(reviewPodValidation(update, worldOf()))}`,
          `status ${outcome(reviewPodValidation({ ...update, subResource: 'status' }, worldOf()))}`,
        )
      }),
      { numRuns: 500 },
    )
    tried.expectAll()
  })
})
