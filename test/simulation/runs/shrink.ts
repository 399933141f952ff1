import type { Violation } from '../invariants/judge.ts'
import type { Item, Schedule } from '../schedule/schedule.ts'

/** Tells whether a schedule still breaks the promise in question. */
export type StillFails = (schedule: Schedule) => Promise<boolean>

/**
 * The smallest schedule that it finds by leaving things out, larger parts first: what is left is what it takes. Every
 * try is a whole run, so the number of tries is bounded; a schedule that is not minimal still helps.
 */
export async function shrink(schedule: Schedule, stillFails: StillFails, tries = 300): Promise<Schedule> {
  let items = schedule.items
  let left = tries
  for (let size = Math.ceil(items.length / 2); size >= 1 && left > 0; ) {
    let removed = false
    for (let at = 0; at < items.length && left > 0; ) {
      const rest: readonly Item[] = [...items.slice(0, at), ...items.slice(at + size)]
      left--
      if (await stillFails({ ...schedule, items: rest })) {
        items = rest
        removed = true
      } else at += size
    }
    if (size > 1) size = Math.floor(size / 2)
    else if (!removed) break
  }
  return { ...schedule, items }
}

/** The same promise, though perhaps of another object: names and times change when the run does. */
export function sameKind(a: Violation | undefined, b: Violation | undefined): boolean {
  return a !== undefined && b !== undefined && a.invariant === b.invariant
}
