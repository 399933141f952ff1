/**
 * A time as leader. It begins when what is known has been read again, since the predecessor's last writes may not have
 * come through the watches yet; what was decided in an earlier one is not done in a later one, since another has led
 * meanwhile.
 */
export class Tenure {
  readonly #isLeader: () => boolean
  /** The caches are no older than our leadership. */
  #current = false
  #turn = 0

  constructor(isLeader: () => boolean) {
    this.#isLeader = isLeader
  }

  /** The number by which `leads` knows it again. */
  get turn(): number {
    return this.#turn
  }

  get begun(): boolean {
    return this.#current
  }

  /** False: it has ended, or another has begun, while the caches were read. */
  async begin(refresh: () => Promise<void>): Promise<boolean> {
    this.#current = false
    const turn = ++this.#turn
    await refresh()
    if (turn !== this.#turn) return false
    this.#current = true
    return true
  }

  end(): void {
    this.#current = false
    this.#turn += 1
  }

  leads(turn: number): boolean {
    return this.#isLeader() && this.#current && turn === this.#turn
  }
}
