import type { Family } from '../families.ts'

const EXPLAIN = 'src/insight/explain'
const DOCTOR = 'src/insight/doctor'
const QUEUES = 'src/insight/queues'
const PAGE = 'src/insight/dashboard'

/** A tool that is asked in need and answers wrongly costs more than none. */
export const INSIGHT_FAMILIES: readonly Family[] = [
  {
    name: 'explain',
    tests: ['test/unit/insight/explain.test.ts', 'test/unit/insight/pages.test.ts'],
    bugs: [
      {
        name: 'says that it will be lifted in a moment when a write was refused',
        from: 'Kueue #9492: admitted for ever, and the reason stands in an Event',
        file: `${EXPLAIN}/standing.ts`,
        find: "if (told?.reason !== 'LiftBlocked' ||",
        replace: "if (told?.reason !== 'Lifting' ||",
      },
      {
        name: 'speaks of a group by what needs nobody',
        from: 'the first pod of a list is as good as any',
        file: `${EXPLAIN}/standing.ts`,
        find: 'WEIGHT.indexOf(a.reason) - WEIGHT.indexOf(b.reason)',
        replace: 'WEIGHT.indexOf(b.reason) - WEIGHT.indexOf(a.reason)',
      },
      {
        name: 'counts the waiting from the creation of the pod',
        from: 'who changed his queue has waited there from then on',
        file: `${EXPLAIN}/standing.ts`,
        find: 'const at = queued ?? noted',
        replace: 'const at = createdAt(found) ?? queued ?? noted',
      },
      {
        name: 'invents limits where the configuration may not be read',
        from: 'no limits known looks like no limits',
        file: `${EXPLAIN}/explain.ts`,
        find: 'inQueue && config !== undefined',
        replace: 'inQueue && (config !== undefined || true)',
      },
      {
        name: 'promises a start to who asks for less with others before him',
        from: 'first in, first out is forgotten on the copy',
        file: 'src/insight/counterfactuals.ts',
        find: 'const result = outcomeOf(queue, others, asking(workload, less), reckon)',
        replace: 'const result = outcomeOf(queue, others.slice(0, 1), asking(workload, less), reckon)',
      },
      {
        name: 'names limits that hold it and not those before it',
        from: 'what is short is what it asks for',
        file: 'src/insight/counterfactuals.ts',
        find: 'for (const entry of before) add(needed, entry.requests)',
        replace: 'for (const entry of before.slice(0, 0)) add(needed, entry.requests)',
      },
      {
        name: 'sends people to queues that are not for them',
        from: 'every queue of the configuration is one',
        file: 'src/insight/counterfactuals.ts',
        find: 'namespaces === undefined || (',
        replace: 'namespaces !== undefined || (',
      },
      {
        name: 'tells who is too large to wait',
        from: 'OverQueueLimits is said for both',
        file: `${EXPLAIN}/next-step.ts`,
        find: 'if (queue !== undefined && queue.before === undefined)',
        replace: 'if (queue !== undefined && queue.before === -1)',
      },
      {
        name: 'passes over the Job that waits in the stead of its pod',
        from: 'Kueue #7929: the pod itself names no queue',
        file: `${EXPLAIN}/find.ts`,
        find: "if (inner.found.kind !== 'none') return { through, ...inner }",
        replace: "if (inner.found.kind === 'none') return { through, ...inner }",
      },
    ],
  },
  {
    name: 'queues',
    tests: ['test/unit/insight/queues.test.ts', 'test/unit/insight/pages.test.ts'],
    bugs: [
      {
        name: 'forgets those that are set aside',
        from: 'they are in no line',
        file: `${QUEUES}/report.ts`,
        find: 'aside: aside.map(',
        replace: 'aside: aside.slice(0, 0).map(',
      },
      {
        name: 'says that who was evicted has ended',
        from: 'he holds nothing any more',
        file: `${QUEUES}/changes.ts`,
        find: "was?.place === 'holds' ? 'waits again' : 'waits'",
        replace: "was?.place === 'holds' ? 'waits' : 'waits'",
      },
      {
        name: 'says that who gave up waiting has ended',
        from: 'gone is gone',
        file: `${QUEUES}/changes.ts`,
        find: "place === 'holds' ? 'ends' : 'leaves'",
        replace: "place === 'waits' ? 'ends' : 'leaves'",
      },
      {
        name: 'hides queues that the configuration does not list',
        from: 'limits are what the table is about',
        file: `${QUEUES}/report.ts`,
        find: 'isListed || view.holding.length + view.pending.length + view.aside.length > 0',
        replace: 'isListed',
      },
    ],
  },
  {
    name: 'doctor',
    tests: ['test/unit/insight/doctor.test.ts'],
    bugs: [
      {
        name: 'finds no fault with a policy that only warns',
        from: 'it is there, and it is bound',
        file: `${DOCTOR}/surroundings.ts`,
        find: "spec?.validationActions?.includes('Deny')",
        replace: 'spec?.validationActions !== undefined',
      },
      {
        name: 'judges a certificate by the name that Muster likes',
        from: 'the API server judges by the one it calls',
        file: `${DOCTOR}/certificates.ts`,
        find: 'pairProblem({ ...pair, bundle }, hostOf(webhook), now)',
        replace: 'pairProblem({ ...pair, bundle }, [], now)',
      },
      {
        name: 'judges a certificate by its own bundle',
        from: 'cert-manager #7138: the Secret is sound, and the webhook trusts another',
        file: `${DOCTOR}/certificates.ts`,
        find: 'pairProblem({ ...pair, bundle }',
        replace: 'pairProblem({ ...pair, bundle: pair.bundle || bundle }',
      },
      {
        name: 'believes the clock of the leader',
        from: 'a leader whose clock is ahead never seems to be away',
        file: `${DOCTOR}/replicas.ts`,
        find: "const renewed = Date.parse(renewTime ?? '') + (skew ?? 0)",
        replace: "const renewed = Date.parse(renewTime ?? '')",
      },
      {
        name: 'is content with one replica of two',
        from: 'somebody answers',
        file: `${DOCTOR}/replicas.ts`,
        find: 'available < wanted ?',
        replace: 'available === 0 ?',
      },
      {
        name: 'does not see who is stuck in Terminating without the label',
        from: 'Kueue #6919: what is being deleted is on its way',
        file: `${DOCTOR}/objects.ts`,
        find: 'pods.filter(pod => hasOurFinalizer(pod) && !isMarkedManaged(pod))',
        replace: 'pods.filter(pod => hasOurFinalizer(pod) && !isMarkedManaged(pod) && !isDeleting(pod))',
      },
      {
        name: 'takes the Workload of a Job for one without pods',
        from: 'a Job that waits has none',
        file: `${DOCTOR}/objects.ts`,
        find: "if (isTrue(workload, 'Finished') || annotations?.[WORKLOAD_JOB] !== undefined) return false",
        replace: "if (isTrue(workload, 'Finished')) return false",
      },
      {
        name: 'blames a webhook that looks at nothing of ours',
        from: 'its rules have pods in them',
        file: `${DOCTOR}/webhooks.ts`,
        find: 'createsPods(webhook) && selects(webhook, SYSTEM_NAMESPACE)',
        replace: 'createsPods(webhook)',
      },
    ],
  },
  {
    name: 'dashboard',
    tests: [
      'test/unit/insight/dashboard/model.test.ts',
      'test/unit/insight/dashboard/story.test.ts',
      'test/server/dashboard.test.ts',
    ],
    bugs: [
      {
        name: 'answers whoever reaches the port',
        from: 'kueueviz: it has no authentication by default',
        file: 'src/dashboard/access.ts',
        find: "return isIn ? { kind: 'open' } : closed(401, LOST)",
        replace: "return isIn || true ? { kind: 'open' } : closed(401, LOST)",
      },
      {
        name: 'answers to any name',
        from: 'DNS rebinding: a name of theirs resolves to this machine',
        file: 'src/dashboard/access.ts',
        find: 'if (!own.includes(one(headers.host)))',
        replace: "if (one(headers.host) === '')",
      },
      {
        name: 'listens on every address',
        from: 'listen without a host',
        file: 'src/dashboard/server.ts',
        find: "server.listen(port, '127.0.0.1', () => resolve())",
        replace: 'server.listen(port, () => resolve())',
      },
      {
        name: 'gives a reader who was away less than he missed',
        from: 'what is forgotten was not missed',
        file: 'src/dashboard/stream.ts',
        find: 'return missed.length === this.#number - seen ?',
        replace: 'return missed.length <= this.#number - seen ?',
      },
      {
        name: 'takes numbers of another process for its own',
        from: 'they count from 1 as well',
        file: 'src/dashboard/stream.ts',
        find: 'if (epoch !== this.#epoch ||',
        replace: "if (epoch === '' ||",
      },
      {
        name: 'counts an admission that was lost as one that runs',
        from: 'the Workload is still there',
        file: `${PAGE}/admissions.ts`,
        find: "this.#seen.set(earlier.id, { ...earlier, now: 'evicted' })",
        replace: 'this.#seen.set(earlier.id, earlier)',
      },
      {
        name: 'lists what is over among those who wait',
        from: 'Finished is a reason, too',
        file: `${PAGE}/waiting.ts`,
        find: "if (stand.reason === null || stand.reason === 'Finished') return undefined",
        replace: 'if (stand.reason === null) return undefined',
      },
      {
        name: 'tells a story in the order in which it was read',
        from: 'Events come by name',
        file: `${PAGE}/story.ts`,
        find: 'rank(a) - rank(b) : a.at < b.at ? -1 : 1',
        replace: 'rank(a) - rank(b) : a.at < b.at ? 1 : -1',
      },
    ],
  },
]
