import type { Family } from '../families.ts'

const DECIDE = 'src/uninstall/decide.ts'
const PODS = 'src/uninstall/pods.ts'
const JOBS = 'src/uninstall/jobs.ts'
const GROUPS = 'src/uninstall/groups.ts'
const OWN = 'src/uninstall/own.ts'
const RUN = 'src/uninstall/run.ts'

/** What goes wrong when Muster leaves goes wrong with nobody left to put it right. */
export const UNINSTALL_FAMILIES: readonly Family[] = [
  {
    name: 'leaving',
    tests: ['test/unit/uninstall/decide.test.ts', 'test/unit/uninstall/run.test.ts'],
    bugs: [
      {
        name: 'removes before it frees',
        from: 'a CRD whose Workloads have finalizers hangs for ever',
        file: DECIDE,
        find: 'stages: [stop, free, last]',
        replace: 'stages: [stop, last, free]',
      },
      {
        name: 'takes every finalizer off a Workload',
        from: 'finalizers: null is the short way',
        file: DECIDE,
        find: 'filter(name => name !== finalizer)',
        replace: 'filter(name => name !== name)',
      },
      {
        name: 'deletes the Workloads of Kueue',
        from: 'they have the same kind',
        file: DECIDE,
        find: 'objects: objects.filter(isMade)',
        replace: 'objects: objects.filter(object => isMade(object) || true)',
      },
      {
        name: 'deletes a namespace with what others have in it',
        from: 'kubectl delete -k does',
        file: DECIDE,
        find: 'if (foreign.length === 0) return',
        replace: 'if (foreign.length >= 0) return',
      },
      {
        name: 'takes what is called like Muster for Muster’s',
        from: 'a prefix is no owner',
        file: OWN,
        find: "metadata.labels?.[PART_OF] === 'muster' && ",
        replace: '',
      },
      {
        name: 'starts what is to be kept',
        from: 'the gate is one more mark',
        file: PODS,
        find: "waiting ? choice === 'start' : true",
        replace: 'waiting || !waiting',
      },
      {
        name: 'deletes what runs',
        from: 'it has the label as well',
        file: PODS,
        find: "choice === 'delete' && waits(pod)",
        replace: "choice === 'delete'",
      },
      {
        name: 'lifts the gates of Kueue’s own pods',
        from: 'they have the same gate',
        file: PODS,
        find: 'return !kueueQueuesPods && (',
        replace: 'return (',
      },
      {
        name: 'leaves a link to a PodGroup of KAI that nobody makes',
        from: 'KAI waits for it for ever',
        file: PODS,
        find: '...(isAdrift(pod, kaiPodGroups) ? [KAI_POD_GROUP] : [])',
        replace: '...(isAdrift(pod, kaiPodGroups) ? [] : [])',
      },
      {
        name: 'starts a Job that its user holds',
        from: 'it is suspended and queued',
        file: JOBS,
        find: ' && !isHeld(job)',
        replace: '',
      },
      {
        name: 'forgets that a Job was to be deleted',
        from: 'marks off first, then the deletion: killed between the two',
        file: JOBS,
        find: "if (waiting && choice === 'delete') return undefined",
        replace: "if (waiting && choice === 'delete' && !waits(job)) return undefined",
      },
      {
        name: 'lets PodGroups go with their Workload',
        from: 'pods that name them would wait for ever',
        file: GROUPS,
        find: 'if (ownerReferences.length === 0) return isGoing(object) ? [] : [remove(resource, object)]\n      return [merged(resource, object, { ownerReferences }',
        replace:
          'if (ownerReferences.length >= 0) return isGoing(object) ? [] : [remove(resource, object)]\n      return [merged(resource, object, { ownerReferences }',
      },
      {
        name: 'makes no PodGroup for those who are still gated',
        from: 'it is made when a group is admitted',
        file: GROUPS,
        find: '...missing(remains), ',
        replace: '',
      },
      {
        name: 'changes a PodGroup of 1.36',
        from: 'the API server refuses it for ever',
        file: GROUPS,
        find: ' || resource !== POD_GROUPS.v1beta1',
        replace: '',
      },
      {
        name: 'makes a PodGroup for who is about to go',
        from: 'in a namespace that goes the API server refuses it, and nobody there is freed',
        file: GROUPS,
        find: 'isAlive(each) && !isGoing(each)',
        replace: 'isAlive(each)',
      },
      {
        name: 'writes for ever what somebody writes back',
        from: 'a write that was taken looks like progress',
        file: RUN,
        find: 'refused.length > 0 || isNew ? refused : done.map(undone)',
        replace: 'refused.length > 0 || isNew ? refused : []',
      },
      {
        name: 'gives up at the first refusal',
        from: 'API servers ask a webhook for a moment after it is gone',
        file: RUN,
        find: 'hands.clock.monotonic() - lastSuccess > PATIENCE_MS',
        replace: 'hands.clock.monotonic() - lastSuccess >= 0',
      },
    ],
  },
]
