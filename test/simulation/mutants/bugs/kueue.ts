import type { Mutant } from '../mutant.ts'

const KUEUE = 'src/engines/kueue/kueue.ts'
const KUEUE_STATE = 'src/engines/kueue/state.ts'
const KUEUE_REQUEUE = 'src/engines/kueue/requeue.ts'

/** Bugs that it takes Kueue to find. */
export const KUEUE_BUGS: readonly Mutant[] = [
  {
    name: 'does not hear that Kueue takes an admission back',
    from: 'Admitted stays true for as long as somebody has to stop the pods',
    file: KUEUE_STATE,
    find: "if (isEvicted && isTrue(workload, 'QuotaReserved'))",
    replace: "if (isEvicted && isTrue(workload, 'Requeued'))",
    kueue: true,
  },
  {
    name: 'brings back whom Kueue holds off',
    from: 'a Workload in a backoff, or of a stopped queue, is admitted at once',
    file: KUEUE_REQUEUE,
    find: 'AT_ONCE.has(reason) &&',
    replace: "(AT_ONCE.has(reason) || reason !== 'Deactivated') &&",
    kueue: true,
  },
  {
    name: 'gives the quota back and keeps the admission',
    from: "half a protocol: Kueue's own webhook holds the next admission against the last one",
    file: KUEUE_REQUEUE,
    find: 'return { conditions, admission: null,',
    replace: 'return { conditions,',
    kueue: true,
  },
  {
    name: 'takes again what it has given back',
    from: 'a pod that has succeeded is gone, and its place looks free',
    file: KUEUE,
    find: 'return lent > 0 ? [[name, lent]] : []',
    replace: 'return lent < 0 ? [[name, lent]] : []',
    kueue: true,
    seed: 50723,
  },
]
