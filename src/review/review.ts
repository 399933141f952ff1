import type { EnvelopeCheck } from '../admission/envelope.ts'
import type { UserInfo } from '../admission/review.ts'
import type { Configuration } from '../config/configuration.ts'
import { type ReadDocument, readDocuments } from '../documents/documents.ts'
import type { Unreadable } from '../documents/place.ts'
import { readSources } from '../documents/sources.ts'
import type { World } from '../webhooks/world.ts'
import { ClusterState } from './cluster-state.ts'
import { failedOutcome, type Report, type Reviewed, reviewedOf } from './report.ts'
import { passStages, type Stage, type StagesOutcome } from './stages.ts'
import { type Subject, subjectsOf } from './subjects.ts'

export interface ReviewOptions {
  readonly config: Configuration
  /** Files, folders and `-`. */
  readonly inputs: readonly string[]
  readonly clusterState: readonly string[]
  readonly stage: Stage
  readonly namespace: string
  readonly user: UserInfo | undefined
  readonly stdin: AsyncIterable<Buffer | string>
}

/** Reviews everything that the inputs hold, in their order. */
export async function reviewFiles(options: ReviewOptions): Promise<Report> {
  const state = new ClusterState()
  const wrongState: Unreadable[] = []
  for await (const read of documentsOf(options.clusterState, options.stdin)) {
    if ('message' in read) wrongState.push(read)
    else wrongState.push(...state.add(read))
  }
  // With half of the cluster missing, every answer could be wrong.
  if (wrongState.length > 0) return { reviewed: [], unreadable: wrongState, failures: [] }
  return await reviewInputs(options, state.world(options.config))
}

async function reviewInputs(options: ReviewOptions, world: World): Promise<Report> {
  const reviewed: Reviewed[] = []
  const unreadable: Unreadable[] = []
  const failures: string[] = []
  const envelopeCheck = onDemand(async () => (await import('../admission/envelope.ts')).createEnvelopeCheck())
  let documents = 0
  for await (const read of documentsOf(options.inputs, options.stdin)) {
    documents++
    if ('message' in read) {
      unreadable.push(read)
      continue
    }
    for (const subject of await subjectsOf(read, options, envelopeCheck)) {
      if ('message' in subject) unreadable.push(subject)
      else reviewed.push(reviewedOf(subject, decide(subject, world, options.stage, failures)))
    }
  }
  if (documents === 0) {
    // A build that reviews nothing because a path changed must not be green.
    const message = 'nothing to review: there is no object in it'
    unreadable.push({ file: options.inputs.join(', '), line: 0, column: 0, message })
  }
  return { reviewed, unreadable, failures }
}

function decide({ request }: Subject, world: World, stage: Stage, failures: string[]): StagesOutcome {
  try {
    return passStages(request, world, stage)
  } catch (error) {
    failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
    return failedOutcome(request, error)
  }
}

async function* documentsOf(
  names: readonly string[],
  stdin: ReviewOptions['stdin'],
): AsyncGenerator<ReadDocument | Unreadable> {
  for await (const source of readSources(names, stdin)) {
    if ('message' in source) yield source
    else yield* readDocuments(source.text, source.file)
  }
}

function onDemand(create: () => Promise<EnvelopeCheck>): () => Promise<EnvelopeCheck> {
  let created: Promise<EnvelopeCheck> | undefined
  return () => {
    created ??= create()
    return created
  }
}
