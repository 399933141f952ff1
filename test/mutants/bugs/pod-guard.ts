import type { Family } from '../families.ts'

const EXEMPTION = 'src/webhooks/exemption.ts'
const GUARD = 'src/webhooks/pods/guard.ts'
const RESIZE = 'src/webhooks/pods/resize.ts'
const BINDING = 'src/webhooks/pods/binding.ts'
const UPDATE = 'src/webhooks/pods/update.ts'
const QUEUE_MARKS = 'src/webhooks/queue-marks.ts'
const QUEUES = 'src/webhooks/queues.ts'
const PODS = 'src/webhooks/pods/pods.ts'

export const POD_GUARD_FAMILIES: readonly Family[] = [
  {
    name: 'the guard',
    tests: ['test/unit/webhooks/pods/guard.test.ts'],
    bugs: [
      {
        name: 'exempts whoever has no name',
        from: 'an empty name is in no list, but the exempt groups are asked as well',
        file: EXEMPTION,
        find: "if (name === undefined || name === '') return undefined\n",
        replace: '',
        and: {
          find: "if (name === self) return { by: 'self', name }",
          replace: "if (!name || name === self) return { by: 'self', name: self }",
        },
      },
      {
        name: 'keeps quiet about who was exempt',
        from: 'the audit log is written for a refusal, and an exemption is none',
        file: EXEMPTION,
        find: "return allowed('Exempt', warnings, {",
        replace: "return allowed('Exempt', warnings) ?? allowed('Exempt', warnings, {",
      },
      {
        name: 'guards only what still has the managed label',
        from: 'the finalizer alone still means us',
        file: GUARD,
        find: 'isMarkedManaged(pod) || hasOurFinalizer(pod)',
        replace: 'isMarkedManaged(pod)',
      },
      {
        name: 'lets a pod join a queue after its creation',
        from: 'whoever has no mark of ours is none of ours, and nobody counts it',
        file: GUARD,
        find: "if (!isGated(before) || queueOf(before) !== '' || queueOf(after) === '') return []",
        replace: "if (!isGuarded(after) || queueOf(before) !== '' || queueOf(after) === '') return []",
      },
      {
        name: 'lets the finalizer go',
        from: 'who looks at the gate forgets what holds the quota',
        file: GUARD,
        find: 'if (hasOurFinalizer(before) && !hasOurFinalizer(after) && needsFinalizer(before))',
        replace: 'if (hasOurFinalizer(before) && !hasOurFinalizer(after) && isGated(before))',
      },
      {
        name: 'keeps the finalizer of a pod that nobody watches',
        from: 'the finalizer alone still means us, but nobody would ever take it off',
        file: GUARD,
        find: 'return isMarkedManaged(pod) || (isGated(pod) && !isDeleting(pod))',
        replace: 'return isGuarded(pod) || (isGated(pod) && !isDeleting(pod))',
      },
      {
        name: 'believes a finalizer that comes later',
        from: 'the label was thought of, and the finalizer has the same name',
        file: GUARD,
        find: 'if (!hasOurFinalizer(before) && hasOurFinalizer(after)) {',
        replace: 'if (hasOurFinalizer(before) && !hasOurFinalizer(after) && isGated(after) && !isGated(before)) {',
      },
      {
        name: 'lets the place in a group change after the lift',
        from: 'the other rules keep it while the pod runs, and not at its end',
        file: GUARD,
        find: '[...ADMITTED_MARKS, ...GROUP_MARKS]',
        replace: '[...ADMITTED_MARKS, ...GROUP_MARKS.slice(0, 0)]',
      },
      {
        name: 'lets the creator be another',
        from: 'it is not written at the lift, like the others',
        file: GUARD,
        find: '[...LIFT_MARKS, CREATOR_MARK]',
        replace: '[...LIFT_MARKS, CREATOR_MARK].slice(0, LIFT_MARKS.length)',
      },
      {
        name: 'lets a pod that runs change its queue',
        from: 'the queue is compared for pods that wait, where it may change, and not for the others',
        file: GUARD,
        find: 'if (isGated(before)) return written',
        replace: 'if (!isGated(before)) return written',
      },
      {
        name: 'lets a pod be resized behind its gate',
        from: 'the subresource came with Kubernetes 1.33, long after the gate',
        file: RESIZE,
        find: 'if (!isGuarded(before) && !isOfStartedJob(before, world)) return []',
        replace: 'if ((!isGuarded(before) && !isOfStartedJob(before, world)) || isGated(before)) return []',
      },
      {
        name: 'lets a pod grow once it is admitted',
        from: 'what runs has been counted, somebody thought',
        file: RESIZE,
        find: 'if (grown === undefined) return []',
        replace: 'if (grown === undefined || before.spec) return []',
      },
      {
        name: 'believes a managed label that comes later',
        from: 'E10: a pod that runs is declared queued, and nobody has counted it',
        file: GUARD,
        find: 'if (!isMarkedManaged(before) && isMarkedManaged(after)) errors',
        replace: 'if (!isMarkedManaged(before) && isMarkedManaged(after) && isGated(before)) errors',
      },
      {
        name: 'does not look at what comes with the status',
        from: 'metadata can be changed through pods/status',
        file: PODS,
        find: 'return metadataChanged(before, after) ?',
        replace: 'return !before.metadata ?',
      },
    ],
  },
  {
    name: 'bindings',
    tests: ['test/unit/webhooks/pods/binding.test.ts'],
    bugs: [
      {
        name: 'reads only the annotations of a Binding',
        from: 'the API server takes its labels since 1.33, and writes them over those of the pod',
        file: BINDING,
        find: '[...guardedKeys(labels, labelPath), ...guardedKeys(',
        replace: '[...guardedKeys(',
        and: { find: 'const { labels, annotations }', replace: 'const { annotations }' },
      },
      {
        name: 'forgets the older way to bind',
        from: 'nobody has used it for years',
        file: BINDING,
        find: '{ of: BINDINGS, operations:',
        replace: '{ of: { ...BINDINGS, resource: "podbindings" }, operations:',
      },
    ],
  },
  {
    name: 'owners of queues',
    tests: ['test/unit/webhooks/pods/queues.test.ts'],
    bugs: [
      {
        name: 'asks at the creation only',
        from: 'a pod that waits may change its queue',
        file: PODS,
        find: 'const moves = isMarkedManaged(before) && queueOf(before) !== queueOf(after)',
        replace: 'const moves = isMarkedManaged(before) && queueOf(before) === after.kind',
      },
      {
        name: 'takes a queue without owners for a queue of nobody',
        from: 'no selector matches nothing',
        file: QUEUES,
        find: 'if (listed !== undefined && listed.namespaces === undefined) return []\n',
        replace: '',
        and: { find: 'namespaces === undefined || matchesSelector(', replace: 'matchesSelector(' },
      },
      {
        name: 'opens a listed queue because unlisted ones are open',
        from: 'admit is read as: admit all',
        file: QUEUES,
        find: "if (listed === undefined && unlistedQueues === 'admit') return []",
        replace: "if (unlistedQueues === 'admit') return []",
      },
    ],
  },
  {
    name: 'updates',
    tests: ['test/unit/webhooks/pods/update.test.ts'],
    bugs: [
      {
        name: 'asks the pod before the update whether it is suspended',
        from: 'Kueue asks the new one for the queue, and both for the time limit',
        file: QUEUE_MARKS,
        find: 'const errors: FieldError[] = lull.after ? []',
        replace: 'const errors: FieldError[] = lull.before ? []',
      },
      {
        name: 'lets the time limit change at the lift',
        from: 'one of the two is enough to look at, somebody thought',
        file: QUEUE_MARKS,
        find: 'if (lull.before && lull.after) return []',
        replace: 'if (lull.before || lull.after) return []',
      },
      {
        name: 'takes a namespace that is gone for one without labels',
        from: 'the default selector excludes namespaces by the label with their name',
        file: 'src/webhooks/namespace.ts',
        find: "found === 'absent' ? { [NAMESPACE_NAME_LABEL]: namespace } : found.labels",
        replace: "found === 'absent' ? {} : found.labels",
      },
      {
        name: 'keeps a pod that is being deleted from leaving',
        from: 'what was wrong before blocks the removal of a finalizer for ever',
        file: UPDATE,
        find: 'if (isDeleting(before)) return []\n',
        replace: '',
      },
      {
        name: 'lets a pod leave its group',
        from: 'a name that is gone is not compared',
        file: UPDATE,
        find: "immutable(groupNamePath(after), was, groupNameOf(after) ?? '')",
        replace: 'immutable(groupNamePath(after), was, groupNameOf(after) ?? was)',
      },
      {
        name: 'lets a member change the size of its group',
        from: 'Kueue lets it, and the others wait for ever',
        file: UPDATE,
        find: 'return was === undefined || gone ? []',
        replace: 'return was !== undefined || gone ? []',
      },
      {
        name: 'lets a role be stamped anew after the lift',
        from: 'the true hash is right only while the pod waits: the lift changes the spec',
        file: UPDATE,
        find: 'if (is === computed && isGated(after)) return []',
        replace: 'if (is === computed) return []',
      },
    ],
  },
]
