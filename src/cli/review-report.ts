import { formatUnreadable, type Unreadable } from '../documents/place.ts'
import { createFormatter, type FORMATS } from '../review/formats/all.ts'
import type { Formatter } from '../review/formats/formatter.ts'
import { type Entry, Tally } from '../review/report.ts'
import { fileOutput, type Output, OutputError, type outputsOf, standardOutput } from './outputs.ts'
import { version } from './version.ts'

interface Part {
  readonly formatter: Formatter
  readonly output: Output
  readonly isFile: boolean
}

/** Everything that is printed or written of one run. */
export class Report {
  readonly tally = new Tally()
  #parts: readonly Part[] = []
  readonly #lost: OutputError[] = []

  constructor(destinations: ReturnType<typeof outputsOf<(typeof FORMATS)[number]>>) {
    const colours = process.stdout.isTTY === true && !process.env.NO_COLOR
    const all = destinations.length === 0 ? [{ format: 'table' as const, file: undefined }] : destinations
    try {
      for (const { format, file } of all) {
        const formatter = createFormatter(format, { version: version(), colours: colours && file === undefined })
        const output = file === undefined ? standardOutput() : fileOutput(file)
        this.#parts = [...this.#parts, { formatter, output, isFile: file !== undefined }]
      }
    } catch (error) {
      this.abort()
      throw error
    }
  }

  async begin(): Promise<void> {
    await this.#each(({ formatter, output }) => output.write(formatter.begin()))
  }

  async add(entry: Entry): Promise<void> {
    tell(entry)
    this.tally.add(entry)
    await this.show(entry)
  }

  async show(entry: Entry): Promise<void> {
    await this.#each(({ formatter, output }) => output.write(formatter.entry(entry)))
  }

  async end(): Promise<void> {
    await this.#each(part => this.#finish(part))
    if (this.#lost.length > 0) throw this.#loss()
  }

  /** What is known is printed, and says that it is not all; a file is there only when it is complete. */
  async interrupt(why: Unreadable): Promise<void> {
    await this.add({ kind: 'unreadable', unreadable: why })
    await this.#each(async part => {
      if (part.isFile) part.output.abort()
      else await this.#finish(part)
    })
  }

  abort(): void {
    for (const { output } of this.#parts) output.abort()
    this.#parts = []
  }

  async #finish({ formatter, output }: Part): Promise<void> {
    for (const piece of formatter.end(this.tally.counts)) await output.write(piece)
    await output.close()
  }

  /** One that cannot be written does not take the others with it; when none is left, there is nothing to go on for. */
  async #each(action: (part: Part) => Promise<void>): Promise<void> {
    for (const part of this.#parts) {
      try {
        await action(part)
      } catch (error) {
        if (!(error instanceof OutputError)) throw error
        part.output.abort()
        this.#lost.push(error)
        this.#parts = this.#parts.filter(each => each !== part)
        if (this.#parts.length === 0) throw this.#loss()
      }
    }
  }

  #loss(): OutputError {
    return new OutputError(this.#lost.map(({ message }) => message).join('; '))
  }
}

/** On standard error, because what is printed may be for a program. */
export function tell(entry: Entry): void {
  if (entry.kind === 'unreadable') process.stderr.write(`${formatUnreadable(entry.unreadable)}\n`)
  else if (entry.kind === 'failure') {
    process.stderr.write(`muster review: a failure of Muster itself: ${entry.stack}\n`)
  }
}
