import type { Family } from '../families.ts'

const LINTS = 'src/review/lints'
const TESTS = ['test/unit/review/lints.test.ts', 'test/unit/review/many.test.ts']
const SILENT = ['test/unit/review/silent-greens.test.ts', 'test/unit/review/unworkable.test.ts']

/** What `muster review` finds beyond what the webhooks say. */
export const LINT_FAMILIES: readonly Family[] = [
  {
    name: 'lints across objects',
    tests: TESTS,
    bugs: [
      {
        name: 'forgets a name when the table of names grows',
        from: 'half a million names have room only as fingerprints',
        file: `${LINTS}/fingerprints.ts`,
        find: 'if (mark !== 0) this.#occupy',
        replace: 'if (mark > 1) this.#occupy',
      },
      {
        name: 'suspects no name',
        from: 'a mark that is set and never read',
        file: `${LINTS}/fingerprints.ts`,
        find: 'else this.#marks[slot] = REPEATED',
        replace: 'else this.#marks[slot] = SEEN',
      },
      {
        name: 'fails a base and its overlay',
        from: 'both have the same names, and nobody applies both',
        file: `${LINTS}/duplicates.ts`,
        find: "other === file ? 'error' : 'warning'",
        replace: "other !== '' ? 'error' : 'warning'",
      },
      {
        name: 'counts a pod in the base and in the overlay',
        from: 'published examples are there once for every version',
        file: `${LINTS}/survey.ts`,
        find: 'if (!this.#duplicates.note(request)) return',
        replace: 'this.#duplicates.note(request)',
      },
      {
        name: 'counts the pods that it keeps, and not those that there are',
        from: 'of a crowd only the first are kept',
        file: `${LINTS}/grouped.ts`,
        find: 'joined.total += count ?? 1',
        replace: 'joined.total = joined.members.length + 1',
      },
      {
        name: 'says that a group waits whose pods were not all counted',
        from: 'of a crowd only the first are kept',
        file: `${LINTS}/grouped.ts`,
        find: 'if (total > members.length) return []',
        replace: 'if (total < 0) return []',
      },
      {
        name: 'takes a DaemonSet for one pod',
        from: 'only its controller knows how many there are',
        file: `${LINTS}/grouped.ts`,
        find: 'if (count === undefined) joined.isOpen = true',
        replace: 'if (count === 0) joined.isOpen = true',
      },
      {
        name: 'takes different shapes for one',
        from: 'pods that contradict each other are found by what they say',
        file: `${LINTS}/grouped.ts`,
        find: 'shapes.find(shape => shape.text === text)',
        replace: 'shapes.find(shape => shape.text.length >= 0)',
      },
    ],
  },
  {
    name: 'what is legal and never starts',
    tests: ['test/unit/review/never-start.test.ts'],
    bugs: [
      {
        name: 'takes the pods of a StatefulSet for made at once',
        from: 'replicas are a number',
        file: `${LINTS}/grouped.ts`,
        find: 'total - late < seats',
        replace: 'total < seats',
      },
      {
        name: 'takes whoever comes late for a member of another group',
        from: 'what pods wait for is in another template',
        file: `${LINTS}/grouped.ts`,
        find: 'later?.behind.some(template => isOf(group, template))',
        replace: 'later?.behind.every(template => !isOf(group, template))',
      },
      {
        name: 'asks only what a Job itself depends on',
        from: 'who waits for somebody waits for whom he waits for',
        file: `${LINTS}/pods-later.ts`,
        find: '    dependenciesOf(other, jobs, found)\n',
        replace: '',
      },
      {
        name: 'forgets that a LeaderWorkerSet may make its leader like a worker',
        from: 'a template that is not there makes no pods',
        file: `${LINTS}/pods-later.ts`,
        find: 'leaderTemplate ?? workerTemplate',
        replace: 'leaderTemplate',
      },
      {
        name: 'speaks of the group of pods that wait with their Job',
        from: 'the survey knows no owners',
        file: `${LINTS}/lint.ts`,
        find: '!isAboutNobody(each, reason)',
        replace: '!isAboutNobody(each, surveyed.length > 0 ? "" : reason)',
      },
      {
        name: 'lets pods wait for nodes that their queue does not have',
        from: 'the scheduler knows the nodes',
        file: `${LINTS}/conflicts.ts`,
        find: "own !== 'string' || own === value",
        replace: "own === 'string' || own === value",
      },
      {
        name: 'counts a Job without labels for no queue',
        from: 'the label is in the template',
        file: `${LINTS}/queues.ts`,
        find: "framework === 'batch/job' ? labelledJob(given) : given",
        replace: "framework === 'batch/jobs' ? labelledJob(given) : given",
      },
      {
        name: 'gates the pods of a CronJob whose Jobs wait',
        from: 'its Jobs have no labels in the file',
        file: 'src/review/templates.ts',
        find: "between.kind === 'Job' && !isBare ? ofJob : ofPods",
        replace: "between.kind === 'Job' ? ofJob : ofPods",
      },
      {
        name: 'takes a name for a label',
        from: 'both have letters, digits and dashes',
        file: `${LINTS}/values.ts`,
        find: 'value.length <= MAX_LABEL_LENGTH || !isSubdomain(value)',
        replace: 'value.length >= 0 || !isSubdomain(value)',
      },
    ],
  },
  {
    name: 'lints of one object',
    tests: SILENT,
    bugs: [
      {
        name: 'takes a number in quotes for a number',
        from: 'a value that JavaScript would convert',
        file: `${LINTS}/shapes.ts`,
        find: 'Number.isInteger(value) && Number(value) >= min',
        replace: 'Number.isInteger(Number(value)) && Number(value) >= min',
      },
      {
        name: 'looks at the items of no list',
        from: 'a wrong value deep in a container',
        file: `${LINTS}/shapes.ts`,
        find: 'if (item !== null) check(item',
        replace: 'if (item === null) check(item',
      },
      {
        name: 'counts the days of the week to seven',
        from: 'other crons do, and the controller does not',
        file: `${LINTS}/schedules.ts`,
        find: "name: 'day of the week', min: 0, max: 6",
        replace: "name: 'day of the week', min: 0, max: 7",
      },
      {
        name: 'lets a Job restart its pods for ever',
        from: 'the kinds that end take two of the three policies',
        file: `${LINTS}/workload-values.ts`,
        find: "['OnFailure', 'Never']",
        replace: "['OnFailure', 'Never', 'Always']",
      },
      {
        name: 'asks a JobSet for what its controller writes',
        from: 'a finding where nothing is wrong',
        file: `${LINTS}/workload-values.ts`,
        find: 'if (!needsPolicy ||',
        replace: 'if (',
      },
      {
        name: 'judges names before they are filled in',
        from: 'a finding where nothing is wrong',
        file: `${LINTS}/values.ts`,
        find: "text === '' || isPlaceholder(text) ||",
        replace: "text === '' ||",
      },
      {
        name: 'takes a request that is less than its limit for more',
        from: 'a comparison the wrong way round',
        file: `${LINTS}/pod-values.ts`,
        find: 'amount > limit)',
        replace: 'amount < limit)',
      },
      {
        name: 'looks for a slip where a template was found',
        from: 'a set needs no template of its leader, and that of its workers is called nearly the same',
        file: `${LINTS}/fields.ts`,
        find: 'if (templates.length === 0 && own.length === 0) {',
        replace: 'if (own.length === 0) {',
      },
      {
        name: 'reads a queue among the annotations',
        from: 'one map is as good as the other',
        file: `${LINTS}/keys.ts`,
        find: 'right !== undefined && right !== place',
        replace: 'right !== undefined && right === undefined',
      },
    ],
  },
]
