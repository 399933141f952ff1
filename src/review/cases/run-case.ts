import { join } from 'node:path'
import type { Configuration } from '../../config/configuration.ts'
import type { Unreadable } from '../../documents/place.ts'
import type { Entry, Result } from '../report.ts'
import { reviewFiles } from '../review.ts'
import { impersonated } from '../user.ts'
import { differences } from './compare.ts'
import { inputOf, type ReadCase } from './read-cases.ts'

/** What came of one case. */
export interface CaseOutcome {
  readonly results: readonly Result[]
  /** Empty: it is as it was expected. */
  readonly differences: readonly string[]
  readonly unreadable: readonly Unreadable[]
  readonly failures: readonly string[]
}

async function* nothing(): AsyncGenerator<Buffer> {}

/** Reviews the input of a case as `muster review` would. */
export async function runCase(read: ReadCase, config: Configuration): Promise<CaseOutcome> {
  const { clusterState = [], user, namespace = 'default', stage = 'all', expect } = read.case
  const entries: Entry[] = []
  const reviewed = reviewFiles({
    config,
    inputs: [inputOf(read)],
    clusterState: clusterState.map(file => join(read.folder, file)),
    stage,
    namespace,
    user: user === undefined ? undefined : impersonated(user.name, user.groups ?? []),
    stdin: nothing(),
  })
  for await (const entry of reviewed) entries.push(entry)
  const results = entries.flatMap(entry => (entry.kind === 'result' ? [entry.result] : []))
  const unreadable = entries.flatMap(entry => (entry.kind === 'unreadable' ? [entry.unreadable] : []))
  const failures = entries.flatMap(entry => (entry.kind === 'failure' ? [entry.stack] : []))
  return { results, unreadable, failures, differences: unreadable.length > 0 ? [] : differences(results, expect) }
}
