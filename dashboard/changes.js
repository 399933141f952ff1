/** @import { Overview } from '../src/insight/dashboard/overview.ts' */
/** @import { OverviewChange, Listed } from '../src/insight/dashboard/changes.ts' */

/** @type {Readonly<Record<Listed, readonly [string, (a: any, b: any) => number]>>} */
const LISTS = {
  queues: ['name', (a, b) => (a.name < b.name ? -1 : 1)],
  minutes: ['at', (a, b) => (a.at < b.at ? -1 : 1)],
  latest: ['id', (a, b) => (a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? 1 : -1)],
}

/**
 * What is there after a change, from what was there before it.
 * @param {Overview} overview
 * @param {OverviewChange} change
 * @returns {Overview}
 */
export function applied(overview, { set, put, gone }) {
  /** @type {any} */
  const next = { ...overview, ...set }
  for (const list of /** @type {Listed[]} */ (Object.keys(LISTS))) {
    if (put[list] === undefined && gone[list] === undefined) continue
    const [key, order] = LISTS[list]
    const rows = new Map(/** @type {any[]} */ (next[list]).map(row => [row[key], row]))
    for (const row of /** @type {any[]} */ (put[list] ?? [])) rows.set(row[key], row)
    for (const id of gone[list] ?? []) rows.delete(id)
    next[list] = [...rows.values()].sort(order)
  }
  return next
}
