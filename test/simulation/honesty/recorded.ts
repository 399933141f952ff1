import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Chapter } from './play.ts'
import { fromText, type Transcript, toText } from './transcript.ts'

/** What a real API server answered when it was last asked, so that the model can be held to it where there is none. */
export async function readRecorded({ name }: Chapter): Promise<Transcript> {
  return fromText(await readFile(fileOf(name), 'utf8'))
}

export async function record({ name }: Chapter, transcript: Transcript): Promise<void> {
  await writeFile(fileOf(name), toText(transcript))
}

function fileOf(name: string): string {
  return join(import.meta.dirname, 'answers', `${name}.yaml`)
}
