import type { Family } from '../families.ts'

const JOBS = 'src/webhooks/jobs/jobs.ts'
const BLOCKS = 'src/webhooks/jobs/scheduling.ts'
const PUT = 'src/webhooks/jobs/put.ts'
const GROUPING = 'src/webhooks/jobs/grouping.ts'
const GROUP_GUARD = 'src/webhooks/jobs/group-guard.ts'
const MOVED = 'src/webhooks/jobs/moved-block.ts'
const MAKER = 'src/workload/grouped/maker.ts'
const GROUP_NAME = 'src/workload/grouped/group-name.ts'
const DECIDE_GROUPED = 'src/reconciler/grouped/decide-grouped.ts'
const MINIMUM = 'src/reconciler/grouped/minimum.ts'
const SCOPE = 'src/webhooks/jobs/scope.ts'
const MUTATION = 'src/webhooks/jobs/mutation.ts'
const GUARD = 'src/webhooks/jobs/queue-guard.ts'
const CHILDREN = 'src/webhooks/jobs/children.ts'
const QUEUE_RULES = 'src/webhooks/jobs/queue-rules.ts'
const REPLACEMENT = 'src/webhooks/jobs/replacement.ts'
const PARALLELISM = 'src/webhooks/jobs/parallelism.ts'
const ALLOW = 'src/validation/jobs/job-allow.ts'
const RULES = 'src/validation/jobs/job-rules.ts'
const VIEW = 'src/validation/jobs/job-view.ts'
const JOBSET_RULES = 'src/validation/jobs/jobset-rules.ts'
const SCHEDULING = 'src/validation/jobs/scheduling-rules.ts'
const SPELLING = 'src/validation/jobs/scheduling-spelling.ts'

export const JOB_FAMILIES: readonly Family[] = [
  {
    name: 'what Jobs are allowed to ask for',
    tests: ['test/unit/webhooks/jobs/allow.test.ts'],
    bugs: [
      {
        name: 'lets a block without a policy pass every list',
        from: 'what is not written is basic, and basic may not be allowed',
        file: ALLOW,
        find: "if (!isAbsent || allow.policies.includes('basic')) return []",
        replace: 'if (isAbsent || !isAbsent) return []',
      },
      {
        name: 'does not look at keys past the sixteenth',
        from: 'a limit against hostile lists becomes a way around the list',
        file: ALLOW,
        find: 'return topology.length > MAX_ITEMS ? [',
        replace: 'return topology.length < 0 ? [',
      },
      {
        name: 'judges again what has stood there before',
        from: 'a list that has become shorter breaks what is running',
        file: BLOCKS,
        find: 'const isNew = blocksChanged(before, after)',
        replace: 'const isNew = blocksChanged(undefined, after)',
      },
      {
        name: 'excuses the Jobs of any owner',
        from: 'an owner reference is written by hand, and the lists are passed',
        file: BLOCKS,
        find: '(kind === CRON_JOBS.kind &&',
        replace: "apiVersion !== '' || (",
      },
      {
        name: 'excuses whoever names a root',
        from: 'a CronJob is named by hand as the controller, and the lists are passed',
        file: BLOCKS,
        find: 'isRoot(controller) && createsFor(controller, userInfo, config)',
        replace: 'isRoot(controller)',
      },
      {
        name: 'does not judge what is set free',
        from: 'the block begins to count when the root is struck off, and nobody looks',
        file: BLOCKS,
        find: 'blocksChanged(before, after) || isSetFree(before, after, request)',
        replace: 'blocksChanged(before, after)',
      },
      {
        name: 'judges what the garbage collector sets free',
        from: 'a CronJob that is deleted with --cascade=orphan never goes',
        file: BLOCKS,
        find: ' && !isGarbageCollector(userInfo)',
        replace: '',
      },
      {
        name: 'takes the last list that matches',
        from: 'the entries of namespaces are in order',
        file: 'src/webhooks/jobs/allowance.ts',
        find: 'namespaces.findIndex(',
        replace: 'namespaces.findLastIndex(',
      },
    ],
  },
  {
    name: 'the parallelism of a gang',
    tests: ['test/unit/webhooks/jobs/parallelism.test.ts', 'test/unit/validation/jobs/gang.test.ts'],
    bugs: [
      {
        name: 'asks what the Job will be, and not what it is',
        from: 'one update makes it basic and larger',
        file: PARALLELISM,
        find: 'const gang = gangIn(before, infersGangs',
        replace: 'const gang = gangIn(after, infersGangs',
      },
      {
        name: 'takes every indexed Job for a gang',
        from: 'the option is forgotten in the condition',
        file: PARALLELISM,
        find: "if (implicitGang === 'none' || explicit ||",
        replace: 'if (explicit ||',
      },
      {
        name: 'takes any owner for the same one',
        from: 'an owner is added together with the change',
        file: PARALLELISM,
        find: 'was === undefined || is === undefined || was.uid !== is.uid',
        replace: 'is === undefined',
      },
      {
        name: 'believes whoever names an owner',
        from: 'an owner is added first, the parallelism changed then',
        file: PARALLELISM,
        find: "typeof kind === 'string' && createsFor({ apiVersion, kind }, user, config)",
        replace: "typeof kind === 'string'",
      },
      {
        name: 'makes a gang of one out of nothing',
        from: 'an indexed Job with one pod waits for nobody',
        file: 'src/validation/jobs/gang.ts',
        find: 'job.parallelism > 1 &&',
        replace: 'job.parallelism > 0 &&',
      },
    ],
  },
  {
    name: 'the rules of a Job',
    tests: ['test/unit/webhooks/jobs/jobs.test.ts', 'test/conformance/jobs.test.ts'],
    bugs: [
      {
        name: 'takes a gang that is larger than its Job',
        from: 'the two numbers stand in different places',
        file: RULES,
        find: 'minCount <= parallelism ||',
        replace: 'parallelism <= minCount ||',
      },
      {
        name: 'lets a Job become a gang',
        from: 'the PodGroup was made for what the Job was',
        file: RULES,
        find: 'if (isBasic(was.schedulingPolicy) === isBasic(is.schedulingPolicy)) return []',
        replace: 'if (isBasic(was.schedulingPolicy) || isBasic(is.schedulingPolicy)) return []',
      },
      {
        name: 'holds up a Job that was wrong before Muster came',
        from: 'what has not changed is judged again, and no finalizer can be taken off',
        file: RULES,
        find: 'if (wasUnreadable && unchanged) return []\n',
        replace: '',
        and: {
          find: 'const settled = unchanged && before.parallelism',
          replace: 'const settled = !unchanged && before?.parallelism',
        },
      },
      {
        name: 'reads one of two blocks',
        from: 'the field wins, and the annotation that contradicts it is not even mentioned',
        file: VIEW,
        find: 'if (field !== undefined && annotation !== undefined) {',
        replace: 'if (field === undefined && annotation === undefined) {',
      },
      {
        name: 'does not look at what comes with the status',
        from: 'annotations can be changed through jobs/status',
        file: JOBS,
        find: "kind === 'Job' && annotationChanged(request)",
        replace: "kind === 'Job' && !annotationChanged(request)",
      },
      {
        name: 'answers 403 for an object that is wrong',
        from: 'one refusal among errors makes all of it a refusal',
        file: BLOCKS,
        find: "const isWrong = errors.some(({ type }) => type !== 'Forbidden')",
        replace:
          "const isWrong = errors.length > 0 && errors.every(({ type }) => type !== 'Forbidden' && type !== 'Invalid')",
      },
    ],
  },
  {
    name: 'the rules of CronJobs and JobSets',
    tests: ['test/unit/webhooks/jobs/roots.test.ts'],
    bugs: [
      {
        name: 'freezes the policy of a CronJob',
        from: 'the rule for Jobs is used for what makes Jobs',
        file: RULES,
        find: '(was === undefined || isCronJob ? []',
        replace: '(was === undefined ? []',
      },
      {
        name: 'lets a JobSet say the same level twice',
        from: 'split brain: an entry and the template of the same replicated Job',
        file: JOBSET_RULES,
        find: 'if (entry === undefined || !saysTwice(after, name) ||',
        replace: 'if (entry === undefined || saysTwice(after, name) ||',
      },
      {
        name: 'blocks every update of a JobSet that has said it twice before',
        from: 'what is stored already is not new',
        file: JOBSET_RULES,
        find: ' || saysTwice(before, name)) return []',
        replace: ') return []',
      },
      {
        name: 'takes more groups than there are',
        from: 'the whole counts groups, and its limit is forgotten beside that of the pods',
        file: JOBSET_RULES,
        find: "...(outside ? tooLarge(jobSet.root, jobs.length, 'groups') : []),\n",
        replace: '',
      },
      {
        name: 'takes an entry for a job that does not exist',
        from: 'a name that is misspelt describes nobody, and nobody is told',
        file: 'src/validation/jobs/jobset-view.ts',
        find: '} else if (!names.has(target)) {',
        replace: "} else if (target === ' ') {",
      },
    ],
  },
  {
    name: 'warnings about Jobs',
    tests: ['test/unit/webhooks/jobs/warnings.test.ts'],
    bugs: [
      {
        name: 'does not warn of a name with a dot',
        from: 'the length is what people think of',
        file: 'src/validation/jobs/job-warnings.ts',
        find: "if (!name.includes('.') && name.length <= MAX_JOB_NAME) return []",
        replace: 'if (name.length <= MAX_JOB_NAME) return []',
      },
      {
        name: 'warns controllers, who read no warnings',
        from: 'the Jobs of a CronJob come every minute',
        file: BLOCKS,
        find: 'const told = counts && after.controller === undefined ?',
        replace: 'const told = counts ?',
      },
    ],
  },
  {
    name: 'the structure of a scheduling block',
    tests: ['test/unit/validation/jobs/scheduling.test.ts'],
    bugs: [
      {
        name: 'takes two members of a union',
        from: 'at least one instead of exactly one',
        file: 'src/validation/jobs/scheduling-schemas.ts',
        find: 'setMembers(members, data).length === 1',
        replace: 'setMembers(members, data).length >= 1',
      },
      {
        name: 'lets a block be added later',
        from: 'a Job without one has been started as basic',
        file: SCHEDULING,
        find: 'if (before === undefined) return [set(root)]',
        replace: 'if (before === undefined) return creationErrors(after)',
      },
      {
        name: 'lets constraints change',
        from: 'only the policy was thought of',
        file: SCHEDULING,
        find: 'if (!sameTree(was.schedulingConstraints, is.schedulingConstraints)) {',
        replace: 'if (sameTree(was, is.schedulingConstraints)) {',
      },
      {
        name: 'takes two claims of one name',
        from: 'the names that were seen are not kept',
        file: SCHEDULING,
        find: 'seen.add(name)',
        replace: 'seen.delete(name)',
      },
      {
        name: 'takes null for a value',
        from: "in Go's JSON null is absent",
        file: SPELLING,
        find: 'value[key] !== undefined && value[key] !== null',
        replace: 'value[key] !== undefined',
      },
      {
        name: 'reads two names of one field without a word',
        from: 'the names of the KEP and those that were shipped',
        file: SPELLING,
        find: '? [...twiceNamed(value, root), ',
        replace: '? [',
      },
      {
        name: 'takes blocks with the same keys for the same',
        from: 'one comparison of trees, for everything that must not change',
        file: 'src/validation/jobs/scheduling-tree.ts',
        find: 'Object.hasOwn(b, key) && sameTree(',
        replace: 'Object.hasOwn(b, key) || sameTree(',
      },
    ],
  },
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
        find: 'podTemplatesOf(object, kind).flatMap(templateErrors)',
        replace: 'podTemplatesOf(object, kind).slice(0, 1).flatMap(templateErrors)',
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
    ],
  },
  {
    name: 'whom Muster groups',
    tests: [
      'test/unit/webhooks/jobs/grouping.test.ts',
      'test/unit/workload/grouped/maker.test.ts',
      'test/unit/reconciler/grouped.test.ts',
    ],
    bugs: [
      {
        name: 'makes a second Workload beside that of the Job controller',
        from: 'whoever has a block is grouped',
        file: MAKER,
        find: "if (jobs !== 'always' && jobControllerDoes(job, asked, served)) return { who: 'jobController' }",
        replace: "if (jobs === 'never' && jobControllerDoes(job, asked, served)) return { who: 'jobController' }",
      },
      {
        name: 'leaves the Jobs of a CronJob to the Job controller',
        from: 'it validates their block, so it will read it',
        file: MAKER,
        find: 'served.jobSchedulingField && controller === undefined',
        replace: 'served.jobSchedulingField',
      },
      {
        name: 'leaves what hangs below a group of groups to the Job controller',
        from: 'it looks at top-level templates only',
        file: MAKER,
        find: "if (asked === 'delegated') return parentComposite === undefined",
        replace: "if (asked === 'delegated') return true",
      },
      {
        name: 'keeps the group of the Job from which this one was copied',
        from: 'what has a name needs none',
        file: GROUPING,
        find: 'const naming = job.groupName === name ? [] : named(name)',
        replace: "const naming = job.groupName === '' ? named(name) : []",
      },
      {
        name: 'takes the group of another Job for that of this one',
        from: 'there is a name already',
        file: GROUP_NAME,
        find: "return found !== undefined && [name, generateName].some(text => text !== '' && baseOf(text) === found)",
        replace: "return found !== undefined && [name, generateName].some(text => text !== '')",
      },
      {
        name: 'lets anybody into the groups of a JobSet',
        from: 'an owner reference is believed',
        file: GROUPING,
        find: 'if (controller === undefined || !createsFor(controller, userInfo, config))',
        replace: 'if (controller === undefined || userInfo === undefined || config === undefined)',
      },
      {
        name: 'has Muster make a group of any name',
        from: 'the mark is taken for proof',
        file: GROUP_GUARD,
        find: 'if (job.isMarked && !isOwn)',
        replace: "if (job.isMarked && !isOwn && maker.who === 'nobody')",
      },
      {
        name: 'lets the mark be taken away',
        from: 'its pods wait for a group that nobody makes',
        file: GROUP_GUARD,
        find: 'filter(path => was.get(path) !== is.get(path))',
        replace: 'filter(path => is.has(path) && was.get(path) !== is.get(path))',
      },
      {
        name: 'writes the block anew with every apply',
        from: 'the text differs, the meaning does not',
        file: MOVED,
        find: 'const isKnown = wasSaid !== undefined &&',
        replace: "const isKnown = wasSaid === '' &&",
      },
      {
        name: 'keeps the block without a look at it',
        from: 'the validator will see it',
        file: MOVED,
        find: "if (refused.kind === 'denied') return refused",
        replace: "if (refused.kind === 'denied' && refused.code === 0) return refused",
      },
      {
        name: 'makes the groups before their Workload',
        from: 'all at once is faster',
        file: DECIDE_GROUPED,
        find: "return isDue && objects[0]?.kind === 'Workload' ? [first] : all",
        replace: 'return isDue && objects.length === 0 ? [first] : all',
      },
      {
        name: 'takes the object of another for its own',
        from: 'it has the right name',
        file: DECIDE_GROUPED,
        find: "if (!hasSameController(known, wanted)) return { refused: failed(unit, 'Create', ownerNote(kind, known)) }",
        replace: "if (kind === '') return { refused: failed(unit, 'Create', ownerNote(kind, known)) }",
      },
      {
        name: 'makes a gang smaller with every pod that succeeds',
        from: 'two writes each, and for nothing',
        file: MINIMUM,
        find: 'return object?.lacks === true || object?.suspended === true ? least : known',
        replace: 'return least',
      },
      {
        name: 'lets a gang wait for pods that have done their work',
        from: 'its size is what its Job says',
        file: MINIMUM,
        find: 'const least = Math.max(1, Math.min(full, object?.remaining ?? full))',
        replace: 'const least = Math.max(1, full)',
      },
      {
        name: 'fixes the size of a gang on 1.36 before it is known',
        from: 'as on 1.37, where it changes',
        file: DECIDE_GROUPED,
        find: 'if (object.suspended && !minCountChanges(served)) return NOTHING',
        replace: 'if (object.suspended && served.kai) return NOTHING',
      },
    ],
  },
]
