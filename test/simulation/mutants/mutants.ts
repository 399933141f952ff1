import type { PlantedBug } from '../../support/planting.ts'

export interface Mutant extends PlantedBug {
  /** A seed from which it is found soon. */
  readonly seed?: number
  /** It takes Jobs to find it. */
  readonly jobs?: boolean
}

const DECIDE = 'src/reconciler/decide.ts'
const PERFORM = 'src/reconciler/perform.ts'
const LIFTING = 'src/reconciler/lifting.ts'
const STATE = 'src/workload/pod-facts.ts'
const LOOP = 'src/reconciler/loop.ts'
const CACHES = 'src/reconciler/caches.ts'
const STORE = 'src/kube/cache/store.ts'
const LEDGER = 'src/engines/builtin/ledger.ts'
const ENGINE = 'src/engines/builtin/fifo.ts'
const ELECTOR = 'src/kube/coordination/elector.ts'
const COMPOSE = 'src/workload/compose.ts'
const JOB = 'src/workload/jobs/batch-job.ts'
const JOB_WRITES = 'src/reconciler/jobs/job-writes.ts'
const JOB_DECISIONS = 'src/reconciler/jobs/decide-job.ts'
const LEAVING = 'src/reconciler/jobs/leaving.ts'
const ADMITTED_JOB = 'src/reconciler/jobs/admitted-job.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'two leaders',
    from: 'who was leader once goes on, whoever holds the Lease now',
    file: ELECTOR,
    find: 'return this.#leading && this.#options.clock.monotonic() - this.#lastRenewAt <= this.#renewDeadlineMs',
    replace: 'return this.#leading',
    and: { find: 'if (!this.#leading) return\n', replace: "if (!this.#leading || reason !== 'stopping') return\n" },
    seed: 30,
  },
  {
    name: 'a new leader trusts its old caches',
    from: 'Sieve: stale state; the watch of a follower lags behind the last writes of the leader',
    file: LOOP,
    find: 'await this.#caches.refresh()',
    replace: 'await Promise.resolve()',
    seed: 50,
  },
  {
    name: 'forgets its own writes to pods',
    from: 'forget the expectation: what a write returned is not put into the cache',
    file: CACHES,
    find: 'this.pods.offer(object as Pod)',
    replace: 'void object',
    seed: 30,
  },
  {
    name: 'forgets its own writes to Workloads',
    from: 'forget the expectation',
    file: CACHES,
    find: 'this.workloads.offer(object as QueuedWorkload)',
    replace: 'void object',
  },
  {
    name: 'lifts a pod without the place of its admission',
    from: 'E5b: where it may run must be in the write that lets it start',
    file: PERFORM,
    find: '        ...(nodeSelector && { nodeSelector }),\n',
    replace: '',
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
  },
  {
    name: 'skips the uid check on deletions',
    from: 'a successor of the same name is deleted in place of its predecessor',
    file: PERFORM,
    find: '{ uid: action.pod.uid }',
    replace: '{}',
    seed: 2080,
  },
  {
    name: 'takes a conflict for old news',
    from: 'found by the simulator: nothing comes after a conflict that nobody caused',
    file: LOOP,
    find: "return outcome === 'again' ? 'retry' : 'done'",
    replace: "return 'done'",
    seed: 2300,
  },
  {
    name: 'lifts before the group is complete',
    from: 'the first list decides what the group is',
    file: COMPOSE,
    find: 'const { total, fastAdmission } = plan',
    replace: 'const { fastAdmission } = plan\n  const total = members.length',
  },
  {
    name: 'lifts without asking for admission',
    from: 'kueue#9482 turned around: lifted, not admitted',
    file: DECIDE,
    find: "if (state.kind === 'admitted') return admitted(unit, workload, state, seating, engine, now)",
    replace: "if (state.kind !== 'finished') return admitted(unit, workload, { queue: '' }, seating, engine, now)",
  },
  {
    name: 'lifts whoever waits, however many were admitted',
    from: 'count forgotten',
    file: LIFTING,
    find: 'else if (left > 0) {',
    replace: 'else if (left > Number.NEGATIVE_INFINITY) {',
  },
  {
    name: 'counts by name',
    from: 'kueue#9879: a pod that was created again under its old name stays gated',
    file: LIFTING,
    find: 'const free = Math.max(0, podSet.count - taken)',
    replace:
      'const names = ((globalThis as unknown as { names: Set<string> }).names ??= new Set())\n' +
      '    const key = (pod: Pod) => [podSet.name, pod.metadata.name].join()\n' +
      '    const players = unit.pods.filter(pod => plays(unit, pod, podSet))\n' +
      '    for (const pod of players) if (!isGated(pod)) names.add(key(pod))\n' +
      '    const again = players.filter(pod => isWaiting(pod) && names.has(key(pod))).length\n' +
      '    const free = Math.max(0, podSet.count - taken - again)',
  },
  {
    name: 'failed pods keep their places',
    from: 'a replacement is taken for one too many',
    file: STATE,
    find: 'return !isFailed(pod) && !(isDeleting(pod) && !pod.spec.nodeName)',
    replace: 'return !(isDeleting(pod) && !pod.spec.nodeName)',
    seed: 50,
  },
  {
    name: 'never lets a deleted gated pod go',
    from: 'kueue#1339, #1352, #1648, #6149, #6919: the finalizer is not removed',
    file: STATE,
    find: 'if (!isDeleting(pod) || (isSucceeded(pod) && !isGated(pod))) return false',
    replace: 'if (!isDeleting(pod) || isSucceeded(pod) || isGated(pod)) return false',
  },
  {
    name: 'lets a deleted pod go while it runs',
    from: 'kueue: quota is freed as soon as the deletion starts, long before the containers stop',
    file: STATE,
    find: 'return neverStarted || isFailed(pod) || pod.metadata.deletionGracePeriodSeconds === 0',
    replace: 'return true',
  },
  {
    name: 'lets deletions wait for everything else',
    from: 'kueue: a deleted group hangs until somebody repairs it',
    file: DECIDE,
    find: "is.mayLeave(pod) ? 'leaving'",
    replace: "unit.workload !== undefined && is.mayLeave(pod) ? 'leaving'",
  },
  {
    name: 'keeps the succeeded pods of a group that is deleted',
    from: 'found by the simulator: a deleted namespace waits for its pods before it touches their Workload',
    file: DECIDE,
    find: '(abandoned && is.isGivenUp(pod)) || is.mayLeave(pod)',
    replace: 'is.mayLeave(pod)',
    seed: 155,
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
    find: 'schedulingGates: [gate],',
    replace: 'schedulingGates: null,',
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
    find: 'return refusal(error)\n    throw error',
    replace: 'return refusal(error)\n    return DONE',
    seed: 580,
  },
  {
    name: 'loses the finalizer on restart',
    from: 'a process that has just started lets go of what it finds',
    file: LOOP,
    find: 'this.#addAll()\n',
    replace:
      'for (const pod of this.#caches.pods.values()) {\n' +
      "      const { namespace = '', name = '', uid = '' } = pod.metadata\n" +
      "      const loss = { kind: 'RemoveFinalizer', pod: { namespace, name, uid } } as const\n" +
      '      if (turn === 1 && !isGated(pod)) void this.#performer.performAll([loss], turn).catch(() => {})\n' +
      '    }\n' +
      '    this.#addAll()\n',
  },
  {
    name: 'gives the quota back before the pods have stopped',
    from: 'the next Workload starts while the evicted one still runs',
    file: DECIDE,
    find: 'if (running.length > 0) {',
    replace: 'if (running.some(pod => !is.isDeleting(pod))) {',
    seed: 12,
  },
  {
    name: 'lets a deleted Workload go while its pods run',
    from: 'kueue: usage is given away under running pods',
    file: DECIDE,
    find: 'if (engine.holdsQuota(workload) && running.length > 0)',
    replace: 'if (engine.holdsQuota(workload) && running.some(pod => !is.isDeleting(pod)))',
  },
  {
    name: 'forgets that a deleted Workload was also stopped',
    from: 'found by the simulator: deactivated and deleted, and its quota was gone while its pods ran',
    file: DECIDE,
    find: 'if (engine.holdsQuota(workload) && running.length > 0)',
    replace: "if (engine.read(workload).kind === 'admitted' && running.length > 0)",
    seed: 44,
  },
  {
    name: 'lets go of those who came late',
    from: 'found by the simulator: a group that was submitted again under its old name lost its finalizers',
    file: DECIDE,
    find: 'actions: [...done.filter(is.hasOurFinalizer).map(removeFinalizer)',
    replace: 'actions: [...unit.pods.filter(is.hasOurFinalizer).map(removeFinalizer)',
  },
  {
    name: 'admits the last first',
    from: 'order by what comes to hand',
    file: LEDGER,
    find: 'return order === 0 ? a.key < b.key : order < 0',
    replace: 'return order === 0 ? a.key < b.key : order > 0',
  },
  {
    name: 'lets the small ones pass',
    from: 'a queue that is not first in, first out starves the large',
    file: ENGINE,
    find: '        break\n',
    replace: '        continue\n',
  },
  {
    name: 'leaves the mark of the wait on what is admitted',
    from: 'a merge patch takes away only what it names',
    file: ENGINE,
    find: '{ admission, ...notWaiting(workload) }',
    replace: '{ admission }',
  },
  {
    name: 'forgets who holds quota after a restart',
    from: 'usage that is remembered and not derived',
    file: LEDGER,
    find: 'const touched = this.remove(workload)',
    replace:
      'const known = this.#entries.has(keyOf(workload))\n    const touched = this.remove(workload)\n' +
      "    if (!known && stateOf(workload) === 'holding') return touched",
  },
  {
    name: 'counts the first podSet only',
    from: 'a group of two shapes is charged as one',
    file: 'src/engines/builtin/requests.ts',
    find: 'for (const podSet of workload.spec.podSets) {',
    replace: 'for (const podSet of workload.spec.podSets.slice(0, 1)) {',
  },
  {
    name: 'calls a failed group a success',
    from: 'kueue reports Finished, reason Succeeded, for a group in which a pod failed for good',
    file: 'src/reconciler/finishing.ts',
    find: "return over && noRetry ? { reason: 'Failed', message }",
    replace: "return over && noRetry ? { reason: 'Succeeded', message }",
    seed: 38,
  },
  {
    name: 'measures with two clocks',
    from: 'kueue#14474: a negative latency by skew',
    file: 'src/reconciler/performer.ts',
    find: 'Math.max(0, (this.#deps.clock.now() - Date.parse(admittedAt)) / 1000)',
    replace: '(this.#deps.clock.now() - Date.parse(admittedAt)) / 1000',
    seed: 55,
  },
  {
    name: 'writes what is already so',
    from: 'a loop that wakes itself: thousands of events for nothing (kueue#13830)',
    file: 'src/workload/queued-workload.ts',
    find: 'return changed ? conditions : undefined',
    replace: 'return changes.length > 0 ? conditions : undefined',
  },
  {
    name: 'names the Workload of a pod after its name alone',
    from: 'a pod that is created again meets the Workload of its predecessor',
    file: 'src/workload/names.ts',
    find: 'workloadName(PODS, podName, podUid)',
    replace: 'workloadName(PODS, podName, podUid.slice(0, 0))',
    seed: 20,
  },
  {
    name: 'misses deletions in a relist',
    from: 'kubernetes: what is not in the list is not there any more',
    file: STORE,
    find: 'if (rewound || compareVersions(versionOf(stored), version) <= 0) this.#drop(stored, stored)',
    replace: 'if (rewound) this.#drop(stored, stored)',
    seed: 183,
  },
  {
    name: 'comes minutes late',
    from: 'kueue#11170: the gate falls minutes after the admission, and no number tells',
    file: LOOP,
    find: '      this.#queue.add(unitKeyOf(object))\n      for (const workload of',
    replace: '      this.#queue.addAfter(unitKeyOf(object), 120_000)\n      for (const workload of [] ??',
    seed: 30,
  },
  {
    name: 'takes the shape of a pod on trust at its lift',
    from: 'an announced worker, or a replacement, asks for more than its place was charged with',
    file: LIFTING,
    find: 'if (problem !== undefined) misfits.push',
    replace: 'if (problem !== undefined && pod.excess) misfits.push',
    seed: 35,
  },
  {
    name: 'takes the first pod of a role for all of them',
    from: 'a colliding hash, a named role, a sidecar: the Workload is charged by the smallest',
    file: COMPOSE,
    find: 'if (problem === undefined) continue',
    replace: 'if (problem === undefined || !pod.excess) continue',
  },
  {
    name: 'counts init containers for sidecars',
    from: 'a pod that goes on with what it needed only to start',
    file: 'src/workload/requests.ts',
    find: "if (container.restartPolicy === 'Always') {",
    replace: "if (container.restartPolicy === 'always') {",
    seed: 50,
  },
  {
    name: 'believes the label of a lifted pod that it has left',
    from: 'a group that a running pod leaves by a label has a place for another',
    file: 'src/reconciler/unit.ts',
    find: 'return recorded.length === 0 || recorded.includes(said) ? [said] : recorded',
    replace: 'return [said]',
    seed: 140,
  },
  {
    name: 'has no place for a lifted pod without a role',
    from: 'a running pod that names another role has a place for another',
    file: LIFTING,
    find: 'for (const place of own.length > 0 ? own : places) place.taken += 1',
    replace: 'for (const place of own) place.taken += 1',
    seed: 332,
  },
  {
    name: 'believes a phase',
    from: 'a forged Failed or Succeeded frees quota while the containers run',
    file: 'src/workload/pod-end.ts',
    find: 'if (!saysItIsOver(pod)) return false',
    replace: 'if (saysItIsOver(pod)) return true',
    seed: 48,
  },
  {
    name: 'asks a stranger whether a group is over',
    from: 'a gated pod with a forged phase, or with retriable-in-group, ends the group of others',
    file: 'src/reconciler/finishing.ts',
    find: 'const pods = unit.pods.filter(pod => !isGated(pod))',
    replace: 'const { pods } = unit',
  },
  {
    name: 'lets the impossible stand at the head of its queue',
    from: 'one request that no queue can hold closes it for all',
    file: ENGINE,
    find: 'neverFits(queue, requests, this.#limitsOf(queue))',
    replace: 'queue && neverFits(queue, requests, new Map())',
  },
  {
    name: 'keeps the place of who moves to another queue',
    from: 'whoever has waited where nobody waits jumps the queue in which all wait',
    file: 'src/engines/conditions.ts',
    find: '...(annotations && { annotations }) }]',
    replace: "...(annotations && queueName === '' && { annotations }) }]",
  },
  {
    name: 'leaves a Workload without pods alone',
    from: 'kubectl delete --cascade=orphan: quota that nobody gives back',
    file: DECIDE,
    find: 'if (!own || unit.pods.length === 0) return true',
    replace: 'if (!own) return true',
  },
  {
    name: 'deletes the pods of others as surplus',
    from: 'who takes the name of a group first has the pods deleted that were meant for it',
    file: 'src/reconciler/surplus.ts',
    find: 'isOwn(pod) && cameAfter(pod, workload)',
    replace: 'cameAfter(pod, workload)',
  },
  {
    name: 'adopts nobody',
    from: 'the garbage collector takes the Workload when the first members go',
    file: DECIDE,
    find: 'if (adoption.length > 0) return { actions: adoption, standings: [] }',
    replace: '',
  },
  {
    name: 'takes a Job for stopped while its pods terminate',
    from: 'kueue#510, KEP-10076: status.active omits terminating pods at once',
    file: JOB,
    find: 'return (countIn(status.active) ?? 0) + (countIn(status.terminating) ?? 0)',
    replace: 'return countIn(status.active) ?? 0',
    seed: 185,
    jobs: true,
  },
  {
    name: 'gives back what the pods of a shrinking Job still use',
    from: 'found here: the parallelism is what is wanted, not what is there',
    file: ADMITTED_JOB,
    find: 'Math.max(given - Math.max(needed, present), 0)',
    replace: 'Math.max(given - needed, 0)',
    seed: 275,
    jobs: true,
  },
  {
    name: 'takes a Job for stopped that its controller has not looked at yet',
    from: 'found here: started and stopped before its controller has said a word, it gets its pods after all',
    file: JOB,
    find: '(seenSuspended || !(startTime || stopping))',
    replace: '(seenSuspended || !startTime)',
    seed: 321,
    jobs: true,
  },
  {
    name: 'forgets to say that it is stopping a Job',
    from: 'kueue#2566: a stop that was half done is taken for done',
    file: JOB_WRITES,
    find: "write(kind, job, { suspend: true, annotations: { [STOPPING]: 'true' } })",
    replace: 'write(kind, job, { suspend: true })',
    jobs: true,
  },
  {
    name: 'starts a Job in whatever size it has by then',
    from: 'what was charged and what is started are two versions',
    file: JOB_WRITES,
    find: '...bound(kind, job, { suspend: false, templates }), ...(admittedAt',
    replace: '...write(kind, job, { suspend: false, templates }), ...(admittedAt',
    seed: 101,
    jobs: true,
  },
  {
    name: 'leaves the place of an admission in a Job that it stops',
    from: 'the next admission contradicts the last one',
    file: JOB_WRITES,
    find: 'nodeSelector: { ...nothing(specIn(podSet).nodeSelector ?? {}), ...nodeSelector },',
    replace: 'nodeSelector: nodeSelector ?? {},',
    jobs: true,
  },
  {
    name: 'starts a Job that its user holds',
    from: 'E28: suspended by its user, restarted by the queue',
    file: JOB_DECISIONS,
    find: '  if (isHeld(job)) {\n    const end',
    replace: '  if (isHeld(job) && job.spec.suspend !== true) {\n    const end',
    jobs: true,
  },
  {
    name: 'does not look for pods when a Job is gone',
    from: 'kueue#12820: quota freed while the pods of a deleted Job run',
    file: LEAVING,
    find: 'if (!holds(workload, engine) || actions.length === 0) return actions',
    replace: 'if (actions.length >= 0) return actions',
    jobs: true,
  },
]
