import type { Family } from '../families.ts'

const GUARD = 'src/webhooks/workloads/guard.ts'
const WORKLOADS = 'src/webhooks/workloads/workloads.ts'

export const WORKLOAD_FAMILIES: readonly Family[] = [
  {
    name: 'the guard of Workloads',
    tests: ['test/unit/webhooks/workloads/workloads.test.ts'],
    bugs: [
      {
        name: 'keeps people from stopping a Workload',
        from: '`spec.active` is the one field that is theirs',
        file: GUARD,
        find: ".filter(key => key !== 'active')",
        replace: '',
      },
      {
        name: 'lets anybody admit',
        from: 'the status is written by whom RBAC lets write it, and nobody looks',
        file: GUARD,
        find: '...(isDeepStrictEqual(was.status, is.status)',
        replace: '...(is.status',
      },
      {
        name: 'lets the finalizer go',
        from: 'what holds the quota until the pods have ended',
        file: GUARD,
        find: 'if (holdsOurs(before) === holdsOurs(after)) return []',
        replace: 'if (holdsOurs(before) || !holdsOurs(after)) return []',
      },
      {
        name: 'does not look at what comes with the status',
        from: 'a subresource is easily taken for somebody else’s',
        file: WORKLOADS,
        find: "(subResource && subResource !== 'status')",
        replace: 'subResource',
      },
      {
        name: 'stands in the way of the garbage collector',
        from: 'owners that are gone are taken away by somebody who is not exempt',
        file: WORKLOADS,
        find: '...(isGarbageCollector(userInfo) ? []',
        replace: '...(!isGarbageCollector(userInfo) ? []',
      },
    ],
  },
]
