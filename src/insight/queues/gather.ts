import type { QueuedWorkload } from '../../workload/queued-workload.ts'
import type { Installation } from '../installation.ts'
import type { Sight } from '../sight.ts'

/** All Workloads, or those of one namespace where the caller may read no more. */
export async function gatherWorkloads(
  sight: Sight,
  { engine }: Installation,
  namespace: string,
): Promise<readonly QueuedWorkload[]> {
  const prepare = (workload: QueuedWorkload): QueuedWorkload => engine.forCache(workload)
  const all = await sight.list<QueuedWorkload>(engine.workloads, {}, prepare)
  if (sight.isUnserved(engine.workloads)) {
    const { plural, group } = engine.workloads
    sight.note(
      `Workloads: the API server serves no ${plural}.${group}, so nothing is admitted (muster doctor says more)`,
    )
  }
  if (all !== 'denied') return all
  const own = await sight.list<QueuedWorkload>(engine.workloads, { namespace }, prepare)
  return own === 'denied' ? [] : own
}
