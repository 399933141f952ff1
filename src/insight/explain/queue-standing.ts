import type { QueueView } from '../../engines/builtin/fifo.ts'
import { type Entry, keyOf } from '../../engines/builtin/ledger.ts'
import type { QueuedWorkload } from '../../workload/queued-workload.ts'
import { holdsSince, waitsSince } from '../asks.ts'
import { limitQuantities, quantities } from '../text.ts'
import type { Neighbour, QueueStanding } from './explanation.ts'

/** As many neighbours as a person looks at. */
const SHOWN = 5

/** The place of a Workload in its queue. */
export function queueStanding(workload: QueuedWorkload, view: QueueView): QueueStanding {
  const key = keyOf(workload)
  const at = view.pending.findIndex(entry => entry.key === key)
  const wanted = new Set(view.limits.keys())
  const relevant = view.holding.filter(({ requests }) => [...requests.keys()].some(name => wanted.has(name)))
  return {
    name: workload.spec.queueName,
    limits: limitQuantities(view.limits),
    usage: quantities(view.usage),
    ...(at >= 0 && { before: at }),
    waiting: view.pending.length,
    first: view.pending.slice(0, Math.min(Math.max(at, 0), SHOWN)).map(entry => neighbour(entry, waitsSince)),
    holding: view.holding.length,
    holders: relevant.slice(0, SHOWN).map(entry => neighbour(entry, holdsSince)),
  }
}

function neighbour(
  { key, requests, workload }: Entry,
  since: (workload: QueuedWorkload) => string | undefined,
): Neighbour {
  const from = since(workload)
  return { workload: key, asks: quantities(requests), ...(from !== undefined && { since: from }) }
}
