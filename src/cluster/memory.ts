import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void

/** Below this there is nothing worth a pause. */
const WORTH_BYTES = 96 * 1024 * 1024

/**
 * Reading ten thousand pods leaves several times as much garbage as the cache keeps, and V8 would hold on to the room.
 * Only this kind of collection gives it back; it takes about a tenth of a second, so it is for the moments after
 * everything has been read, and not for any other.
 */
export function giveBackMemory(): void {
  if (getHeapStatistics().total_heap_size < WORTH_BYTES) return
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as Collect
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
