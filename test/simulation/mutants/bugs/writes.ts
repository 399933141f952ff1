import type { Mutant } from '../mutant.ts'

const PERFORM = 'src/reconciler/perform.ts'
const LOOP = 'src/reconciler/loop.ts'
const CACHES = 'src/reconciler/caches.ts'
const STORE = 'src/kube/cache/store.ts'
const ELECTOR = 'src/kube/coordination/elector.ts'

/** Bugs in how decisions come about and are carried out: leadership, caches, the loop, the writes. */
export const WRITES_BUGS: readonly Mutant[] = [
  {
    name: 'two leaders',
    from: 'who was leader once goes on, whoever holds the Lease now',
    file: ELECTOR,
    find: 'return this.#leading && this.#options.clock.monotonic() - this.#lastRenewAt <= this.#renewDeadlineMs',
    replace: 'return this.#leading',
    and: { find: 'if (!this.#leading) return\n', replace: "if (!this.#leading || reason !== 'stopping') return\n" },
    seed: 32,
  },
  {
    name: 'a new leader trusts its old caches',
    from: 'Sieve: stale state; the watch of a follower lags behind the last writes of the leader',
    file: LOOP,
    find: 'this.#caches.whole.refresh()',
    replace: 'Promise.resolve()',
    seed: 57,
  },
  {
    name: 'forgets its own writes to pods',
    from: 'forget the expectation: what a write returned is not put into the cache',
    file: CACHES,
    find: 'this.pods.offer(object as Pod)',
    replace: 'void object',
    seed: 38,
  },
  {
    name: 'forgets its own writes to Workloads',
    from: 'forget the expectation',
    file: CACHES,
    find: 'this.workloads.offer(object as QueuedWorkload)',
    replace: 'void object',
    seed: 2,
  },
  {
    name: 'lifts a pod without the place of its admission',
    from: 'E5b: where it may run must be in the write that lets it start',
    file: PERFORM,
    find: '        ...(nodeSelector && { nodeSelector }),\n',
    replace: '',
    seed: 2,
  },
  {
    name: 'lifts a pod without the marks of its admission',
    from: 'E5b: accounting labels in the same write',
    file: PERFORM,
    find: '        ...(labels && { labels }),\n',
    replace: '',
  },
  {
    name: 'skips the uid check on patches',
    from: 'a successor of the same name gets what was meant for its predecessor',
    file: PERFORM,
    find: 'const body = { ...change, metadata: { uid: pod.uid, ...change.metadata } }',
    replace: 'const body = { ...change }',
    seed: 44,
  },
  {
    name: 'skips the uid check on deletions',
    from: 'a successor of the same name is deleted in place of its predecessor',
    file: PERFORM,
    find: '{ uid: action.pod.uid }',
    replace: '{}',
    seed: 751,
  },
  {
    name: 'takes a conflict for old news',
    from: 'found by the simulator: nothing comes after a conflict that nobody caused',
    file: LOOP,
    find: "return outcome === 'again' ? 'retry' : 'done'",
    replace: "return 'done'",
    seed: 2614,
  },
  {
    name: 'takes the finalizers of others along',
    from: 'kueue#3899: a loose patch writes the whole list',
    file: PERFORM,
    find: "const metadata = { '$deleteFromPrimitiveList/finalizers': [MANAGED] }",
    replace: 'const metadata = { finalizers: null }',
  },
  {
    name: 'lifts by writing the whole list of gates',
    from: 'kueue#2029: a patch that carries more than it means',
    file: PERFORM,
    find: 'schedulingGates: fallen,',
    replace: 'schedulingGates: null,',
    seed: 10,
  },
  {
    name: 'takes a refusal for a success',
    from: 'kueue#7433, #9492: admitted, refused by another plugin, and gated for ever',
    file: PERFORM,
    find: "return { kind: 'blocked', message }",
    replace: 'return DONE',
    seed: 40,
  },
  {
    name: 'takes a server error for a success',
    from: 'an answer that did not come is not a yes',
    file: PERFORM,
    find: 'return refusal(error)\n  throw error',
    replace: 'return refusal(error)\n  return DONE',
    seed: 627,
  },
  {
    name: 'loses the finalizer on restart',
    from: 'a process that has just started lets go of what it finds',
    file: LOOP,
    find: 'const units = new Set(this.#unitKeys())\n',
    replace:
      'for (const pod of this.#caches.pods.values()) {\n' +
      "      const { namespace = '', name = '', uid = '' } = pod.metadata\n" +
      "      const loss = { kind: 'RemoveFinalizer', pod: { namespace, name, uid } } as const\n" +
      '      if (turn === 1 && (pod.spec.schedulingGates ?? []).length === 0) void this.#performer.performAll([loss], turn).catch(() => {})\n' +
      '    }\n' +
      '    const units = new Set(this.#unitKeys())\n',
    seed: 4,
  },
  {
    name: 'misses deletions in a relist',
    from: 'kubernetes: what is not in the list is not there any more',
    file: STORE,
    find: 'if (rewound || compareVersions(versionOf(stored), version) <= 0) this.#drop(stored, stored)',
    replace: 'if (rewound) this.#drop(stored, stored)',
    seed: 186,
  },
  {
    name: 'comes minutes late',
    from: 'kueue#11170: the gate falls minutes after the admission, and no number tells',
    file: LOOP,
    find: 'add: key => this.#queue.add(key),\n      addAll:',
    replace: 'add: key => this.#queue.addAfter(key, 120_000),\n      addAll:',
    seed: 57,
  },
]
