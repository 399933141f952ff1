import { describe, expect, it } from 'vitest'
import type { FieldError } from '../../../../src/validation/field-error.ts'
import type { AllowLists } from '../../../../src/workload/builder/allow.ts'
import { ALLOW_ALL } from '../../../../src/workload/builder/allow.ts'
import type { MaybeItem, WorkloadInput, WorkloadItem } from '../../../../src/workload/builder/item.ts'
import { validateTree } from '../../../../src/workload/builder/validate.ts'

const PATH = 'spec.scheduling'
const ONLY_GANG: AllowLists = { ...ALLOW_ALL, policies: ['gang'] }
const ONLY_BASIC: AllowLists = { ...ALLOW_ALL, policies: ['basic'] }
const ONLY_SINGLE: AllowLists = { ...ALLOW_ALL, disruptionModes: ['single'] }

const policy = { path: ['schedulingPolicy'] }
const gang: WorkloadInput = { policy: { group: { gang: { minCount: 2 } } } }
const basic: WorkloadInput = { policy: { group: { basic: {} } } }
const all = { disruptionMode: { group: { all: {} } } }
const single = { disruptionMode: { group: { single: {} } } }
const compositeBasic: WorkloadInput = { policy: { composite: { basic: {} } } }
const compositeGang = (minGroupCount: number): WorkloadInput => ({
  policy: { ...policy, composite: { gang: { minGroupCount } } },
})

const withGang = (name: string, minCount: number, path?: string): WorkloadItem => ({
  name,
  path,
  input: { policy: { ...policy, group: { gang: { minCount } } } },
})
const job = (input: WorkloadInput, path?: string): WorkloadItem => ({ name: 'job', path, input })
const composite = (input: WorkloadInput): WorkloadItem => ({
  name: 'root',
  path: PATH,
  input,
  children: [withGang('child', 2, PATH)],
})

interface Scenario {
  readonly root: MaybeItem
  readonly oldRoot?: WorkloadItem
  readonly allow?: AllowLists
  readonly skipBlocks?: boolean
  readonly errors?: readonly Partial<FieldError>[]
}

const TOO_SMALL = { type: 'Invalid', detail: 'must be greater than or equal to 1' } as const

const scenarios: Readonly<Record<string, Scenario>> = {
  'nil tree fails to compile': {
    root: null,
    errors: [{ field: '<nil>', type: 'Invalid', detail: 'invalid builder: missing root WorkloadItem' }],
  },
  'basic allowed': { root: job(basic) },
  'empty item name is rejected': {
    root: { name: '', path: PATH, input: basic },
    errors: [{ field: PATH, type: 'InternalError', detail: 'workload item name cannot be empty' }],
  },
  'basic forbidden when not allow-listed': {
    root: job(basic),
    allow: ONLY_GANG,
    errors: [
      { field: '<nil>', type: 'Forbidden', detail: 'basic scheduling policy is not supported by this controller' },
    ],
  },
  'gang allowed': { root: job(gang), allow: ONLY_GANG },
  'gang forbidden when not allow-listed': {
    root: job(gang),
    allow: ONLY_BASIC,
    errors: [{ type: 'Forbidden', detail: 'gang scheduling policy is not supported by this controller' }],
  },
  'single disruption allowed': { root: job({ ...gang, ...single }), allow: ONLY_SINGLE },
  'single disruption forbidden when not allow-listed': {
    root: job({ ...gang, ...single }),
    allow: { ...ALLOW_ALL, disruptionModes: ['all'] },
    errors: [{ type: 'Forbidden', detail: 'the disruptionMode `single` is not supported by this controller' }],
  },
  'all disruption forbidden when not allow-listed': {
    root: job({ ...gang, ...all }),
    allow: ONLY_SINGLE,
    errors: [{ type: 'Forbidden', detail: 'the disruptionMode `all` is not supported by this controller' }],
  },
  'a default that is not allow-listed is forbidden too': {
    root: { name: 'job', path: PATH, defaults: { policy: { basic: {} } } },
    allow: ONLY_GANG,
    errors: [{ field: PATH, type: 'Forbidden' }],
  },
  'no policy at all passes every allow-list': { root: { name: 'job' }, allow: { policies: [], disruptionModes: [] } },
  'basic with all disruption is rejected by cross-field rule': {
    root: job({ ...basic, disruptionMode: { ...all.disruptionMode, path: ['disruptionMode'] } }, PATH),
    errors: [
      {
        field: 'spec.scheduling.disruptionMode',
        type: 'Invalid',
        value: '',
        detail: 'the disruptionMode `all` is not supported with the Basic scheduling policy',
      },
    ],
  },
  'gang with all disruption is valid': { root: job({ ...gang, ...all }) },
  'no policy with all disruption is valid': { root: job(all) },
  'gang minCount below minimum fails declarative validation at injected path': {
    root: withGang('job', 0, PATH),
    errors: [{ ...TOO_SMALL, field: 'spec.scheduling.schedulingPolicy.gang.minCount', value: 0 }],
  },
  'nil item Path reports building-block errors without a root prefix': {
    root: withGang('job', 0),
    errors: [{ ...TOO_SMALL, field: 'schedulingPolicy.gang.minCount' }],
  },
  'declarative validation is skipped when disabled': { root: withGang('job', 0, PATH), skipBlocks: true },
  'an empty policy fails union declarative validation': {
    root: job({ policy: { ...policy, group: {} } }, PATH),
    errors: [
      {
        field: 'spec.scheduling.schedulingPolicy',
        type: 'Invalid',
        value: '',
        detail: 'must specify one of: `basic`, `gang`',
      },
    ],
  },
  'disruptionMode with single and all fails union declarative validation': {
    root: job({ ...gang, disruptionMode: { path: ['disruptionMode'], group: { single: {}, all: {} } } }, PATH),
    errors: [
      {
        field: 'spec.scheduling.disruptionMode',
        type: 'Invalid',
        value: '{single, all}',
        detail: 'must specify exactly one of: `single`, `all`',
      },
    ],
  },
  'too many topology constraints fails declarative validation': {
    root: job(
      {
        ...gang,
        constraints: { path: ['schedulingConstraints'], group: { topology: [{ key: 'zone' }, { key: 'rack' }] } },
      },
      PATH,
    ),
    errors: [
      {
        field: 'spec.scheduling.schedulingConstraints.topology',
        type: 'TooMany',
        detail: 'must have at most 1 item',
      },
    ],
  },
  'topology without a key fails declarative validation': {
    root: job({ constraints: { path: ['schedulingConstraints'], group: { topology: [{ key: '' }] } } }, PATH),
    errors: [{ field: 'spec.scheduling.schedulingConstraints.topology[0].key', type: 'Required', detail: '' }],
  },
  'topology with a key that is no label key fails declarative validation': {
    root: job({ constraints: { path: ['schedulingConstraints'], group: { topology: [{ key: '/zone' }] } } }, PATH),
    errors: [
      {
        field: 'spec.scheduling.schedulingConstraints.topology[0].key',
        type: 'Invalid',
        detail: 'prefix part must be non-empty',
      },
    ],
  },
  'resourceClaim with no source fails union declarative validation at indexed path': {
    root: job({ ...gang, resourceClaims: { path: ['resourceClaims'], group: [{ name: 'claim0' }] } }, PATH),
    errors: [
      {
        field: 'spec.scheduling.resourceClaims[0]',
        type: 'Invalid',
        detail: 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      },
    ],
  },
  'resourceClaim with names that are none fails declarative validation': {
    root: job(
      { resourceClaims: { path: ['resourceClaims'], group: [{ name: 'a.b', resourceClaimName: 'Not-A-Name' }] } },
      PATH,
    ),
    errors: [
      { field: 'spec.scheduling.resourceClaims[0].name', type: 'Invalid', detail: 'must not contain dots' },
      { field: 'spec.scheduling.resourceClaims[0].resourceClaimName', type: 'Invalid', value: 'Not-A-Name' },
    ],
  },
  'composite gang allowed': { root: composite(compositeGang(2)), allow: ONLY_GANG },
  'composite basic forbidden when not allow-listed': {
    root: composite(compositeBasic),
    allow: ONLY_GANG,
    errors: [{ field: PATH, type: 'Forbidden' }],
  },
  'composite gang minGroupCount below minimum fails declarative validation at injected path': {
    root: composite(compositeGang(0)),
    errors: [{ ...TOO_SMALL, field: 'spec.scheduling.schedulingPolicy.gang.minGroupCount' }],
  },
  'composite policy with basic and gang fails union declarative validation': {
    root: composite({ policy: { ...policy, composite: { basic: {}, gang: { minGroupCount: 2 } } } }),
    errors: [{ field: 'spec.scheduling.schedulingPolicy', type: 'Invalid', value: '{basic, gang}' }],
  },
  'composite policy set with a leaf policy fails the input union': {
    root: composite({ policy: { ...policy, composite: { gang: { minGroupCount: 2 } }, group: { gang: {} } } }),
    errors: [
      {
        field: PATH,
        type: 'InternalError',
        detail: 'composite workload item "root" sets leaf building block: policy',
      },
    ],
  },
  'composite policy set with a leaf disruptionMode fails the input union': {
    root: composite({ ...compositeGang(2), ...single }),
    errors: [{ field: PATH, type: 'InternalError' }],
  },
  'input union is enforced even when declarative validation is disabled': {
    root: composite({ policy: { ...policy, composite: { gang: { minGroupCount: 2 } }, group: { gang: {} } } }),
    skipBlocks: true,
    errors: [{ field: PATH, type: 'InternalError' }],
  },
  'invalid leaf child in a composite tree is validated recursively': {
    root: { name: 'root', path: PATH, input: compositeBasic, children: [withGang('child', 0, PATH)] },
    errors: [{ ...TOO_SMALL, field: 'spec.scheduling.schedulingPolicy.gang.minCount' }],
  },
  'update with matching root name is accepted': { root: job(gang), oldRoot: job(gang) },
  'update with mismatched root name is an internal error': {
    root: job(gang, PATH),
    oldRoot: { name: 'stale-job', input: gang },
    errors: [
      {
        field: PATH,
        type: 'InternalError',
        detail: 'old root name "stale-job" does not match new root name "job"',
      },
    ],
  },
  'update clearing policy skips declarative validation for the new nil policy': { root: job({}), oldRoot: job(gang) },
  'update clearing constraints skips declarative validation for the new nil constraints': {
    root: job(gang),
    oldRoot: job({ ...gang, constraints: { group: { topology: [{ key: 'zone' }] } } }),
  },
  'update clearing disruptionMode skips declarative validation for the new nil disruptionMode': {
    root: job(gang),
    oldRoot: job({ ...gang, ...single }),
  },
  'update of an unchanged child at the same position is ratcheted': {
    root: { name: 'root', children: [withGang('leaf', 0)] },
    oldRoot: { name: 'root', children: [withGang('leaf', 0)] },
  },
  'update of unchanged blocks that are wrong is ratcheted': {
    root: job({
      policy: { group: {} },
      constraints: { group: { topology: [{ key: 'a' }, { key: 'b' }] } },
      disruptionMode: { group: { single: {}, all: {} } },
      resourceClaims: { group: [{ name: 'Wrong', resourceClaimName: 'Wrong' }] },
    }),
    oldRoot: job({
      policy: { group: {} },
      constraints: { group: { topology: [{ key: 'a' }, { key: 'b' }] } },
      disruptionMode: { group: { single: {}, all: {} } },
      resourceClaims: { group: [{ name: 'Wrong', resourceClaimName: 'Wrong' }] },
    }),
  },
  'update from gang to basic is for the embedding API to refuse': { root: job(basic), oldRoot: job(gang) },
  'update of a child that changed position is validated as an addition': {
    root: { name: 'root', path: PATH, children: [withGang('leaf', 0, PATH)] },
    oldRoot: { name: 'root', children: [{ name: 'mid', children: [withGang('leaf', 0)] }] },
    errors: [{ ...TOO_SMALL, field: 'spec.scheduling.schedulingPolicy.gang.minCount' }],
  },
}

describe('validateTree', () => {
  it.each(Object.entries(scenarios))('%s', (_name, { root, errors = [], allow = ALLOW_ALL, ...options }) => {
    const found = validateTree(root, { allow, ...options })
    expect(found).toHaveLength(errors.length)
    expect(found).toMatchObject(errors)
  })
})
