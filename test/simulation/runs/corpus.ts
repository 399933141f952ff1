/**
 * Seeds that once broke a promise, and the bug that they found. A seed stays here for ever. What it does can change
 * with the simulator; that the bug itself stays dead is the business of its unit test and of `mutants.ts`.
 */
export const CORPUS: readonly { readonly seed: number; readonly bug: string }[] = [
  { seed: 153, bug: 'a conflict on a lift was taken for old news, and nobody tried again' },
  { seed: 10298, bug: 'a conflict on the last status of a Workload left the unit unfinished' },
  { seed: 11739, bug: 'a conflict on a finalizer left it on a pod that had ended' },
  { seed: 11897, bug: 'a conflict on an admission left the head of the queue waiting, and everybody behind it' },
  { seed: 20248, bug: 'a conflict right before a lull: a single pod had ended and was never finished' },
  { seed: 1121, bug: 'a deleted, succeeded member of a group without Workload stayed Terminating' },
  { seed: 10722, bug: 'the same, with a group of one role' },
  { seed: 560, bug: 'a Workload that was deactivated and deleted gave its quota back while its pods ran' },
  { seed: 46, bug: 'the same, deleted first' },
  {
    seed: 980,
    bug: 'after a conflict nobody read, and the head of a queue stood still for as long as its watch was silent',
  },
  {
    seed: 506,
    bug: 'a group that was submitted again under its old name lost its finalizers to its finished predecessor',
  },
  { seed: 179, bug: 'the same, with lost answers' },
  { seed: 395, bug: 'a pod that joined a group between two leaders was never told why it waits' },
  { seed: 155, bug: 'a succeeded member kept its group, and so its deleted namespace, for ever' },
  { seed: 70, bug: 'the webhook refused Muster to take its finalizer off a pod whose marks somebody had spoilt' },
]
