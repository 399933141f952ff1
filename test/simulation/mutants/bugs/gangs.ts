import type { Mutant } from '../mutant.ts'

const GROUPED = 'src/workload/grouped/objects.ts'
const PLACING = 'src/coscheduling/kubernetes/co-scheduler.ts'
const PERFORM = 'src/reconciler/perform.ts'
const PLACING_OBJECTS = 'src/coscheduling/kubernetes/objects.ts'
const PLACING_NEEDS = 'src/coscheduling/kubernetes/needs.ts'
const PLACING_KINDS = 'src/coscheduling/kubernetes/kinds.ts'

/** Bugs that it takes PodGroups to find. */
export const GANGS_BUGS: readonly Mutant[] = [
  {
    name: 'lifts before the PodGroup is there',
    from: 'the objects are asked for, and the gates fall in the same breath',
    file: PLACING,
    find: 'held: needs.length > 0 ? new Set(everybody) : wrong',
    replace: 'held: wrong',
    gangs: true,
  },
  {
    name: 'places a group by the PodGroup of somebody else',
    from: 'what has the right name is taken for ours',
    file: PLACING_NEEDS,
    find: "  if (!isOurs(podGroup, admission)) return { problem: taken(podGroup, 'PodGroup') }\n",
    replace: '',
    gangs: true,
    seed: 23,
  },
  {
    name: 'deletes the PodGroup of somebody else that stands in its way',
    from: 'the name is needed, and who needs it takes it',
    file: PLACING_NEEDS,
    find: "  if (!isOurs(podGroup, admission)) return { problem: taken(podGroup, 'PodGroup') }\n",
    replace:
      "  const inTheWay = { namespace: '', name: '', uid: '', ...podGroup.metadata }\n" +
      '  if (!isOurs(podGroup, admission)) {\n' +
      "    return { action: { kind: 'DeleteWorkload', resource, workload: inTheWay } }\n" +
      '  }\n',
    gangs: true,
    seed: 23,
  },
  {
    name: 'writes more on its PodGroup than how many it wants',
    from: 'the whole object is brought up to date with the number',
    file: PLACING_NEEDS,
    find: '  spec: { schedulingPolicy: { gang: { minCount } } },\n',
    replace: "  spec: { schedulingPolicy: { gang: { minCount } }, priorityClassName: 'high' },\n",
    gangs: true,
  },
  {
    name: 'makes the PodGroup before its Workload',
    from: 'both are wanted, so both are written at once',
    file: PLACING_NEEDS,
    find: "    return [{ action: { kind: 'EnsureObject', resource, wanted } }]",
    replace:
      '    const tree = { workload: wanted, root: undefined, gangs: found.gangs }\n' +
      '    const groups = active.flatMap(gang => needOf(admission, gang, tree, known, version) ?? [])\n' +
      "    return [...groups, { action: { kind: 'EnsureObject', resource, wanted } }]",
    gangs: true,
  },
  {
    name: 'lifts a driver before the group above its PodGroup is there',
    from: 'the PodGroup is there, and nobody looks further up',
    file: PLACING_NEEDS,
    find: '  if (above !== undefined) return [above]\n',
    replace: '',
    gangs: true,
  },
  {
    name: 'lifts a driver below the group of an earlier one of its name',
    from: 'found here: it has the right name, and the garbage collector has not taken it yet',
    file: PLACING_OBJECTS,
    find: 'object.metadata.deletionTimestamp != null || !isMadeFor(object, admission)',
    replace: 'object.metadata.deletionTimestamp != null',
    gangs: true,
    seed: 196,
  },
  {
    name: 'makes a PodGroup for the Workload of an earlier group of the name',
    from: 'it has the right name, and the garbage collector has not taken it yet',
    file: PLACING_NEEDS,
    find: "  if (isLeaving(workload, admission)) return [{ problem: leaving(workload, 'Workload') }]\n",
    replace: '',
    gangs: true,
    seed: 196,
  },
  {
    name: 'makes the objects of a Job that is gone, again and again',
    from: 'found here: its watch is silent, and the garbage collector takes each of them',
    file: PERFORM,
    find: '  if (known === undefined && madeFor !== undefined && !(await isThere(madeFor, api))) return GONE\n',
    replace: '',
    gangs: true,
    jobs: true,
    seed: 151,
  },
  {
    name: 'leaves a group without its PodGroup once it is lifted',
    from: 'who is lifted needs nothing more',
    file: PLACING,
    find: 'waiting.length + unplaced.length > 0',
    replace: 'waiting.length > 0',
    gangs: true,
    seed: 71,
  },
  {
    name: 'takes a PodGroup that is on its way out for gone',
    from: 'a cache that keeps no finalizers',
    file: PLACING_KINDS,
    find: '      ...(finalizers?.length && { finalizers: finalizers.slice(0, 1) }),\n',
    replace: '',
    gangs: true,
    seed: 25,
  },
  {
    name: 'makes a second Workload for a Job',
    from: 'the name depends on what is there already',
    file: GROUPED,
    find: 'const identity = { name: workloadName(source.name, source.uid),',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text.
    replace: "const identity = { name: workloadName(source.name, `${source.uid}${around.workloadUid ?? ''}`),",
    gangs: true,
    jobs: true,
  },
]
