import type { Family } from '../families.ts'

const SCOPE = 'src/webhooks/pods/scope.ts'
const OWNERS = 'src/webhooks/owners.ts'
const PLACEMENT = 'src/webhooks/pods/placement.ts'
const MUTATION = 'src/webhooks/pods/mutation.ts'
const CLAIMS = 'src/webhooks/pods/claims.ts'
const VALIDATION = 'src/webhooks/pods/validation.ts'
const GATES = 'src/webhooks/pods/admission-gates.ts'
const TOPOLOGY = 'src/webhooks/topology.ts'
const QUEUE_MARKS = 'src/webhooks/queue-marks.ts'
const PODS = 'src/webhooks/pods/pods.ts'

export const POD_QUEUE_FAMILIES: readonly Family[] = [
  {
    name: 'who is queued',
    tests: [
      'test/unit/webhooks/pods/mutation.test.ts',
      'test/unit/webhooks/pods/owners.test.ts',
      'test/unit/webhooks/pods/validation.test.ts',
    ],
    bugs: [
      {
        name: 'gates mirror pods',
        from: 'static pods of the kubelet: a control plane that does not come back',
        file: SCOPE,
        find: "if (isMirror(pod)) return ignored('MirrorPod')\n",
        replace: '',
      },
      {
        name: 'does not ask the pod selector',
        from: 'two selectors, and only one is looked at',
        file: SCOPE,
        find: 'if (!matchesSelector(integrations.podOptions.podSelector',
        replace: 'if (!integrations && !matchesSelector(integrations.podOptions.podSelector',
      },
      {
        name: 'lets pods into a namespace that nobody knows',
        from: 'no labels are taken for empty labels',
        file: 'src/webhooks/namespace.ts',
        find: "if (found === 'absent') {\n    const detail",
        replace: "if (found === 'absent') return true\n  if (!found) {\n    const detail",
      },
      {
        name: 'believes an owner by its name',
        from: 'the owner is a successor of the one that the reference means',
        file: OWNERS,
        find: 'if (uid !== reference.uid) return found\n',
        replace: '',
      },
      {
        name: 'stops at the first owner',
        from: 'a queue label is on the JobSet, not on its Jobs',
        file: OWNERS,
        find: 'reference = controllerOf(ownerReferences)',
        replace: 'reference = undefined',
      },
      {
        name: 'counts the queue of a framework that is off',
        from: 'nobody would gate the pods of such an owner',
        file: OWNERS,
        find: 'return holds.includes(framework) && config.integrations.frameworks.includes(framework)',
        replace: 'return holds !== config',
      },
      {
        name: 'excuses whoever names an owner',
        from: 'an owner reference can be written by hand',
        file: OWNERS,
        find: '!world.holds.some(isHolding) || !createsFor(reference, user, world.config)) return NONE',
        replace: '!world.holds.some(isHolding)) return NONE',
      },
      {
        name: 'lets the workers of a driver through',
        from: 'a driver is a pod, and owns its workers; they wait all the same',
        file: OWNERS,
        find: "const isHolding = (framework: string): boolean => framework !== 'pod'",
        replace: "const isHolding = (framework: string): boolean => framework !== ''",
      },
      {
        name: 'lets through a pod whose owner is not there',
        from: 'a look-up that finds nothing is taken for an owner without a queue',
        file: OWNERS,
        find: "if (owner === 'absent') return broken(object, ownerNotFound(reference, namespace))",
        replace: "if (owner === 'absent') return found",
        and: {
          find: 'return `cyclic ownership',
          replace: 'if (!owner) return ownerNotFound(owner, "")\n  return `cyclic ownership',
        },
      },
      {
        name: 'trusts the namespace in the object',
        from: 'it may be empty, and the API server fills it in later',
        file: 'src/webhooks/namespace.ts',
        find: "return namespace || own || 'default'",
        replace: "return own || namespace || 'default'",
      },
    ],
  },
  {
    name: 'what a queued pod gets',
    tests: [
      'test/unit/webhooks/pods/mutation.test.ts',
      'test/unit/webhooks/pods/placement.test.ts',
      'test/unit/webhooks/pods/validation.test.ts',
    ],
    bugs: [
      {
        name: 'puts its gate over those of others',
        from: 'add with a path of a list that is there replaces it',
        file: MUTATION,
        find: '/-`, value: item',
        replace: '`, value: [item]',
      },
      {
        name: 'keeps a false managed label',
        from: 'a label that is there is taken for one that is right',
        file: MUTATION,
        find: "if (!isMarkedManaged(pod)) labels[MANAGED] = 'true'",
        replace: "if (managedLabelOf(pod) === undefined) labels[MANAGED] = 'true'",
      },
      {
        name: 'corrects a false role hash',
        from: 'a claim on a pod that was never here is not an old stamp of ours',
        file: MUTATION,
        find: 'if (ours) return',
        replace: 'if (ours || preset) return',
      },
      {
        name: 'gates a pod that has a node',
        from: 'the API server refuses it then, and does not say why',
        file: MUTATION,
        find: 'if (pod.spec.nodeName) return cannotBeGated',
        replace: 'if (!pod.spec) return cannotBeGated',
      },
      {
        name: 'takes a pod for right whose labels are no strings',
        from: '`managed: true` without quotes',
        file: 'src/webhooks/shape.ts',
        find: "if (typeof map[key] !== 'string')",
        replace: "if (typeof map[key] === 'object')",
      },
      {
        name: 'lets a pod that is not ours come with our finalizer',
        from: 'the label was thought of: nobody could delete the pod',
        file: CLAIMS,
        find: 'if (hasOurFinalizer(pod)) errors',
        replace: 'if (hasOurFinalizer(pod) && isMarkedManaged(pod)) errors',
      },
      {
        name: 'stores a pod of ours without a gate',
        from: 'the backstop: a webhook after ours has removed it',
        file: CLAIMS,
        find: 'if (isGated(pod)) return []',
        replace: 'if (isGated(pod) || pod.metadata) return []',
      },
      {
        name: 'takes the marks of a lift from a manifest',
        from: 'Kueue trusts them, and the workload dies at its admission',
        file: CLAIMS,
        find: 'if (of(pod) !== undefined) errors.push',
        replace: "if (of(pod) === '') errors.push",
      },
      {
        name: 'gives all pods of a role one creator',
        from: 'the memory of patches was there before the stamp',
        file: MUTATION,
        find: '{creator} $',
        replace: '{role?.hash} $',
      },
      {
        name: 'gives all pods of a role one PodGroup',
        from: 'the memory of patches was there before PodGroups',
        file: MUTATION,
        find: '{podGroup} $',
        replace: '{creator} $',
      },
      {
        name: 'gives every member its PodGroup over that of its author',
        from: 'the question whether there is one was asked last',
        file: PLACEMENT,
        find: 'if (pod.spec.schedulingGroup != null) return undefined',
        replace: 'if (pod.spec.schedulingGroup === null) return undefined',
      },
      {
        name: 'lets a stranger fill a gang',
        from: 'a member of any group was taken for one of this',
        file: PLACEMENT,
        find: 'if (isMember && placedIn(pod, namespace) === name) return []',
        replace: 'if (isMember) return []',
      },
      {
        name: 'believes the stamp of another creator',
        from: 'a stamp that is there is taken for ours',
        file: CLAIMS,
        find: 'if (creator !== undefined && creator !== creatorStampOf(',
        replace: 'if (creator === undefined && creator !== creatorStampOf(',
      },
      {
        name: 'believes a role hash',
        from: 'a large pod is charged as a small one',
        file: CLAIMS,
        find: 'if (role !== computed &&',
        replace: "if (role === '' &&",
      },
    ],
  },
  {
    name: 'what a pod may say',
    tests: ['test/unit/webhooks/pods/validation.test.ts', 'test/unit/webhooks/pods/update.test.ts'],
    bugs: [
      {
        name: 'lets the template of a queued Job bring our label',
        from: 'with it a pod passes for one that is queued itself, and is taken from its Job while it runs',
        file: PODS,
        find: "const byKueue = world.config.engine === 'kueue' && hasHoldingController",
        replace: 'const byKueue = hasHoldingController',
      },
      {
        name: 'takes a time limit of zero',
        from: 'greater or equal',
        file: QUEUE_MARKS,
        find: 'return parsed.value > 0 ?',
        replace: 'return parsed.value >= 0 ?',
      },
      {
        name: 'takes any value of the managed label',
        from: 'managed: "false" reads as if it turned queueing off',
        file: VALIDATION,
        find: "if (value === undefined || value === 'true') return []",
        replace: "if (value === undefined || value !== '') return []",
      },
      {
        name: 'lets a group have the Workload of another',
        from: 'the prebuilt Workload of a group has its name',
        file: VALIDATION,
        find: '!prebuilt || prebuilt === group) return []',
        replace: '!prebuilt || prebuilt !== group) return []',
      },
      {
        name: 'lets gates of admission be added later',
        from: 'consent can be given once, and not demanded of a pod that runs',
        file: GATES,
        find: "if (old === '') errors.push",
        replace: "if (old === '') return []\n  if (old === '') errors.push",
      },
      {
        name: 'takes two gates of the same name',
        from: 'a list that is read as a set',
        file: GATES,
        find: 'if (seen.has(name))',
        replace: 'if (seen.has(value))',
      },
      {
        name: 'tells of an empty gate for each comma',
        from: 'a name that is no name was not remembered',
        file: GATES,
        find: "if (name !== '') errors.push(invalid(PATH, value, `duplicate",
        replace: "if (name === '') doubled.delete(name)\n      errors.push(invalid(PATH, value, `duplicate",
      },
      {
        name: 'takes 1e1 for a size',
        from: 'it is a whole number, to JavaScript',
        file: TOPOLOGY,
        find: "typeof value === 'number' ? int32Of(source) : value",
        replace: "typeof value === 'number' ? int32Of(String(value)) : value",
      },
      {
        name: 'takes two topologies at once',
        from: 'more than one, not one',
        file: TOPOLOGY,
        find: 'annotations[key] !== undefined).length > 1',
        replace: 'annotations[key] !== undefined).length > 2',
      },
      {
        name: 'takes slices that do not divide their parent',
        from: 'the division the wrong way round',
        file: TOPOLOGY,
        find: 'parent.size % size === 0',
        replace: 'size % parent.size === 0',
      },
    ],
  },
]
