import type { Family } from '../families.ts'

const JOBS = 'src/webhooks/jobs/jobs.ts'
const BLOCKS = 'src/webhooks/jobs/scheduling.ts'
const PARALLELISM = 'src/webhooks/jobs/parallelism.ts'
const ALLOW = 'src/validation/jobs/job-allow.ts'
const RULES = 'src/validation/jobs/job-rules.ts'
const VIEW = 'src/validation/jobs/job-view.ts'
const JOBSET_RULES = 'src/validation/jobs/jobset-rules.ts'
const SCHEDULING = 'src/validation/jobs/scheduling-rules.ts'
const SPELLING = 'src/validation/jobs/scheduling-spelling.ts'

export const JOB_BLOCK_FAMILIES: readonly Family[] = [
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
]
