import { QUEUE_NAME } from '../../kube/vocabulary/names.ts'
import type { Amounts } from '../../kube/vocabulary/objects.ts'
import { show } from '../../workload/requests.ts'

interface Keyed {
  readonly key: string
}

const SHOWN = 3

export const NO_QUEUE = `has no queue: set the label ${QUEUE_NAME} on its pods`

export const first = (queue: string): string => `first in queue ${queue}`

/** What was true when it came stays true: else every admission would rewrite the message of everybody behind. */
export function behind(first: string, queue: string, before: number): string {
  const were = before === 1 ? '1 workload was' : `${before} workloads were`
  return `waits in queue ${queue}: when it came, ${were} before it, first of all ${first}`
}

/** The first few by name: a message is for people, and the rest can be listed. */
export function heldBy(before: readonly Keyed[], now: readonly Keyed[]): readonly string[] {
  const total = before.length + now.length
  if (total === 0) return []
  const shown = [...before.slice(0, SHOWN), ...now].slice(0, SHOWN).map(({ key }) => key)
  const more = total - SHOWN
  return [`the queue is held by ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`]
}

export const unreadable = (problem: string): string => `its requests cannot be read: ${problem}`

/** What of it the queue could not hold if it were empty, in words; undefined if it could hold all. */
export function neverFits(queue: string, requests: Amounts, limits: Amounts): string | undefined {
  const beyond = [...limits].filter(([name, limit]) => (requests.get(name) ?? 0n) > limit)
  if (beyond.length === 0) return undefined
  const figures = beyond.map(([name, limit]) => `asks for ${show(requests.get(name) ?? 0n)} ${name} of ${show(limit)}`)
  return `queue ${queue} can never hold it: ${figures.join(', ')}; ask for less, or raise the limit; those behind it go on`
}

/** What keeps the request from fitting, in words; empty when it fits. */
export function shortfall(usage: Amounts, requests: Amounts, limits: Amounts): readonly string[] {
  const missing: string[] = []
  for (const [name, limit] of limits) {
    const wanted = requests.get(name) ?? 0n
    const used = usage.get(name) ?? 0n
    if (wanted === 0n || used + wanted <= limit) continue
    const [asks, free] = [show(wanted), show(limit > used ? limit - used : 0n)]
    missing.push(`asks for ${asks} ${name}, ${free} of ${show(limit)} free`)
  }
  return missing
}
