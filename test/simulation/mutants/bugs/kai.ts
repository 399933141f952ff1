import type { Mutant } from '../mutant.ts'

const KAI_GROUPS = 'src/coscheduling/kai/co-scheduler.ts'
const KAI_GROUPER = 'src/coscheduling/kai/grouper.ts'
const KAI_WRITES = 'src/coscheduling/kai/perform.ts'

/** Bugs that it takes KAI to find. */
export const KAI_BUGS: readonly Mutant[] = [
  {
    name: 'links pods before their PodGroup of KAI is there',
    from: 'both are wanted, so both are written at once',
    file: KAI_GROUPER,
    find: "    const written = await this.#performAll(decision.ground, turn, unit)\n    if (written === 'retry') return 'retry'\n",
    replace: '    this.#performAll(decision.ground, turn, unit).catch(() => {})\n',
    kai: true,
    seed: 7,
  },
  {
    name: 'lifts the gate of a pod of KAI without its link',
    from: 'the link is set by somebody else, sooner or later',
    file: KAI_WRITES,
    find: 'annotations: { [KAI_POD_GROUP]: action.podGroup }',
    replace: 'annotations: {}',
    kai: true,
    seed: 2,
  },
  {
    name: 'links pods to the PodGroup of KAI that has the name, whoever made it',
    from: 'what has the right name is taken for ours',
    file: 'src/coscheduling/kai/resolve.ts',
    find: '  if (conflict !== undefined) return held(conflict)\n',
    replace: '',
    kai: true,
    seed: 9,
  },
  {
    name: 'moves a group of KAI back to the queue that it was made in',
    from: 'all fields of a spec are brought up to date',
    file: 'src/coscheduling/kai/difference.ts',
    find: 'if (isEmpty(known.queue) && !isEmpty(wanted.queue))',
    replace: 'if (!isSame(known.queue, wanted.queue))',
    kai: true,
    seed: 6,
  },
  {
    name: 'does not hear of the PodGroup that pods of KAI wait for',
    from: 'what is held is looked at again by a timer',
    file: KAI_GROUPER,
    find: '    for (const informer of podGroups) {\n',
    replace: '    for (const informer of podGroups.slice(2)) {\n',
    kai: true,
    seed: 85,
  },
  {
    name: 'leaves pods without the PodGroup of KAI that somebody deleted',
    from: 'who is linked needs nothing more',
    file: KAI_GROUPER,
    find: "for (const pod of pods.byIndex('name', object.metadata.name ?? '')) this.#queue.add(unitKeyOf(pod))",
    replace: 'void object',
    kai: true,
    seed: 72,
  },
  {
    name: 'forgets its own links to PodGroups of KAI',
    from: 'forget the expectation: what a write returned is not put into the cache',
    file: KAI_GROUPER,
    find: 'this.#caches.pods.offer(object as Pod)',
    replace: 'void object',
    kai: true,
    seed: 44,
  },
  {
    name: 'lifts a group before its PodGroup of KAI is there',
    from: 'the object is asked for, and the gates fall in the same breath',
    file: KAI_GROUPS,
    find: 'held: new Set(needs.length > 0 ? waiting : []),',
    replace: 'held: new Set(),',
    kai: true,
    seed: 2,
  },
  {
    name: 'places a group by the PodGroup of KAI of somebody else',
    from: 'what has the right name is taken for ours',
    file: KAI_GROUPS,
    find: '  if (!isOurs(group, admission)) {\n',
    replace: '  if (group.metadata.uid === undefined) {\n',
    kai: true,
    seed: 88,
  },
  {
    name: 'links a pod of KAI that was left to it meanwhile',
    from: 'found here: a link that arrives a second time, when its author has opted out',
    file: KAI_WRITES,
    find: 'metadata: { uid, resourceVersion, ...marksOf(action) }',
    replace: 'metadata: { uid, ...marksOf(action) }',
    kai: true,
    seed: 247,
  },
]
