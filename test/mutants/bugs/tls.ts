import type { Family } from '../families.ts'

const AUTHORITY = 'src/tls/authority.ts'
const FILES = 'src/tls/files.ts'
const STORE = 'src/tls/store.ts'
const SECRET = 'src/tls/secret.ts'
const WRITER = 'src/tls/ca-bundle-writer.ts'

export const TLS_FAMILIES: readonly Family[] = [
  {
    name: 'certificates',
    tests: ['test/server/tls-authority.test.ts'],
    bugs: [
      {
        name: 'outlive their CA',
        from: 'a leaf is issued for its full life, whatever is left of the CA',
        file: AUTHORITY,
        find: 'Math.min(now + LEAF_LIFE, inspect(authority.certificate).notAfter)',
        replace: 'now + LEAF_LIFE',
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
        find: 'if (now < certificate.validFromDate.getTime()) return',
        replace: 'if (now < 0) return',
      },
      {
        name: 'are renewed when it is nearly too late',
        from: 'the rest of the life is taken for the life',
        file: AUTHORITY,
        find: '(notAfter - notBefore) / 3',
        replace: '(notAfter - now) / 3',
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
        from: 'a mounted Secret has no ca.key, and looks as if it were incomplete',
        file: FILES,
        find: "if (present.kind === 'foreign') throw",
        replace: "if (present.kind === 'due' && !options.folder) throw",
      },
      {
        name: 'gets two CAs from two servers',
        from: 'who waited for the lock does not look again',
        file: FILES,
        find: "return again.kind === 'good' ? again.pair : await renew(options)",
        replace: "return again.kind === 'foreign' ? renew(options) : await renew(options)",
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
        file: SECRET,
        find: "bundle: [fresh.certificate.trim(), ...older].join('\\n')",
        replace: 'bundle: fresh.certificate.trim()',
      },
      {
        name: 'puts the new CA at the end',
        from: 'the first of the bundle signs',
        file: SECRET,
        find: '[fresh.certificate.trim(), ...older]',
        replace: '[...older, fresh.certificate.trim()]',
      },
      {
        name: 'keeps CAs for ever',
        from: 'a bundle that grows with every year',
        file: SECRET,
        find: 'inspect(certificate).notAfter > now',
        replace: 'inspect(certificate).notAfter > 0',
      },
      {
        name: 'removes what others put there',
        from: 'replace is not merge',
        file: SECRET,
        find: 'data: { ...found.data, ...data }',
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
        file: WRITER,
        find: 'configuration === undefined ? [] : distrusting(configuration, bundle)',
        replace: '(configuration?.webhooks ?? []).map(({ name }) => name)',
      },
      {
        name: 'is reported missing before anybody has looked',
        from: 'an empty cache is no answer',
        file: WRITER,
        find: 'if (configuration === undefined && !informer.synced) {',
        replace: 'if (configuration !== undefined && !informer.synced) {',
      },
    ],
  },
]
