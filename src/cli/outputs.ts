import { closeSync, lstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { inColour, type Paint, plain } from '../insight/text.ts'
import { UsageError } from './flags.ts'

/** Where a report goes, piece by piece. */
export interface Output {
  write(text: string): Promise<void>
  close(): Promise<void>
  /** Takes back what was begun and will not be finished. */
  abort(): void
}

/** Small pieces are written together: half a million of them one by one take longer than the reviews. */
const CHUNK = 64 * 1024

/** A report that could not be written: the disk is full, or the folder is not there. */
export class OutputError extends Error {
  override readonly name = 'OutputError'
}

/** Whoever reads only the beginning, as `head` does, is not an error: the rest is thrown away. */
export function standardOutput(): Output {
  let waiting = ''
  let isClosed = false
  const flush = async (): Promise<void> => {
    const text = waiting
    waiting = ''
    if (text === '' || isClosed) return
    const error = await written(text)
    if (error?.code === 'EPIPE') isClosed = true
    else if (error !== undefined) throw new OutputError(`standard output: ${explain(error)}`)
  }
  return {
    async write(text) {
      waiting += text
      if (waiting.length >= CHUNK) await flush()
    },
    close: flush,
    abort: () => undefined,
  }
}

function written(text: string): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise(resolve => {
    // A stream that is written to in vain also emits the error, which nobody else listens for.
    const settle = (error?: Error | null): void => resolve((error as NodeJS.ErrnoException | null) ?? undefined)
    process.stdout.once('error', settle)
    process.stdout.write(text, error => {
      if (!error) process.stdout.off('error', settle)
      settle(error)
    })
  })
}

/**
 * The file is there when it is complete, and not before. A device or a link, as /dev/stderr, is written through: to
 * rename a file to it would replace it.
 */
export function fileOutput(file: string): Output {
  const isFile = lstatSync(file, { throwIfNoEntry: false })?.isFile() ?? true
  const temporary = isFile ? `${file}.${process.pid}.tmp` : file
  const descriptor = attempt(file, () => openSync(temporary, 'w'))
  let waiting = ''
  let isOpen = true
  const close = (): void => {
    if (isOpen) closeSync(descriptor)
    isOpen = false
  }
  const flush = (): void => {
    attempt(file, () => writeFully(descriptor, Buffer.from(waiting)))
    waiting = ''
  }
  return {
    async write(text) {
      waiting += text
      if (waiting.length >= CHUNK) flush()
    },
    async close() {
      flush()
      close()
      if (isFile) attempt(file, () => renameSync(temporary, file))
    },
    abort() {
      close()
      if (isFile) rmSync(temporary, { force: true })
    },
  }
}

function writeFully(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
}

function attempt<T>(file: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw new OutputError(`${file}: ${explain(error as NodeJS.ErrnoException)}`)
  }
}

const EXPLANATIONS: Readonly<Record<string, string | undefined>> = {
  ENOSPC: 'no space is left on the disk',
  ENOENT: 'there is no such folder',
  EACCES: 'no permission to write it',
  EISDIR: 'it is a folder',
}

const explain = ({ code, message }: NodeJS.ErrnoException): string =>
  `cannot be written: ${EXPLANATIONS[code ?? ''] ?? message}`

/** Colours are for people who look at a terminal, and for those who have not switched them off. */
export const paintFor = (stream: { readonly isTTY?: boolean }): Paint =>
  stream.isTTY === true && !process.env.NO_COLOR ? inColour : plain

/** As Kubernetes writes times, without fractions. */
export const timestamp = (now: number): string => new Date(now).toISOString().replace(/\.\d+Z$/, 'Z')

/** Prints one text, for commands that have it whole. */
export async function print(text: string): Promise<void> {
  const output = standardOutput()
  await output.write(text)
  await output.close()
}

/** `-o FORMAT` and `-o FORMAT=FILE`, several at once. One of them may go to standard output. */
export function outputsOf<T extends string>(
  given: readonly string[],
  formats: readonly T[],
): readonly { readonly format: T; readonly file: string | undefined }[] {
  const outputs = given.map(text => {
    const equals = text.indexOf('=')
    const name = equals === -1 ? text : text.slice(0, equals)
    const format = formats.find(each => each === name)
    if (format === undefined) throw new UsageError(`--output: "${name}" is none of ${formats.join(', ')}`)
    const file = equals === -1 ? undefined : text.slice(equals + 1)
    if (file === '') throw new UsageError(`--output: ${name}= needs a file behind it`)
    return { format, file }
  })
  const files = outputs.flatMap(({ file }) => (file === undefined ? [] : [resolve(file)]))
  const twice = files.find((file, index) => files.indexOf(file) !== index)
  if (twice !== undefined) throw new UsageError(`--output: two reports cannot both be written to ${twice}`)
  const printed = outputs.filter(({ file }) => file === undefined)
  if (printed.length > 1) {
    const [first, second] = printed.map(({ format }) => format)
    throw new UsageError(`--output: ${first} and ${second} cannot both be printed: write one to a file, ${second}=FILE`)
  }
  return outputs
}
