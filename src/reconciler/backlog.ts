/**
 * What a new leader finds and has not looked at yet. Who asked first is known only when all who have asked since the
 * last leader have their Workloads: until then no queue is decided, or whoever happens to be looked at first would be
 * admitted before those who came earlier. One look is enough, whatever came of it: nobody is held up by another's fault.
 */
export class Backlog {
  readonly #units = new Set<string>()
  readonly #queues = new Set<string>()

  /** All that is there when the leadership begins. */
  begin(units: Iterable<string>): void {
    this.end()
    for (const unit of units) this.#units.add(unit)
  }

  end(): void {
    this.#units.clear()
    this.#queues.clear()
  }

  /** Whether the queue has to wait; if so, it is named again when it is time. */
  holdsUp(queue: string): boolean {
    if (this.#units.size === 0) return false
    this.#queues.add(queue)
    return true
  }

  /** Returns the queues to decide now. */
  looked(unit: string): readonly string[] {
    if (!this.#units.delete(unit) || this.#units.size > 0) return []
    const queues = [...this.#queues]
    this.#queues.clear()
    return queues
  }
}
