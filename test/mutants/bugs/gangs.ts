import type { Family } from '../families.ts'

const GANGS = 'src/coscheduling/kubernetes/gangs.ts'
const NEEDS = 'src/coscheduling/kubernetes/needs.ts'
const OBJECTS = 'src/coscheduling/kubernetes/objects.ts'
const TERMS = 'src/coscheduling/kubernetes/terms.ts'
const PLAN = 'src/workload/group-plan.ts'
const DROPPED = 'src/workload/builder/dropped.ts'

export const GANG_FAMILIES: readonly Family[] = [
  {
    name: 'what kube-scheduler is asked for',
    tests: [
      ...['co-scheduler', 'composite', 'driver', 'terms'].map(
        name => `test/unit/coscheduling/kubernetes/${name}.test.ts`,
      ),
      'test/unit/reconciler/grouped.test.ts',
    ],
    bugs: [
      {
        name: 'makes a gang of the groups of a driver and its workers',
        from: 'all or nothing is what groups are for, and the driver waits for workers that it would make',
        file: OBJECTS,
        find: 'policy: { basic: {} }, ...priority',
        replace: 'policy: { gang: { minCount: children.length } }, ...priority',
      },
      {
        name: 'leaves the workers out of the Workload',
        from: 'they are not there yet, and 1.36 then takes no PodGroup of theirs',
        file: OBJECTS,
        find: 'const isMissing = expected !== undefined',
        replace: 'const isMissing = gangs.length === 0 && expected !== undefined',
      },
      {
        name: 'puts workers of another priority under the group of their driver',
        from: 'the scheduler would look at none of them',
        file: TERMS,
        find: 'scheduler === first?.scheduler && priorityClass === first.priorityClass',
        replace: 'scheduler === first?.scheduler && priorityClass !== undefined',
      },
      {
        name: 'changes the PodGroup of somebody else until it fits',
        from: 'what has the right name is brought up to date, and waited for',
        file: NEEDS,
        find: "  if (!isOurs(podGroup, admission)) return { problem: taken(podGroup, 'PodGroup') }\n",
        replace:
          '  if (!isOurs(podGroup, admission)) {\n' +
          '    const fitting = withMinCount(podGroup, (minCountOf(podGroup) ?? 0) + 1)\n' +
          "    return { action: { kind: 'EnsureObject', resource, known: podGroup, wanted: fitting } }\n" +
          '  }\n',
      },
      {
        name: 'makes a PodGroup for the Workload of somebody else',
        from: 'what has the right name is taken for ours',
        file: NEEDS,
        find: "  if (!isOurs(workload, admission)) return [{ problem: taken(workload, 'Workload') }]\n",
        replace: '',
        // Whose it is not was made for no Workload of ours, either: the next question would stop it.
        and: {
          find: '  if (isLeaving(workload, admission)) return [',
          replace: '  if (isOurs(workload, admission) && isLeaving(workload, admission)) return [',
        },
      },
      {
        name: 'deletes the Workload of somebody else that stands in its way',
        from: 'the name is needed, and who needs it takes it',
        file: NEEDS,
        find: "  if (!isOurs(workload, admission)) return [{ problem: taken(workload, 'Workload') }]\n",
        replace:
          "  const inTheWay = { namespace: '', name: '', uid: '', ...workload.metadata }\n" +
          '  if (!isOurs(workload, admission)) {\n' +
          "    return [{ action: { kind: 'DeleteWorkload', resource, workload: inTheWay } }]\n" +
          '  }\n',
      },
      {
        name: 'takes the CompositePodGroup of somebody else',
        from: 'what has the right name is taken for ours',
        file: NEEDS,
        find: "if (!isOurs(composite, admission)) return { problem: taken(composite, 'CompositePodGroup') }",
        replace: 'if (!isOurs(composite, admission)) return undefined',
      },
      {
        name: 'lifts below the CompositePodGroup of an earlier group',
        from: 'only its Workload is looked at, and the garbage collector takes one after the other',
        file: NEEDS,
        find: "return isLeaving(composite, admission) ? { problem: leaving(composite, 'CompositePodGroup') } : undefined",
        replace: 'return undefined',
      },
      {
        name: 'places by a Workload that is being deleted',
        from: 'it is of this group, and still there',
        file: OBJECTS,
        find: 'object.metadata.deletionTimestamp != null || !isMadeFor(object, admission)',
        replace: '!isMadeFor(object, admission)',
      },
      {
        name: 'asks for a topology twice, above and below',
        from: 'the driver and the workers each have it, and so has what is above them',
        file: OBJECTS,
        find: 'isNearAlready ? undefined : gang.terms.topology',
        replace: 'gang.terms.topology',
      },
      {
        name: 'forgets the topology of a group',
        from: 'the annotation is checked, and nobody reads it',
        file: OBJECTS,
        find: 'key === undefined ? {} : { constraints: { topology: [{ key }] } }',
        replace: '{}',
      },
      {
        name: 'lifts a pod whose priority keeps all the others from their nodes',
        from: 'it has a place in its group, and nobody looks at the PodGroup',
        file: GANGS,
        find: 'misplaced.push(...odd)',
        replace: 'void odd',
      },
      {
        name: 'admits a group that the scheduler will never place',
        from: 'its pods agree in everything that a queue asks for',
        file: PLAN,
        find: ' ??\n    differenceInPlacing(members)',
        replace: '',
      },
      {
        name: 'says nothing of what the API server has dropped',
        from: 'the write has succeeded',
        file: DROPPED,
        find: 'asksFor(wanted, field, list) && !asksFor(stored, field, list)',
        replace: 'asksFor(wanted, field, list) && asksFor(stored, field, list)',
      },
    ],
  },
]
