import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import type { Unreadable } from '../../../src/documents/place.ts'
import type { Entry, Result } from '../../../src/review/report.ts'
import { type ReviewOptions, reviewFiles } from '../../../src/review/review.ts'

export const folder = mkdtempSync(join(tmpdir(), 'muster-review-'))
// Test files that share a process share the folder, too.
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

export const path = (name: string): string => join(folder, name)
export function file(name: string, content: unknown): string {
  writeFileSync(path(name), typeof content === 'string' ? content : JSON.stringify(content))
  return path(name)
}

async function* nothing(): AsyncGenerator<Buffer> {}
export const stdinOf = (text: string): AsyncIterable<string> => ({
  async *[Symbol.asyncIterator]() {
    yield text
  },
})

/** A whole report, as tests want it. */
export interface Report {
  readonly entries: readonly Entry[]
  readonly results: readonly Result[]
  readonly unreadable: readonly Unreadable[]
  readonly failures: readonly string[]
}

export async function collected(entries: AsyncIterable<Entry>): Promise<Report> {
  const all: Entry[] = []
  for await (const entry of entries) all.push(entry)
  return {
    entries: all,
    results: all.flatMap(entry => (entry.kind === 'result' ? [entry.result] : [])),
    unreadable: all.flatMap(entry => (entry.kind === 'unreadable' ? [entry.unreadable] : [])),
    failures: all.flatMap(entry => (entry.kind === 'failure' ? [entry.stack] : [])),
  }
}

export async function review(inputs: readonly string[], options: Partial<ReviewOptions> = {}): Promise<Report> {
  return await collected(
    reviewFiles({
      config: DEFAULT_CONFIGURATION,
      inputs,
      clusterState: [],
      stage: 'all',
      namespace: 'default',
      user: undefined,
      stdin: nothing(),
      ...options,
    }),
  )
}
export const results = ({ results: all }: Report): readonly Result[] => all

export const QUEUE = 'kueue.x-k8s.io/queue-name'
export const job = { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'job-1', controller: true }
export function pod(metadata: Record<string, unknown> = {}, spec: Record<string, unknown> = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', labels: { [QUEUE]: 'q' }, ...metadata },
    spec: { containers: [{ name: 'main', image: 'b' }], ...spec },
  }
}
