import type { Subject } from '../schedule/generate.ts'

interface Found extends Subject {
  readonly seed: number
  readonly bug: string
}

/**
 * Seeds that once broke a promise, and the bug that they found. A seed stays here for ever. What it does can change
 * with the simulator; that the bug itself stays dead is the business of its unit test and of `mutants/bugs`.
 */
export const CORPUS: readonly Found[] = [
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
  {
    seed: 566,
    jobs: true,
    bug: 'a Job that was deleted while its pods were being made gave its quota back under them',
  },
  { seed: 284, jobs: true, bug: 'the judge forgot what an orphaned Job had given back' },
  { seed: 132, jobs: true, bug: 'the judge wanted pods of a Job in a namespace that was going' },
  { seed: 641, jobs: true, bug: 'a new leader admitted whom it looked at first, before those who had come earlier' },
  { seed: 642, jobs: true, bug: 'what a Job had given back of one admission was missing from the next' },
  { seed: 773, jobs: true, bug: 'a group that lost its admission went on to say that it waits for replacements' },
  { seed: 90, jobs: true, bug: 'a Job took back what it had given, when a lost pod was replaced' },
  { seed: 138, jobs: true, bug: 'the order of a queue was broken here before Jobs and hostile pods ran together' },
  { seed: 70, bug: 'the webhook refused Muster to take its finalizer off a pod whose marks somebody had spoilt' },
  {
    seed: 196,
    gangs: true,
    bug: 'a group was lifted below the CompositePodGroup of an earlier one of its name, which the garbage collector took',
  },
  {
    seed: 132,
    jobs: true,
    gangs: true,
    bug: 'in a namespace that was going, and was kept by a pod, a Workload was tried again every minute',
  },
  {
    seed: 151,
    jobs: true,
    gangs: true,
    bug: 'for a Job that was gone, and whose watch was silent, Workload and PodGroup were made again and again',
  },
  {
    seed: 2032,
    jobs: true,
    bug: 'after a silent watch a pod was deleted as surplus whose place had been free for long',
  },
  {
    seed: 113,
    kai: true,
    bug: 'what the queue said of a pod kept back what the loop for KAI said of it in the same second',
  },
  {
    seed: 93,
    kai: true,
    bug: 'the loop for KAI decided on a pod as it was before the other loop of the same replica had written it',
  },
  {
    seed: 4278,
    kai: true,
    bug: 'a pod that was left to KAI was never told why it waits in its queue: the loop for KAI forgot that for both',
  },
  {
    seed: 50708,
    bug: 'whoever waited for the place of a pod that had succeeded was lifted in the decision that let that pod go',
  },
  {
    seed: 50258,
    engine: 'kueue',
    bug: 'a group whose pods were made anew kept what the old ones had given back, and Kueue charged it for too little',
  },
  {
    seed: 50723,
    engine: 'kueue',
    bug: 'pods that came under the names of a group that was gone were lifted into places that it had given back',
  },
  {
    seed: 52994,
    jobs: true,
    bug: 'a Job that was made smaller as it started gave back what its controller was about to make pods on',
  },
  {
    seed: 52630,
    sets: true,
    bug: 'a JobSet that its user suspended and resumed was started again beside pods that still terminated',
  },
  {
    seed: 50553,
    kai: true,
    bug: 'the loop for KAI wrote to a pod that the other loop had let go before any watch had shown it',
  },
  {
    seed: 51684,
    kai: true,
    bug: 'workers whose driver had ended and whose Workload was made anew were told for ever to take another name',
  },
  {
    seed: 80017,
    engine: 'kueue',
    bug: 'what a stranger behind the gate said of serving had the places of those who were done taken for lent',
  },
  {
    seed: 82844,
    jobs: true,
    bug: 'a deleted pod behind the gate that called itself a success kept all others of its group from being lifted',
  },
]
