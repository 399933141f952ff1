import type { Family } from '../families.ts'

const PUT = 'src/webhooks/jobs/put.ts'
const SCOPE = 'src/webhooks/jobs/scope.ts'
const MUTATION = 'src/webhooks/jobs/mutation.ts'
const GUARD = 'src/webhooks/jobs/queue-guard.ts'
const CHILDREN = 'src/webhooks/jobs/children.ts'
const QUEUE_RULES = 'src/webhooks/jobs/queue-rules.ts'
const REPLACEMENT = 'src/webhooks/jobs/replacement.ts'

export const JOB_QUEUE_FAMILIES: readonly Family[] = [
  {
    name: 'when the pods of queued Jobs are replaced',
    tests: ['test/unit/webhooks/jobs/replacement.test.ts'],
    bugs: [
      {
        name: 'believes what the API server writes into every Job',
        from: 'the default cannot be told from a wish: a pod that is deleted runs beside its successor',
        file: REPLACEMENT,
        find: 'isJob(kind) && !isLate(object) ? [TO_LATE] : []',
        replace: 'isJob(kind) && object.spec.podReplacementPolicy === undefined ? [TO_LATE] : []',
      },
      {
        name: 'has it turned back while it runs',
        from: 'an update of what runs changes nothing that the queue is about',
        file: MUTATION,
        find: "if (!isSuspended(after)) return kept.length === 0 ? allowed('Running') : patched('Running', kept)",
        replace: "if (!isSuspended(after)) return allowed('Running')",
      },
      {
        name: 'leaves it as it is in what comes into its queue later',
        from: 'a queue can be named after the creation, too',
        file: MUTATION,
        find: '!isQueued(before) ? replaceLate(after, kind) : kept',
        replace: 'isQueued(before) ? replaceLate(after, kind) : kept',
      },
      {
        name: 'asks nobody who turns it back in the Job of a JobSet',
        from: 'nobody charges the children',
        file: CHILDREN,
        find: "isTurnedBack(before, after, kind) ? ['spec.podReplacementPolicy'] : []",
        replace: "isTurnedBack(after, before, kind) ? ['spec.podReplacementPolicy'] : []",
      },
    ],
  },
  {
    name: 'Jobs in queues',
    tests: ['test/unit/webhooks/jobs/queue-mutation.test.ts', 'test/unit/webhooks/jobs/queueing.test.ts'],
    bugs: [
      {
        name: 'queues a Job whose pods anybody can hide',
        from: 'by labels of its user nobody sees that its pods still run',
        file: 'src/workload/jobs/batch-job.ts',
        find: 'if (manualSelector === true) return true',
        replace: 'if (manualSelector === true) return false',
      },
      {
        name: 'lets a Job in that took the word for its own selector back',
        from: 'the word may change after the creation, and the selector may not',
        file: 'src/webhooks/jobs/queueing.ts',
        find: '    ...newTemplateErrors(change),\n',
        replace: '',
      },
      {
        name: 'takes whoever names a queued root for its child',
        from: 'an owner reference is written by hand, and the Job runs with nobody',
        file: SCOPE,
        find: 'const ancestry = findQueuedAncestor(object, namespace, user, world)',
        replace:
          "const anybody = { ...world.config.guard, controllers: { 'jobset.x-k8s.io/jobset': ['*'] } }\n" +
          '  const fooled = { ...world, config: { ...world.config, guard: anybody } }\n' +
          '  const ancestry = findQueuedAncestor(object, namespace, user, fooled)',
      },
      {
        name: 'does not read the labels of the template',
        from: 'what the API server copies is not in a file',
        file: SCOPE,
        find: 'return isBare && kind === JOBS.kind ? spec.template?.metadata?.labels : metadata.labels',
        replace: 'return isBare && kind === JOBS.kind && !spec ? {} : metadata.labels',
      },
      {
        name: 'queues what another controller runs',
        from: 'nobody here looks at it, and it waits for ever',
        file: SCOPE,
        find: "if (isForeign(kind, object.spec.managedBy)) return ignored('ForeignController')\n\n  const selected",
        replace: 'const selected',
      },
      {
        name: 'queues Jobs also where Kueue does',
        from: 'two that suspend and resume the same Job',
        file: SCOPE,
        find: "return config.engine === 'builtin' && holds.includes(framework)",
        replace: 'return holds.includes(framework)',
      },
      {
        name: 'lets its user start what waits',
        from: 'his manifest says suspend: false',
        file: MUTATION,
        find: 'const patch = [...also, ...takeIn(object), ...suspend(object)]',
        replace: 'const patch = [...also, ...takeIn(object)]',
      },
      {
        name: 'forgets that its user holds it',
        from: 'the mark stands beside another, and only the first is written',
        file: MUTATION,
        find: "...(!isHeld(object) && { [HELD]: 'true' }),",
        replace: '',
      },
      {
        name: 'holds what comes to a queue',
        from: 'who names the queue and suspends at once wants it to wait',
        file: MUTATION,
        find: 'return wasOurs ? held(after, kind, kept)',
        replace: 'return wasOurs || after ? held(after, kind, kept)',
      },
      {
        name: 'holds for ever what was held',
        from: 'the mark stays when its user wants it back',
        file: MUTATION,
        find: "isHeld(after) ? [{ op: 'remove' as const, path: annotationAt(HELD) }] : []",
        replace: '[]',
      },
      {
        name: 'forgets that what was held is being stopped',
        from: 'a soak: held and wanted back before the reconciler had looked, it was held for ever',
        file: MUTATION,
        find: "...(!isStopping(object) && { [STOPPING]: 'true' })",
        replace: '',
      },
      {
        name: 'makes the annotations anew for each mark',
        from: 'two additions of one map: the second wins',
        file: PUT,
        find: 'if (existing === undefined || existing === null) {\n    return Object.keys(wanted)',
        replace:
          'if (existing === undefined || existing === null || existing !== wanted) {\n    return Object.keys(wanted)',
      },
      {
        name: 'lets anybody resume what waits',
        from: 'the guard of the gate, and nobody thought of suspend',
        file: GUARD,
        find: "if (!isSuspended(before) || isSuspended(after)) return []\n  return [forbidden('spec.suspend'",
        replace: "if (isSuspended(before) || isSuspended(after)) return []\n  return [forbidden('spec.suspend'",
      },
      {
        name: 'lets the label be taken away',
        from: 'the way past the queue that Kueue has: no label, no queue',
        file: GUARD,
        find: 'if (!isQueued(before) || queueLabelOf(after) !== undefined) return []',
        replace: 'if (!isQueued(before) || queueLabelOf(after) === undefined) return []',
      },
      {
        name: 'refuses to shrink',
        from: 'what is given back is refused with what is taken',
        file: GUARD,
        find: 'pods > (known[index]?.pods ?? 0)',
        replace: 'pods !== (known[index]?.pods ?? 0)',
      },
      {
        name: 'counts the parallelism, not the pods',
        from: 'completions bound what runs at once',
        file: 'src/webhooks/jobs/size.ts',
        find: 'pods: replicas * podsOfJob(spec),',
        replace: 'pods: replicas * (countIn(spec.parallelism) ?? 1),',
      },
      {
        name: 'lets a JobSet exchange its Jobs',
        from: 'fewer small pods make room for more large ones',
        file: GUARD,
        find: 'const grown = templates.findIndex(({ pods }, index) => pods > (known[index]?.pods ?? 0))',
        replace: `const sum = (all: typeof known) => all.reduce((pods, each) => pods + each.pods, 0)
  const grown = sum(templates) > sum(known) ? 0 : -1`,
      },
      {
        name: 'believes a stamp that somebody brought',
        from: 'a Job says that it is the child of one that was admitted',
        file: GUARD,
        find: 'of(object) !== undefined && of(object) !== own[key]',
        replace: "of(object) !== undefined && own[key] === undefined && key === ''",
      },
      {
        name: 'takes the end of a Job from anybody',
        from: 'whoever may write jobs/status frees quota',
        file: GUARD,
        find: 'if (!isQueued(before) || createsFor(ownerOf(kind), user, world.config)) return []',
        replace: 'if (!isQueued(before) || user !== undefined) return []',
      },
      {
        name: 'lets the Jobs of a waiting JobSet be started one by one',
        from: 'they have no queue of their own',
        file: CHILDREN,
        find: "isSuspended(before) && !isSuspended(after) ? ['spec.suspend'] : []",
        replace: "!isSuspended(before) && isSuspended(after) ? ['spec.suspend'] : []",
      },
      {
        name: 'knows the owner of a child by its uid alone',
        from: 'the garbage collector looks for the name, and deletes what has an owner that it does not find',
        file: CHILDREN,
        find: "(['apiVersion', 'kind', 'name', 'uid'] as const)",
        replace: "(['uid'] as const)",
      },
      {
        name: 'takes in what comes through the status, as it is',
        from: 'the API server takes labels there, and asks no mutating webhook',
        file: GUARD,
        find: "if (is.kind === 'ours') {",
        replace: "if (is.kind === 'child') {",
      },
      {
        name: 'lets an empty queue name excuse the pods of a Job that runs',
        from: 'where everything waits, it says that Muster has taken the Job in',
        file: GUARD,
        find: "if (queue !== '' || old === '') return []",
        replace: "if (queue !== '' || old !== '') return []",
      },
      {
        name: 'forgets a child whose owner was struck off',
        from: 'references can be changed by anybody',
        file: CHILDREN,
        find: 'if (stamped !== undefined) return stamped',
        replace: "if (stamped === '') return stamped",
      },
      {
        name: 'takes as many as there are for less',
        from: 'greater or equal',
        file: QUEUE_RULES,
        find: 'if (parsed.value > 0 && parsed.value < pods) return []',
        replace: 'if (parsed.value > 0 && parsed.value <= pods) return []',
      },
      {
        name: 'lets the queue change while it is being stopped',
        from: 'suspended, and its pods still run',
        file: QUEUE_RULES,
        find: 'isSuspended(object) && !isStopping(object)',
        replace: 'isSuspended(object)',
      },
      {
        name: 'judges again what was wrong before',
        from: 'a controller cannot take its finalizer away',
        file: QUEUE_RULES,
        find: 'const known = new Set(createErrors(before, kind, world).map(',
        replace: 'const known = new Set(createErrors(before, kind, world).slice(0, 0).map(',
      },
    ],
  },
  {
    name: 'where the pods of Jobs ask to be placed',
    tests: ['test/unit/webhooks/jobs/topology.test.ts'],
    bugs: [
      {
        name: 'looks only at the first template of a JobSet',
        from: 'a Job has one, and the rule was written for Jobs',
        file: QUEUE_RULES,
        find: '.flatMap(template => templateErrors(template, kind))',
        replace: '.slice(0, 1).flatMap(template => templateErrors(template, kind))',
      },
      {
        name: 'tells a mistake of an update twice',
        from: 'a mark that is new is a change, too',
        file: QUEUE_RULES,
        find: 'const isNew = !known.has(text)',
        replace: 'const isNew = known !== undefined',
      },
      {
        name: 'takes `false` for another word than nothing at all',
        from: 'what is written is not what it means',
        file: QUEUE_RULES,
        find: 'doCompletionsFollow(before) !== doCompletionsFollow(after)',
        replace: 'completionsFollowOf(before) !== completionsFollowOf(after)',
      },
      {
        name: 'counts the pods of one replica only',
        from: 'a podSet of a JobSet has those of all replicas',
        file: 'src/webhooks/jobs/size.ts',
        find: 'pods: replicas * podsOfJob(spec)',
        replace: 'pods: podsOfJob(spec)',
      },
      {
        name: 'names the annotation where it is not',
        from: 'the path of a pod, in a template',
        file: 'src/webhooks/topology.ts',
        find: "return prefix === '' ? errors :",
        replace: "return prefix !== '' ? errors :",
      },
      {
        name: 'lets the outermost of several slices be larger than all pods',
        from: 'the size of one slice is an annotation of its own',
        file: 'src/webhooks/topology.ts',
        find: 'outermost > pods',
        replace: 'outermost < 1',
      },
    ],
  },
]
