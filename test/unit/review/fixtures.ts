import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import type { Report, Result } from '../../../src/review/report.ts'
import { type ReviewOptions, reviewFiles } from '../../../src/review/review.ts'

export const folder = mkdtempSync(join(tmpdir(), 'muster-review-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

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

export async function review(inputs: readonly string[], options: Partial<ReviewOptions> = {}): Promise<Report> {
  return await reviewFiles({
    config: DEFAULT_CONFIGURATION,
    inputs,
    clusterState: [],
    stage: 'all',
    namespace: 'default',
    user: undefined,
    stdin: nothing(),
    ...options,
  })
}
export const results = ({ reviewed }: Report): readonly Result[] => reviewed.map(({ result }) => result)

export const QUEUE = 'kueue.x-k8s.io/queue-name'
export const job = { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'job-1', controller: true }
export function pod(metadata: Record<string, unknown> = {}, spec: Record<string, unknown> = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', labels: { [QUEUE]: 'q' }, ...metadata },
    spec: { containers: [{ name: 'main' }], ...spec },
  }
}
