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
    // What is not ours was not made for our Workload, either: the next question would stop it.
    and: {
      find: '  if (isLeaving(group, admission)) return {}\n',
      replace: '  if (isOurs(group, admission) && isLeaving(group, admission)) return {}\n',
    },
    kai: true,
    seed: 88,
  },
  {
    name: 'deletes the PodGroup of KAI of somebody else that stands in its way',
    from: 'the name is needed, and who needs it takes it',
    file: KAI_GROUPS,
    find: '  if (!isOurs(group, admission)) {\n',
    replace:
      "  const inTheWay = { namespace: '', name: '', uid: '', ...group.metadata }\n" +
      "  const takesIt: Need = { action: { kind: 'DeleteWorkload', resource, workload: inTheWay } }\n" +
      '  if (!isOurs(group, admission)) {\n    if (resource === KAI_POD_GROUPS) return takesIt\n',
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
  {
    name: 'lets the pod-grouper of KAI have its way',
    from: 'the accounts of KAI may write what is KAI’s',
    file: 'src/webhooks/pod-groups/pod-groups.ts',
    find: 'podGroupMarkOf(before) === undefined || isExempt(request.userInfo, world)',
    replace: 'podGroupMarkOf(before) === undefined || isExempt(request.userInfo, world) || isOfKai(request)',
    and: {
      find: '  return guardVerdict(errors, [], request, world)\n}\n',
      replace:
        "  return isOfKai(request) ? allowed('NotOurs') : guardVerdict(errors, [], request, world)\n}\n" +
        "const isOfKai = ({ userInfo }: AdmissionRequest) => String(userInfo?.username).includes('kai-scheduler')\n",
    },
    kai: true,
  },
  {
    name: 'lets anybody lift the gate of a pod of KAI',
    from: 'KEP-3521 leaves it to others to say who may',
    file: 'src/webhooks/pod-groups/guard.ts',
    find: 'if (awaitsPodGroup(before) && !awaitsPodGroup(after) && !isDeleting(before)) {',
    replace: 'if (awaitsPodGroup(before) && awaitsPodGroup(after) && isDeleting(before)) {',
    kai: true,
  },
  {
    name: 'takes off a PodGroup of KAI what others have written there',
    from: 'labels and annotations are made as they are wanted, and nothing else stays',
    file: 'src/coscheduling/kai/difference.ts',
    find: '  return news.length === 0 ? undefined : Object.fromEntries(news)\n',
    replace:
      '  const gone = Object.keys(known ?? {}).filter(key => !Object.hasOwn(wanted, key)).map(key => [key, null])\n' +
      '  return news.length + gone.length === 0 ? undefined : Object.fromEntries([...news, ...gone])\n',
    kai: true,
  },
  {
    name: 'leaves a pod of KAI to itself whose group is missing',
    from: 'better alone than not at all',
    file: 'src/coscheduling/kai/decide.ts',
    find: '    return { ...NOTHING, pods: writes, held: [...held, ...waiting] }\n',
    replace: '    return { ...NOTHING, pods: [...writes, ...waiting.flatMap(({ pod }) => leave(pod))], held }\n',
    kai: true,
  },
  {
    name: 'forgets what a pod of KAI has to be told of its queue',
    from: 'found here: it has left the sight of the loop for KAI, which took it for gone',
    file: KAI_GROUPER,
    find: "events.forget(object.metadata.uid ?? '', 'Group')",
    replace: "events.forget(object.metadata.uid ?? '', 'Group', 'Queue')",
    kai: true,
    seed: 4278,
  },
]
