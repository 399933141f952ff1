import type { Flag, Parsed } from './flags.ts'

/** Exit codes, the same for every command. */
export const EXIT = {
  ok: 0,
  /** Something was denied. */
  denied: 1,
  /** The input, the configuration or the command line could not be read. */
  unreadable: 2,
  /** An error of Muster's own. */
  internal: 3,
} as const

/** What was asked about is not there or may not be read. The message is for the terminal, without a stack. */
export class CannotLook extends Error {
  override readonly name = 'CannotLook'
}

export interface Command {
  readonly name: string
  readonly summary: string
  readonly usage: string
  readonly flags: readonly Flag[]
  /** Whether words that are no flags mean something: files, folders, what is asked about. */
  readonly names?: boolean
  readonly run: (flags: Parsed) => Promise<number>
}
