import { describe, expect, it } from 'vitest'
import { describe as textOf } from '../../../../src/validation/field-error.ts'
import { changeErrors, creationErrors } from '../../../../src/validation/jobs/scheduling-rules.ts'
import { readBlock } from '../../../../src/validation/jobs/scheduling-spelling.ts'
import { sameTree } from '../../../../src/validation/jobs/scheduling-tree.ts'

const ROOT = 'spec.scheduling'

/** `field: text` of every error that the structure has, as the API server prints it. */
const created = (block: unknown): readonly string[] =>
  creationErrors(readBlock(block, ROOT)).map(error => `${error.field}: ${textOf(error)}`)

const changed = (was: unknown, is: unknown): readonly string[] => {
  const [before, after] = [was, is].map(value => (value === undefined ? undefined : readBlock(value, ROOT)))
  return changeErrors(before, after, ROOT).map(error => `${error.field}: ${textOf(error)}`)
}

const P = `${ROOT}.schedulingPolicy`
const T = `${ROOT}.schedulingConstraints.topology`
const D = `${ROOT}.disruptionMode`
const C = `${ROOT}.resourceClaims`

const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with " +
  "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

describe('the structure of a new block, in the words of Kubernetes 1.37', () => {
  it.each<[string, unknown, readonly string[]]>([
    ['an empty block', {}, []],
    ['a gang without minCount', { schedulingPolicy: { gang: {} } }, []],
    ['null for absent', { schedulingPolicy: null, resourceClaims: null }, []],
    [
      'an empty policy',
      { schedulingPolicy: {} },
      [`${P}: Invalid value: "": must specify one of: \`basic\`, \`gang\``],
    ],
    [
      'null members only',
      { schedulingPolicy: { basic: null, gang: null } },
      [`${P}: Invalid value: "": must specify one of: \`basic\`, \`gang\``],
    ],
    [
      'two policies and a bad minCount',
      { schedulingPolicy: { gang: { minCount: 0 }, basic: {} } },
      [
        `${P}: Invalid value: "{basic, gang}": must specify exactly one of: \`basic\`, \`gang\``,
        `${P}.gang.minCount: Invalid value: 0: must be greater than or equal to 1`,
      ],
    ],
    [
      'two topology entries, which are then not looked at',
      { schedulingConstraints: { topology: [{}, { key: '/' }] } },
      [`${T}: Too many: 2: must have at most 1 item`],
    ],
    ['no key', { schedulingConstraints: { topology: [null] } }, [`${T}[0].key: Required value`]],
    [
      'a key with a bad prefix and no name',
      { schedulingConstraints: { topology: [{ key: '/' }] } },
      [
        `${T}[0].key: Invalid value: "/": prefix part must be non-empty`,
        `${T}[0].key: Invalid value: "/": name part must be non-empty`,
        `${T}[0].key: Invalid value: "/": name part must consist of alphanumeric characters, '-', '_' or '.', and must ` +
          "start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " +
          "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
    [
      'both disruption modes',
      { disruptionMode: { all: {}, single: {} } },
      [`${D}: Invalid value: "{single, all}": must specify exactly one of: \`single\`, \`all\``],
    ],
    [
      'five claims, which are then not looked at',
      { resourceClaims: [{}, {}, {}, {}, {}] },
      [`${C}: Too many: 5: must have at most 4 items`],
    ],
    [
      'claims without a name, which is one name for all of them',
      { resourceClaims: [{ resourceClaimName: 'a' }, { name: '', resourceClaimName: 'b' }] },
      [
        `${C}[1]: Duplicate value: {"name":"","resourceClaimName":"b"}`,
        `${C}[0].name: Required value`,
        `${C}[1].name: Required value`,
      ],
    ],
    [
      'everything wrong with one claim, in the order of its fields',
      { resourceClaims: [{ resourceClaimTemplateName: '.x', name: 'A', resourceClaimName: '' }] },
      [
        `${C}[0]: Invalid value: "{resourceClaimName, resourceClaimTemplateName}": must specify exactly one of: ` +
          '`resourceClaimName`, `resourceClaimTemplateName`',
        `${C}[0].name: Invalid value: "A": ${LABEL}`,
        `${C}[0].resourceClaimName: Invalid value: "": ${SUBDOMAIN}`,
        `${C}[0].resourceClaimTemplateName: Invalid value: ".x": ${SUBDOMAIN}`,
      ],
    ],
    [
      'a name with dots',
      { resourceClaims: [{ name: 'a.b', resourceClaimName: 'x' }] },
      [`${C}[0].name: Invalid value: "a.b": must not contain dots`],
    ],
    [
      'a name that is too long in bytes only',
      { resourceClaims: [{ name: 'é'.repeat(32), resourceClaimName: 'x' }] },
      [
        `${C}[0].name: Invalid value: "${'é'.repeat(32)}": must be no more than 63 bytes`,
        `${C}[0].name: Invalid value: "${'é'.repeat(32)}": ${LABEL}`,
      ],
    ],
  ])('%s', (_, block, expected) => {
    expect(created(block)).toEqual(expected)
  })

  it.each<[string, unknown, readonly string[]]>([
    ['a policy in words', { schedulingPolicy: 'gang' }, [`${P}: Invalid value: "gang": must be an object`]],
    ['a list of policies', { schedulingPolicy: ['gang'] }, [`${P}: Invalid value: ["gang"]: must be an object`]],
    ['a gang in words', { schedulingPolicy: { gang: true } }, [`${P}.gang: Invalid value: true: must be an object`]],
    [
      'a count in quotes',
      { schedulingPolicy: { gang: { minCount: '4' } } },
      [`${P}.gang.minCount: Invalid value: "4": must be a whole number, without quotes`],
    ],
    [
      'a count with a fraction',
      { schedulingPolicy: { gang: { minCount: 1.5 } } },
      [`${P}.gang.minCount: Invalid value: 1.5: must be a whole number, without quotes`],
    ],
    [
      'a count beyond 32 bits',
      { schedulingPolicy: { gang: { minCount: 2 ** 31 } } },
      [`${P}.gang.minCount: Invalid value: 2147483648: must be a whole number that fits 32 bits, at most 2147483647`],
    ],
    [
      'topology that is no list',
      { schedulingConstraints: { topology: { key: 'zone' } } },
      [`${T}: Invalid value: {"key":"zone"}: must be a list`],
    ],
    [
      'a key that is no string',
      { schedulingConstraints: { topology: [{ key: 7 }] } },
      [`${T}[0].key: Invalid value: 7: must be a string`],
    ],
    ['a claim in words', { resourceClaims: ['gpu'] }, [`${C}[0]: Invalid value: "gpu": must be an object`]],
  ])('says what a value of the wrong type should be: %s', (_, block, expected) => {
    expect(created(block)).toEqual(expected)
  })
})

describe('a change of a block', () => {
  const set = 'Invalid value: null: field cannot be set once created'
  const cleared = 'Invalid value: null: field cannot be cleared once set'
  const immutable = 'Invalid value: null: field is immutable'

  it.each<[string, unknown, unknown, readonly string[]]>([
    ['nothing at all', undefined, undefined, []],
    ['an empty block is added', undefined, {}, [`${ROOT}: ${set}`]],
    ['the block is removed', {}, undefined, [`${ROOT}: ${cleared}`]],
    ['a policy is added', {}, { schedulingPolicy: { basic: {} } }, [`${P}: ${set}`]],
    ['the policy is removed', { schedulingPolicy: { basic: {} } }, {}, [`${P}: ${cleared}`]],
    ['minCount is set', { schedulingPolicy: { gang: {} } }, { schedulingPolicy: { gang: { minCount: 2 } } }, []],
    ['minCount is cleared', { schedulingPolicy: { gang: { minCount: 2 } } }, { schedulingPolicy: { gang: {} } }, []],
    [
      'a bad minCount that was there before stays unjudged while a member is added',
      { schedulingPolicy: { gang: { minCount: 0 } } },
      { schedulingPolicy: { basic: {}, gang: { minCount: 0 } } },
      [`${P}: Invalid value: "{basic, gang}": must specify exactly one of: \`basic\`, \`gang\``],
    ],
    [
      'a union that was wrong before stays unjudged while minCount changes',
      { schedulingPolicy: { basic: {}, gang: { minCount: 3 } } },
      { schedulingPolicy: { basic: {}, gang: { minCount: 0 } } },
      [`${P}.gang.minCount: Invalid value: 0: must be greater than or equal to 1`],
    ],
    ['an empty list is no list', {}, { resourceClaims: [] }, []],
    ['no topology is no topology', { schedulingConstraints: {} }, { schedulingConstraints: { topology: null } }, []],
    [
      'constraints without topology are still constraints',
      {},
      { schedulingConstraints: {} },
      [`${ROOT}.schedulingConstraints: ${immutable}`],
    ],
    ['a mode is removed', { disruptionMode: { single: {} } }, {}, [`${D}: ${immutable}`]],
    [
      'claims are changed into too many',
      { resourceClaims: [{ name: 'a', resourceClaimName: 'a' }] },
      { resourceClaims: [{}, {}, {}, {}, {}] },
      [`${C}: ${immutable}`, `${C}: Too many: 5: must have at most 4 items`],
    ],
    [
      'all at once, in the order of the fields',
      { schedulingPolicy: { gang: {} }, disruptionMode: { all: {} } },
      { schedulingConstraints: {}, resourceClaims: [{ name: 'a' }] },
      [`${P}: ${cleared}`, `${ROOT}.schedulingConstraints: ${immutable}`, `${D}: ${immutable}`, `${C}: ${immutable}`],
    ],
  ])('%s', (_, was, is, expected) => {
    expect(changed(was, is)).toEqual(expected)
  })
})

describe('the names of KEP-6089', () => {
  const kep = {
    policy: { gang: { minCount: 2 } },
    constraints: { topology: [{ level: 'zone' }] },
    disruption: { all: {} },
    resourceClaims: [{ name: 'a', resourceClaimName: 'x' }],
  }
  const shipped = {
    schedulingPolicy: { gang: { minCount: 2 } },
    schedulingConstraints: { topology: [{ key: 'zone' }] },
    disruptionMode: { all: {} },
    resourceClaims: [{ name: 'a', resourceClaimName: 'x' }],
  }

  it('become the shipped ones', () => {
    expect(readBlock(kep, ROOT)).toMatchObject({ model: shipped, errors: [], stray: [] })
  })

  it('are no change of a block that had the shipped ones', () => {
    expect(sameTree(readBlock(kep, ROOT).model, readBlock(shipped, ROOT).model)).toBe(true)
    expect(changed(kep, shipped)).toEqual([])
  })

  it('stand in the errors, as they stand in the manifest', () => {
    const block = {
      policy: { gang: { minCount: 0 } },
      constraints: { topology: [{}] },
      disruption: {},
      resourceClaims: [{ name: 'a' }],
    }
    expect(creationErrors(readBlock(block, ROOT)).map(({ field }) => field)).toEqual([
      `${ROOT}.policy.gang.minCount`,
      `${ROOT}.constraints.topology[0].level`,
      `${ROOT}.disruption`,
      `${ROOT}.resourceClaims[0]`,
    ])
    expect(changed({ policy: { basic: {} }, disruption: { single: {} } }, {})).toEqual([
      `${ROOT}.policy: Invalid value: null: field cannot be cleared once set`,
      `${ROOT}.disruption: Invalid value: null: field is immutable`,
    ])
  })

  it.each<[string, object, string, readonly string[]]>([
    ['one field twice', { policy: {}, schedulingPolicy: {} }, 'policy', ['`policy`', '`schedulingPolicy`']],
    ['the mode twice', { disruption: {}, disruptionMode: {} }, 'disruption', ['`disruption`', '`disruptionMode`']],
    [
      'two sets of names',
      { schedulingPolicy: { gang: {} }, constraints: { topology: [{ level: 'zone' }] } },
      'constraints',
      ['`constraints`', '`schedulingPolicy`', 'write `schedulingConstraints`'],
    ],
    [
      'a shipped key under a name of the KEP',
      { constraints: { topology: [{ key: 'zone' }] } },
      'constraints.topology[0].key',
      ['`key`', '`constraints`', 'write `level`'],
    ],
    [
      'key and level',
      { schedulingConstraints: { topology: [{ key: 'zone', level: 'zone' }] } },
      'schedulingConstraints.topology[0].level',
      ['`key`', '`level`'],
    ],
  ])('do not mix with the shipped ones: %s', (_, block, field, words) => {
    const { errors } = readBlock(block, ROOT)
    expect(errors).toHaveLength(1)
    expect(errors[0]).toMatchObject({ field: `${ROOT}.${field}`, type: 'Forbidden' })
    for (const word of words) expect(errors[0]?.detail).toContain(word)
  })

  it('are not there with the value null', () => {
    const nothing = { policy: null, constraints: null, disruption: null }
    expect(readBlock({ ...shipped, ...nothing }, ROOT)).toMatchObject({ model: shipped, errors: [], kepPaths: [] })
  })

  it('explain a key that the API server would only call missing', () => {
    const block = readBlock({ schedulingConstraints: { topology: [{ level: 'zone' }] } }, ROOT)
    expect(block.errors).toEqual([])
    expect(creationErrors(block)).toMatchObject([{ field: `${T}[0].key`, type: 'Required' }])
    expect(creationErrors(block)[0]?.detail).toContain('`level` is the name that KEP-6089 gives to `key`')
  })
})

describe('unknown keys', () => {
  it('are collected with their place, and are no part of the model', () => {
    const block = readBlock(
      {
        priority: 1,
        schedulingPolicy: { gang: { minCount: 1, maxCount: 2 }, quorum: {} },
        disruptionMode: { half: {} },
        __proto__: null,
      },
      ROOT,
    )
    expect(block.stray.map(({ field, holder }) => [field, holder])).toEqual([
      [`${ROOT}.priority`, 'block'],
      [`${P}.quorum`, 'policy'],
      [`${P}.gang.maxCount`, 'part'],
      [`${D}.half`, 'disruption'],
    ])
    expect(block.model).toMatchObject({ schedulingPolicy: { gang: { minCount: 1 } }, disruptionMode: {} })
  })

  it('are counted up to a limit', () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key${index}`, 1]))
    expect(readBlock(many, ROOT).stray).toHaveLength(16)
  })

  it('stand in brackets when they would not read as part of a path', () => {
    const keys = ['a.b', '', 'x'.repeat(1000)]
    const { stray } = readBlock(Object.fromEntries(keys.map(key => [key, 1])), ROOT)
    expect(stray.map(({ field }) => field)).toEqual([`${ROOT}[a.b]`, `${ROOT}[]`, `${ROOT}[${'x'.repeat(60)}...]`])
  })

  it('may have names that objects have by themselves', () => {
    const block = readBlock(JSON.parse('{"schedulingPolicy": {"__proto__": {"gang": {}}, "constructor": {}}}'), ROOT)
    expect(block.stray.map(({ key }) => key)).toEqual(['__proto__', 'constructor'])
    expect(block.model.schedulingPolicy).toEqual({})
  })
})

describe('what is no block', () => {
  it.each([['text'], [7], [true], [[]], [[{}]]])('is said to be none: %j', value => {
    const { errors, model } = readBlock(value, ROOT)
    expect(errors).toMatchObject([{ field: ROOT, type: 'Invalid' }])
    expect(errors[0]?.detail).toContain('must be an object with schedulingPolicy')
    expect(model).toEqual({})
  })
})
