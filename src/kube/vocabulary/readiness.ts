/** One thing that must hold before the API server may send reviews here, or for this process to go on at all. */
export interface ReadinessCheck {
  readonly name: string
  readonly ok: boolean
  /** What is missing, or what to know although all is well. */
  readonly reason?: string
}
