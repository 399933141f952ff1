import { describe, expect, it } from 'vitest'
import type { World } from '../../../../src/webhooks/world.ts'
import { brief } from '../pods/fixtures.ts'
import {
  ALICE,
  JOB_SET_OWNER,
  JOBSET_CONTROLLER,
  job,
  mutated,
  passed,
  queuedSet,
  queueWorld,
  running,
  validated,
  waiting,
} from './queue-fixtures.ts'

const q = { labels: { 'queue-name': 'q' } }
const LATE = { podReplacementPolicy: 'Failed' }
const EARLY = { podReplacementPolicy: 'TerminatingOrFailed' }

const policyOf = (object: object): unknown =>
  (object as { readonly spec: { readonly podReplacementPolicy?: string } }).spec.podReplacementPolicy

const asWritten: World = (() => {
  const world = queueWorld()
  return { ...world, config: { ...world.config, guard: { ...world.config.guard, podReplacement: 'AsWritten' } } }
})()

describe('a pod of what is queued', () => {
  it.each([{}, EARLY, LATE])('is replaced when it is gone, whatever a new Job says: %j', spec => {
    expect(policyOf(passed(job({ ...q, spec })).stored)).toBe('Failed')
  })

  it('is replaced as the Job says where nobody queues it, or the administrator has it so', () => {
    expect(mutated(job({ spec: EARLY }))).toMatchObject({ kind: 'allowed', patch: [] })
    expect(policyOf(passed(job({ ...q, spec: EARLY }), { world: asWritten }).stored)).toBe('TerminatingOrFailed')
    const [old, now] = [running({ spec: LATE }), running({ spec: EARLY })]
    expect(passed(now, { old, world: asWritten })).toMatchObject({ stored: now, verdict: { kind: 'allowed' } })
  })

  it.each([
    ['waits', waiting],
    ['runs', running],
  ])('stays so when the manifest is applied again while it %s', (_, make) => {
    const again = passed(make({ spec: EARLY }), { old: make({ spec: LATE }) })
    expect(again.verdict).toMatchObject({ kind: 'allowed' })
    expect(policyOf(again.stored)).toBe('Failed')
  })

  it.each([
    ['is suspended already', { suspend: true }, { suspend: true }],
    ['is suspended in the same write', { suspend: false }, { suspend: true }],
    ['is resumed in the same write', { suspend: true }, { suspend: false }],
  ])('is replaced when it is gone also in a Job that comes into its queue later and %s', (_, before, after) => {
    const old = job({ spec: { ...EARLY, ...before } })
    const come = passed(job({ ...q, spec: { ...EARLY, ...after } }), { old })
    expect(come.verdict).toMatchObject({ kind: 'allowed' })
    expect(come.stored.spec).toMatchObject({ suspend: true, ...LATE })
    const left = passed(job({ ...q, spec: { ...EARLY, ...after } }), { old, world: asWritten })
    expect(left.stored.spec).toMatchObject({ suspend: true, ...EARLY })
  })

  it('stays so when its user holds the Job in the same write', () => {
    const held = passed(waiting({ spec: { ...EARLY, suspend: true } }), { old: running({ spec: LATE }) })
    expect(held.verdict).toMatchObject({ kind: 'allowed' })
    expect(policyOf(held.stored)).toBe('Failed')
  })

  it('is left as it is in what was started before', () => {
    expect(mutated(running({ spec: EARLY }), { old: running({ spec: EARLY }) })).toMatchObject({ patch: [] })
  })

  it('is not changed behind the webhook that keeps it', () => {
    const verdict = validated(running({ spec: EARLY }), { old: running({ spec: LATE }) })
    expect(brief(verdict)).toEqual(['Forbidden spec.podReplacementPolicy'])
  })
})

describe('the Job of a queued JobSet', () => {
  const world = queueWorld({ objects: [queuedSet] })
  const child = (spec: object) => job({ owners: [JOB_SET_OWNER], spec: { ...spec } })

  it('keeps it, too, but for its controller', () => {
    const change = { old: child(LATE), world }
    const refused = validated(child(EARLY), { ...change, user: ALICE })
    expect(brief(refused)).toEqual(['Forbidden spec.podReplacementPolicy'])
    expect(validated(child(EARLY), { ...change, user: JOBSET_CONTROLLER })).toMatchObject({ kind: 'allowed' })
    expect(validated(child(LATE), { old: child(EARLY), world, user: ALICE })).toMatchObject({ kind: 'allowed' })
  })
})
