import type { Family } from '../families.ts'

const WORKLOADS = 'src/engines/kueue/workloads.ts'
const CACHE = 'src/reconciler/cache-contents.ts'

export const KUEUE_FAMILIES: readonly Family[] = [
  {
    name: 'what a Workload of Kueue follows',
    tests: ['test/unit/engines/kueue/admission.test.ts'],
    bugs: [
      {
        name: 'takes the priority back that an administrator has given',
        from: 'the class and what it is worth stand side by side, and are compared together',
        file: WORKLOADS,
        find: '!isDeepStrictEqual(classIn(terms), classIn(workload.spec))',
        replace: '!isDeepStrictEqual(terms, priorityOf(workload.spec))',
      },
      {
        name: 'takes the list of consents for a text',
        from: 'one that is given between two others is not handed on',
        file: WORKLOADS,
        find: 'left.length < known.length && left.every(gate => known.includes(gate))',
        replace: 'left.length < known.length && before.includes(gates)',
      },
    ],
  },
  {
    name: 'what is kept of the gates of a pod',
    tests: ['test/unit/reconciler/cache-contents.test.ts'],
    bugs: [
      {
        name: 'loses the gate of Kueue among many',
        from: 'a bound on what a tenant may write cuts off what others have to find',
        file: CACHE,
        find: '[...placing, ...others].slice',
        replace: '[...others, ...placing].slice',
      },
    ],
  },
]
