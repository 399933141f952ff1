import type { Family } from '../families.ts'

const AUTHORITY = 'src/tls/authority.ts'
const FILES = 'src/tls/files.ts'
const STORE = 'src/tls/store.ts'
const SECRET = 'src/tls/secret.ts'
const ROTATION = 'src/tls/rotation.ts'
const ROTATOR = 'src/tls/rotator.ts'

export const TLS_FAMILIES: readonly Family[] = [
  {
    name: 'certificates',
    tests: ['test/server/tls-authority.test.ts'],
    bugs: [
      {
        name: 'outlive their CA',
        from: 'a leaf is issued for its full life, whatever is left of the CA',
        file: AUTHORITY,
        find: 'Math.min(now + LIFE_MS, inspect(authority.certificate).notAfter)',
        replace: 'now + LIFE_MS',
      },
      {
        name: 'may sign others',
        from: 'a leaf that is a CA',
        file: AUTHORITY,
        find: "{ name: 'basicConstraints', cA: false, critical: true }",
        replace: "{ name: 'basicConstraints', cA: true, critical: true }",
      },
      {
        name: 'are served with the key of another',
        from: 'a Secret that was written in two steps',
        file: AUTHORITY,
        find: 'if (!leaf.checkPrivateKey(createPrivateKey(pair.key)))',
        replace: 'if (!createPrivateKey(pair.key))',
      },
      {
        name: 'are served before their time',
        from: 'only the end is compared',
        file: AUTHORITY,
        find: 'if (now < facts.notBefore) return',
        replace: 'if (now < 0) return',
      },
    ],
  },
  {
    name: 'the folder of certificates',
    tests: ['test/server/tls-files.test.ts'],
    bugs: [
      {
        name: 'has keys that everybody reads',
        from: 'the mode is that of the certificate',
        file: FILES,
        find: 'pair.key, 0o600)',
        replace: 'pair.key, 0o644)',
      },
      {
        name: 'is written to when it is somebody else’s',
        from: 'a mounted Secret has no mark, and looks as if it were incomplete',
        file: FILES,
        find: 'marks.some(mark => mark !== undefined)',
        replace: 'marks.length > 0',
      },
      {
        name: 'gets two CAs from two servers',
        from: 'who waited for the lock does not look again',
        file: FILES,
        find: 'const { step, record } = await look(options)',
        replace: 'const { step, record } = present',
      },
    ],
  },
  {
    name: 'the certificate that is served',
    tests: ['test/server/tls-store.test.ts'],
    bugs: [
      {
        name: 'brings TLS 1.0 back',
        from: 'the floor is part of the context that is swapped',
        file: STORE,
        find: ", minVersion: 'TLSv1.2',",
        replace: ', minVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0",',
      },
      {
        name: 'is swapped without a proof',
        from: 'whatever the Secret says is served',
        file: STORE,
        find: 'if (problem !== undefined) {\n',
        replace: 'if (problem === null) {\n',
      },
    ],
  },
  {
    name: 'the Secret of all replicas',
    tests: ['test/unit/tls/secret.test.ts'],
    bugs: [
      {
        name: 'fails the replica that comes second',
        from: 'both create it, and one gets 409',
        file: SECRET,
        find: 'error.status !== 409 || attempt >= 3) throw error',
        replace: 'error.status === 409 || attempt >= 3) throw error',
      },
      {
        name: 'drops the old CA at once',
        from: 'replicas that still serve its leaf are not trusted any more',
        file: 'src/tls/record.ts',
        find: ', ...stillTrusted(storedFacts(record, names, 0), now)])',
        replace: '])',
      },
      {
        name: 'is written though it is somebody else’s',
        from: 'cert-manager’s Secret looks like one of ours',
        file: SECRET,
        find: "secret.metadata.labels?.[MANAGED_BY] === 'muster'",
        replace: "secret.metadata.labels?.[MANAGED_BY] !== 'nobody'",
      },
      {
        name: 'removes what others put there',
        from: 'replace is not merge',
        file: SECRET,
        find: 'data: { ...theirs, ...data }',
        replace: 'data',
      },
    ],
  },
  {
    name: 'the trust of the API server',
    tests: ['test/unit/tls/trust.test.ts'],
    bugs: [
      {
        name: 'is looked for in the first webhook',
        from: 'every entry has a bundle of its own',
        file: 'src/tls/trust.ts',
        find: 'return webhooks.filter(',
        replace: 'return webhooks.slice(0, 1).filter(',
      },
    ],
  },
  {
    name: 'the CA bundle',
    tests: ['test/server/tls-trust.test.ts'],
    bugs: [
      {
        name: 'is written where it is right already',
        from: 'every write is an event, and every event a write',
        file: ROTATOR,
        find: 'configuration === undefined ? [] : differing(configuration, authorities)',
        replace: '(configuration?.webhooks ?? []).map(({ name }) => name)',
      },
      {
        name: 'is reported missing before anybody has looked',
        from: 'an empty cache is no answer',
        file: ROTATOR,
        find: 'if (configuration === undefined && !informer.synced) {',
        replace: 'if (configuration !== undefined && !informer.synced) {',
      },
      {
        name: 'is served before it is trusted',
        from: 'a pair that somebody puts into the Secret is swapped in at once',
        file: ROTATOR,
        find: '(rotation.serve || stored.current === undefined) && store.swap(pair)',
        replace: 'store.swap(pair)',
      },
    ],
  },
  {
    name: 'the rotation',
    tests: ['test/unit/tls/rotation.test.ts'],
    bugs: [
      {
        name: 'begins when it is nearly too late',
        from: 'the rest of the life is taken for the life',
        file: ROTATION,
        find: '(notAfter - notBefore) / 3',
        replace: '(notAfter - now) / 3',
      },
      {
        name: 'takes bundles that nobody has read for trust',
        from: 'every one of none trusts',
        file: ROTATION,
        find: '?? false',
        replace: '?? true',
      },
      {
        name: 'keeps CAs for ever',
        from: 'a bundle that grows with every year',
        file: ROTATION,
        find: 'authorities.filter(authority => now < authority.notAfter && isNeeded(authority))',
        replace: 'authorities.filter(authority => isNeeded(authority))',
      },
      {
        name: 'writes what is somebody else’s',
        from: 'who may write it is asked last',
        file: ROTATION,
        find: 'stored.ours ? recordStep',
        replace: 'stored.current ? recordStep',
      },
    ],
  },
  {
    name: 'the rotation in any order of events',
    tests: ['test/simulation/certificates.test.ts'],
    bugs: [
      {
        name: 'serves what the bundles do not trust yet',
        from: 'a valid pair is served at once',
        file: ROTATION,
        find: 'isValid(current, now) && trusted(current, patience)',
        replace: 'isValid(current, now)',
      },
      {
        name: 'does not wait for the other API servers',
        from: 'what one of them has stored, all of them know',
        file: ROTATION,
        find: '? SPREAD_MS : 0',
        replace: '? 0 : 0',
      },
      {
        name: 'takes the authority of another replica out of the bundles',
        from: 'the record is all that counts',
        file: ROTATION,
        find: 'found.filter(authority => ageMs < LEFTOVER_MS || isYoung(authority))',
        replace: 'found.filter(() => false)',
      },
      {
        name: 'never takes a leftover out',
        from: 'whoever is in doubt keeps it',
        file: ROTATION,
        find: 'ageMs < LEFTOVER_MS || isYoung(authority)',
        replace: 'authority',
      },
      {
        name: 'stays with the announced pair',
        from: 'an announcement that nobody ends',
        file: ROTATION,
        find: "return isSpread(successor) ? 'promote' : 'keep'",
        replace: "return 'keep'",
      },
    ],
  },
]
