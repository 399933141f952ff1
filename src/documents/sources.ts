import { closeSync, createReadStream, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { MAX_FILE_BYTES } from './limits.ts'
import type { Unreadable } from './place.ts'
import { manifestsIn, type WalkOptions } from './walk.ts'

export interface SourceText {
  readonly file: string
  readonly text: string
}

export interface SourceOptions extends WalkOptions {
  readonly stdin: AsyncIterable<Buffer | string>
  /** What standard input is called in reports. */
  readonly stdinName?: string
  /** Keeps what can be read only once, so that everything can be read a second time. */
  readonly kept?: Map<string, SourceText | Unreadable>
}

export const STDIN = '-'

/** The texts behind the given names, in their order; folders are read to the bottom, their files sorted by path. */
export async function* readSources(
  names: readonly string[],
  options: SourceOptions,
): AsyncGenerator<SourceText | Unreadable> {
  for (const name of names) {
    if (name === STDIN) yield await keeping(options, STDIN, () => readStream(options.stdin, options.stdinName ?? STDIN))
    else
      for (const file of filesOf(name, options)) yield typeof file === 'string' ? await readNamed(file, options) : file
  }
}

/** A pipe of the shell, as `<(helm template .)`, is read like a file, but nobody knows when it will end. */
async function readNamed(file: string, options: SourceOptions): Promise<SourceText | Unreadable> {
  const isPipe = statSync(file, { throwIfNoEntry: false })?.isFIFO() ?? false
  return isPipe ? await keeping(options, file, () => readStream(createReadStream(file), file)) : readFile(file)
}

async function keeping(
  { kept }: SourceOptions,
  name: string,
  read: () => Promise<SourceText | Unreadable> | SourceText | Unreadable,
): Promise<SourceText | Unreadable> {
  const known = kept?.get(name)
  if (known !== undefined) return known
  const fresh = await read()
  kept?.set(name, fresh)
  return fresh
}

function filesOf(name: string, options: WalkOptions): readonly (string | Unreadable)[] {
  try {
    if (!statSync(name).isDirectory()) return [name]
    const found = manifestsIn(name, options)
    return found.length > 0 ? found : [unreadable(name, 'the folder holds no .yaml, .yml or .json file')]
  } catch (error) {
    return [unreadable(name, explain(error))]
  }
}

/** Not for what only ends when somebody else is done with it, as a pipe. */
export function readFile(file: string): SourceText | Unreadable {
  let descriptor: number | undefined
  try {
    // What has no end is not read.
    const before = statSync(file)
    if (before.isCharacterDevice() || before.isBlockDevice()) return unreadable(file, 'is a device, not a file')
    if (before.isSocket()) return unreadable(file, 'is a socket, not a file')
    descriptor = openSync(file, 'r')
    const { size } = fstatSync(descriptor)
    if (size > MAX_FILE_BYTES) return tooLarge(file)
    const bytes = readBounded(descriptor, size)
    return bytes === undefined ? tooLarge(file) : decoded(file, bytes)
  } catch (error) {
    return unreadable(file, explain(error))
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

const FIRST_CHUNK = 64 * 1024

/** Undefined when there is more than a file may have. A file may grow while it is read. */
function readBounded(descriptor: number, size: number): Buffer | undefined {
  let buffer = Buffer.allocUnsafe(Math.max(size + 1, FIRST_CHUNK))
  let length = 0
  for (;;) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null)
    if (count === 0) return buffer.subarray(0, length)
    length += count
    if (length > MAX_FILE_BYTES) return undefined
    if (length < buffer.length) continue
    const larger = Buffer.allocUnsafe(Math.min(buffer.length * 2, MAX_FILE_BYTES + 1))
    buffer.copy(larger, 0, 0, length)
    release(buffer)
    buffer = larger
  }
}

async function readStream(stream: AsyncIterable<Buffer | string>, name: string): Promise<SourceText | Unreadable> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > MAX_FILE_BYTES) return tooLarge(name)
    chunks.push(bytes)
  }
  return decoded(name, Buffer.concat(chunks))
}

function decoded(file: string, bytes: Buffer): SourceText | Unreadable {
  try {
    return { file, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return unreadable(file, 'is not UTF-8 text')
  } finally {
    release(bytes)
  }
}

/** A large buffer would otherwise stay until the collector feels like it, beside the text that was made of it. */
function release({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength > Buffer.poolSize) buffer.transfer(0)
}

export const unreadable = (file: string, message: string): Unreadable => ({ file, line: 0, column: 0, message })

const tooLarge = (file: string): Unreadable =>
  unreadable(file, `is larger than ${MAX_FILE_BYTES / (1024 * 1024)} MiB: split it`)

const EXPLANATIONS: Readonly<Record<string, string | undefined>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'no permission to read it',
  ELOOP: 'the link leads in a circle',
}

function explain(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return `cannot be read: ${EXPLANATIONS[code ?? ''] ?? message}`
}
