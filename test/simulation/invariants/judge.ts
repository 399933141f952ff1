/** A promise that was broken, by its number in docs/simulation.md; `F3` and `F9` are what must hold under these faults. */
export interface Violation {
  readonly invariant: 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'F3' | 'F9'
  readonly message: string
  readonly at: number
}

/** Where the invariants report. Only the first violation counts: what follows it may be its consequence. */
export interface Judge {
  fail(invariant: Violation['invariant'], message: string): void
}
