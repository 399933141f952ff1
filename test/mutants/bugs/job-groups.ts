import type { Family } from '../families.ts'

const GROUPING = 'src/webhooks/jobs/grouping.ts'
const GROUP_GUARD = 'src/webhooks/jobs/group-guard.ts'
const MOVED = 'src/webhooks/jobs/moved-block.ts'
const MAKER = 'src/workload/grouped/maker.ts'
const GROUP_NAME = 'src/workload/grouped/group-name.ts'
const DECIDE_GROUPED = 'src/reconciler/grouped/decide-grouped.ts'
const MINIMUM = 'src/reconciler/grouped/minimum.ts'

export const JOB_GROUP_FAMILIES: readonly Family[] = [
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
