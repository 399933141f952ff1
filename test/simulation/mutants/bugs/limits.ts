import type { Mutant } from '../mutant.ts'

const HEARING = 'src/reconciler/hearing.ts'
const LEDGER = 'src/engines/builtin/ledger.ts'
const ENGINE = 'src/engines/builtin/fifo.ts'

/** Bugs that it takes limits that change to find. */
export const LIMITS_BUGS: readonly Mutant[] = [
  {
    name: 'hears of new limits and decides nothing',
    from: 'who waits goes on waiting until somebody else ends',
    file: HEARING,
    find: '    to.addAll()\n    to.addQueues()\n',
    replace: '',
    limits: true,
  },
  {
    name: 'leaves aside whom the old limits could never hold',
    from: 'what was found once is found for ever',
    file: LEDGER,
    find: 'for (const { workload } of [...this.#entries.values()]) this.update(workload)',
    replace: 'void this.#entries',
    limits: true,
  },
  {
    name: 'goes by the highest limits that there ever were',
    from: 'limits that fall are taken for a mistake',
    file: ENGINE,
    find: 'this.#limits = new Map(queues.map(queue => [queue.name, amounts(queue.limits)]))',
    replace:
      'this.#limits = this.#limits.size > 0 ? this.#limits : new Map(queues.map(queue => [queue.name, amounts(queue.limits)]))',
    limits: true,
  },
]
