import type { Family } from '../families.ts'

const GROUP = 'src/workload/group.ts'
const GROUP_SETS = 'src/workload/group-sets.ts'
const GROUP_SUMS = 'src/workload/group-sums.ts'
const ROLE_HASH = 'src/workload/role-hash.ts'
const FIELD_ERROR = 'src/validation/field-error.ts'
const FORMATS = 'src/kube/vocabulary/formats.ts'
const NUMBERS = 'src/validation/numbers.ts'
const PATCH = 'src/admission/patch.ts'
const ANSWER = 'src/admission/answer.ts'
const ENVELOPE = 'src/admission/envelope.ts'
const ASKING = 'src/server/asking-world.ts'
const LATECOMERS = 'src/reconciler/latecomers.ts'

/** What the rules stand on: groups and roles, formats, the protocol, and what a review may ask. */
export const GROUND_FAMILIES: readonly Family[] = [
  {
    name: 'groups',
    tests: ['test/unit/workload/group.test.ts', 'test/unit/workload/group-sets.test.ts'],
    bugs: [
      {
        name: 'takes the name of a group from the label first',
        from: 'the annotation is there for names that are too long for a label',
        file: GROUP,
        find: 'annotations?.[GROUP_NAME] || pod.metadata.labels?.[GROUP_NAME]',
        replace: 'labels?.[GROUP_NAME] || pod.metadata.annotations?.[GROUP_NAME]',
      },
      {
        name: 'takes a group of nobody',
        from: 'zero is a number',
        file: GROUP,
        find: 'if (parsed.value >= 1) return []',
        replace: 'if (parsed.value >= 0) return []',
      },
      {
        name: 'reads both dialects in one pod',
        from: 'two counts, and which of them holds depends on the code',
        file: GROUP,
        find: 'if (kepKey !== undefined && total !== undefined) {',
        replace: 'if (kepKey === undefined && total === kepKey && name === total) {',
      },
      {
        name: 'takes any template for its own',
        from: 'only the podSet of the pod itself may leave it out',
        file: GROUP_SETS,
        find: 'else if (name !== ownRole) {',
        replace: 'else if (name === undefined) {',
      },
      {
        name: 'takes two sets of one name',
        from: 'the later one wins in a map',
        file: GROUP_SETS,
        find: "if (typeof name === 'string' && seen.has(name)) {",
        replace: "if (typeof name !== 'string' && seen.has(name)) {",
      },
      {
        name: 'does not add up the sets',
        from: 'a count that nobody compares with the sets',
        file: GROUP_SUMS,
        find: 'if (count !== undefined && count !== sum) {',
        replace: 'if (count !== undefined && sum === undefined) {',
      },
    ],
  },
  {
    name: 'the role hash',
    tests: ['test/unit/workload/role-hash.test.ts', 'test/unit/server/recent-roles.test.ts'],
    bugs: [
      {
        name: 'writes an empty list where Go writes null',
        from: 'a nil slice and an empty one are different in Go',
        file: 'src/workload/canonical-json.ts',
        find: "if (!Array.isArray(value)) return 'null'",
        replace: "if (!Array.isArray(value)) return '[]'",
      },
      {
        name: 'hashes quantities as they are written',
        from: '1000m and 1 are one role',
        file: ROLE_HASH,
        find: 'text(ALREADY_CANONICAL.test(written) ? written : canonical(written))',
        replace: 'text(written)',
      },
      {
        name: 'confuses pods that differ in their tolerations',
        from: 'what is compared before hashing leaves out a part of what is hashed',
        file: 'src/workload/role-parts.ts',
        find: '    spec.tolerations,\n',
        replace: '',
      },
    ],
  },
  {
    name: 'who leads',
    tests: ['test/unit/kube/coordination/elector.test.ts'],
    bugs: [
      {
        name: 'leads on after a stall as if nothing had been let fall in it',
        from: 'the answer to a renewal is handled before the timer that would have ended the leadership',
        file: 'src/kube/coordination/elector.ts',
        find: 'if (this.#leading && !this.isLeader()) this.#stepDown(',
        replace: 'if (!this.#leading && this.isLeader()) this.#stepDown(',
      },
    ],
  },
  {
    name: 'formats, numbers and what is said of them',
    tests: [
      'test/unit/kube/vocabulary/formats.test.ts',
      'test/unit/validation/numbers.test.ts',
      'test/unit/validation/field-error.test.ts',
    ],
    bugs: [
      {
        name: 'takes a name that ends with a line',
        from: 'a pattern without its end',
        file: FORMATS,
        find: 'SUBDOMAIN}$`)',
        replace: 'SUBDOMAIN}`)',
      },
      {
        name: 'takes a prefix that is empty',
        from: '`/name` splits into two parts, too',
        file: FORMATS,
        find: "if (prefix === '') problems.push",
        replace: "if (prefix === '/') problems.push",
        and: {
          find: "else problems.push(...subdomainProblems(prefix, 'bytes')",
          replace: "else if (prefix) problems.push(...subdomainProblems(prefix, 'bytes')",
        },
      },
      {
        name: 'reads numbers as JavaScript does',
        from: 'Number reads blanks, hexadecimals and exponents',
        file: NUMBERS,
        find: "if (!INTEGER.test(text)) return { problem: 'invalid syntax' }",
        replace: "if (Number.isNaN(Number(text))) return { problem: 'invalid syntax' }",
      },
      {
        name: 'takes counts that no int32 holds',
        from: 'JavaScript has larger ones',
        file: NUMBERS,
        find: 'if (value > MAX_INT32 ||',
        replace: 'if (value > Number.MAX_SAFE_INTEGER ||',
      },
      {
        name: 'says everything about a million errors',
        from: 'an answer that is longer than anybody takes',
        file: FIELD_ERROR,
        find: 'errors.slice(0, MAX_ERRORS).map',
        replace: 'errors.map',
      },
      {
        name: 'tells clients that every error is an invalid value',
        from: 'kubectl reads the reason of a cause',
        file: FIELD_ERROR,
        find: 'return CAUSES[type]',
        replace: 'return CAUSES[type] && CAUSES.Invalid',
      },
    ],
  },
  {
    name: 'JSON patches',
    tests: ['test/unit/admission/patch.test.ts'],
    bugs: [
      {
        name: 'escapes in the wrong order',
        from: 'RFC 6901: the tilde first, or the escapes are escaped',
        file: PATCH,
        find: "segment.replaceAll('~', '~0').replaceAll('/', '~1')",
        replace: "segment.replaceAll('/', '~1').replaceAll('~', '~0')",
      },
      {
        name: 'writes into the object of the request',
        from: 'the copy is forgotten',
        file: PATCH,
        find: 'Array.isArray(value) ? [...value] : { ...value }',
        replace: '(value as Container)',
      },
      {
        name: 'takes a patch for right without a look',
        from: 'a parent that an earlier operation has written is looked for in the document',
        file: PATCH,
        find: "if (isBelow(path, operations[earlier]?.path ?? '')) return undefined",
        replace: "if (isBelow(operations[earlier]?.path ?? '', path)) return undefined",
      },
    ],
  },
  {
    name: 'the protocol of admission',
    tests: ['test/unit/admission/answer.test.ts', 'test/unit/admission/protocol.test.ts'],
    bugs: [
      {
        name: 'patches from a validating webhook',
        from: 'the API server fails the request for it',
        file: ANSWER,
        find: "if (!mutating) throw new Error('a validating webhook must not patch')\n",
        replace: '',
      },
      {
        name: 'denies without a word',
        from: 'the message of a verdict may be empty',
        file: ANSWER,
        find: "const message = verdict.message === '' ? reason : verdict.message",
        replace: 'const message = verdict.message',
      },
      {
        name: 'sends warnings of several lines',
        from: 'a warning becomes a header, and the API server drops it',
        file: ANSWER,
        find: "u007f]+/g, ' ')",
        replace: "u007f]+/, ' ')",
      },
      {
        name: 'takes an update without what was before',
        from: 'a rule reads of undefined, and the request fails',
        file: ENVELOPE,
        find: "if (operation === 'UPDATE' && !request.oldObject)",
        replace: "if (operation === 'UPDATE' && !request.object)",
      },
    ],
  },
  {
    name: 'where a unit stands that was wrong before',
    tests: ['test/unit/reconciler/latecomers.test.ts'],
    bugs: [
      {
        name: 'lets it stand where it came',
        from: 'a pod too many, deleted at the right time, is a place kept for later',
        file: LATECOMERS,
        find: 'compareVersions(turn, at) > 0 ? turn : at',
        replace: 'compareVersions(turn, at) < 0 ? turn : at',
      },
      {
        name: 'takes who waits for his pods for one that was wrong',
        from: 'the last of them has its own version, and that is his turn',
        file: LATECOMERS,
        find: "reason === 'InvalidGroup'",
        replace: "reason !== 'Lifting'",
      },
      {
        name: 'forgets that it was wrong when its Workload is to be made',
        from: 'the API server may refuse it once',
        file: LATECOMERS,
        find: "kind === 'EnsureObject')) return",
        replace: "kind === 'EnsureObject')) this.#keys.delete(key)",
      },
    ],
  },
  {
    name: 'what a review may ask',
    tests: ['test/unit/server/asking-world.test.ts'],
    bugs: [
      {
        name: 'forgets what it has learnt when it learns more',
        from: 'an owner chain is fetched link by link',
        file: ASKING,
        find: 'this.#facts ??= new Map()',
        replace: 'this.#facts = new Map()',
      },
      {
        name: 'keeps a question open that is answered',
        from: 'the review never ends',
        file: ASKING,
        find: '    this.#open = undefined\n  }',
        replace: '  }',
      },
      {
        name: 'takes what it does not know for an answer',
        from: 'no, and I do not know',
        file: ASKING,
        find: "if (owner !== 'unknown') return owner",
        replace: "if (owner) return owner === 'unknown' ? 'absent' : owner",
      },
    ],
  },
]
