import { opendirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Unreadable } from './place.ts'

export interface SourceText {
  readonly file: string
  readonly text: string
}

/** More than any manifest; less than what makes a parser run out of memory. */
const MAX_FILE_BYTES = 64 * 1024 * 1024
const STDIN = '-'
const MANIFEST = /\.(?:ya?ml|json)$/

/** The texts behind the given names, in their order; folders are read to the bottom, their files sorted by path. */
export async function* readSources(
  names: readonly string[],
  stdin: AsyncIterable<Buffer | string>,
): AsyncGenerator<SourceText | Unreadable> {
  for (const name of names) {
    if (name === STDIN) yield await readStdin(stdin)
    else for (const file of filesOf(name)) yield typeof file === 'string' ? readFile(file) : file
  }
}

function filesOf(name: string): readonly (string | Unreadable)[] {
  try {
    if (!statSync(name).isDirectory()) return [name]
    const files = manifestsIn(name)
    return files.length > 0 ? files.sort() : [unreadable(name, 'the folder holds no .yaml, .yml or .json file')]
  } catch (error) {
    return [unreadable(name, explain(error))]
  }
}

/** Links to folders are not followed, because they may lead in a circle; links to files are. */
function manifestsIn(folder: string): string[] {
  const files: string[] = []
  const waiting = [folder]
  for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
    const entries = opendirSync(current)
    for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
      const path = join(current, entry.name)
      if (entry.isDirectory()) waiting.push(path)
      else if (MANIFEST.test(entry.name) && !(entry.isSymbolicLink() && leadsToFolder(path))) files.push(path)
    }
    entries.closeSync()
  }
  return files
}

/** A link that leads nowhere is a file that cannot be read, and is reported as one. */
function leadsToFolder(link: string): boolean {
  return statSync(link, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function readFile(file: string): SourceText | Unreadable {
  try {
    const { size } = statSync(file)
    return size > MAX_FILE_BYTES ? tooLarge(file) : decoded(file, readFileSync(file))
  } catch (error) {
    return unreadable(file, explain(error))
  }
}

async function readStdin(stdin: AsyncIterable<Buffer | string>): Promise<SourceText | Unreadable> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > MAX_FILE_BYTES) return tooLarge(STDIN)
    chunks.push(bytes)
  }
  return decoded(STDIN, Buffer.concat(chunks))
}

function decoded(file: string, bytes: Buffer): SourceText | Unreadable {
  // A pipe or a device has no size to ask for beforehand.
  if (bytes.length > MAX_FILE_BYTES) return tooLarge(file)
  try {
    return { file, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return unreadable(file, 'is not UTF-8 text')
  }
}

const unreadable = (file: string, message: string): Unreadable => ({ file, line: 0, column: 0, message })

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
