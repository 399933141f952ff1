import { cpus } from 'node:os'
import { busyMicros, cpuMicros } from './processes.ts'

/** How much of the machine is taken by what nobody wants to measure. */
export class Bystanders {
  #seconds = 0
  #others = 0

  /** While the work goes on, whatever is not of these processes, and not of this one, is other people's. */
  async watch<T>(pids: readonly number[], work: () => Promise<T>): Promise<T> {
    const ours = () => [process.pid, ...pids].reduce((sum, pid) => sum + (cpuMicros(pid) || 0), 0)
    const [started, busy, own] = [performance.now(), busyMicros(), ours()]
    const result = await work()
    this.#seconds += (performance.now() - started) / 1000
    this.#others += (busyMicros() - busy - (ours() - own)) / 1e6
    return result
  }

  /** Of all cores, while something was watched. */
  get percent(): number {
    return (100 * this.#others) / (this.#seconds * cpus().length)
  }
}
