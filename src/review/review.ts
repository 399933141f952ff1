import type { EnvelopeCheck } from '../admission/envelope.ts'
import type { UserInfo } from '../admission/review.ts'
import type { Configuration } from '../config/configuration.ts'
import type { Unreadable } from '../documents/place.ts'
import type { Roles } from '../webhooks/roles.ts'
import type { World } from '../webhooks/world.ts'
import { ClusterState } from './cluster-state.ts'
import { Inputs } from './inputs.ts'
import type { Baseline } from './lints/baseline.ts'
import { configurationFindings } from './lints/configurations.ts'
import { lint } from './lints/lint.ts'
import { type Suppressions, suppressionsIn } from './lints/suppression.ts'
import { Survey } from './lints/survey.ts'
import type { Entry } from './report.ts'
import { failedOutcome, resultOf } from './results.ts'
import { passStages, type Stage, type StagesOutcome } from './stages.ts'
import { type Subject, subjectsOf } from './subjects.ts'
import { jobSubjects, type TemplateSubject, templateSubjects } from './templates.ts'

export interface ReviewOptions {
  readonly config: Configuration
  /** Files, folders and `-`. */
  readonly inputs: readonly string[]
  readonly clusterState: readonly string[]
  readonly stage: Stage
  readonly namespace: string
  readonly user: UserInfo | undefined
  readonly stdin: AsyncIterable<Buffer | string>
  readonly stdinName?: string
  readonly ignore?: readonly string[]
  readonly skipUnknown?: boolean
  readonly baseline?: Baseline
  /** A memory of what pods of one role have in common, for those that come in numbers. */
  readonly roles?: Roles
  /** Called between documents, so that others get their turn. What it throws ends the review. */
  readonly pause?: () => Promise<void> | undefined
}

/** Reviews everything that the inputs hold, in their order. */
export async function* reviewFiles(options: ReviewOptions): AsyncGenerator<Entry> {
  const state = new ClusterState()
  const wrongState: Unreadable[] = []
  for await (const read of new Inputs(options.clusterState, options).documents()) {
    if ('message' in read) wrongState.push(read)
    else wrongState.push(...state.add(read))
  }
  // With half of the cluster missing, every answer could be wrong.
  if (wrongState.length > 0) for (const each of wrongState) yield unreadable(each)
  else yield* reviewInputs(options, { ...state.world(options.config), ...(options.roles && { roles: options.roles }) })
}

async function* reviewInputs(options: ReviewOptions, world: World): AsyncGenerator<Entry> {
  const inputs = new Inputs(options.inputs, options)
  const envelopeCheck = onDemand(async () => (await import('../admission/envelope.ts')).createEnvelopeCheck())
  const survey = await surveyOf(inputs, options, envelopeCheck)
  let documents = 0
  let index = 0
  for await (const read of inputs.documents()) {
    await options.pause?.()
    documents++
    if ('message' in read) {
      yield unreadable(read)
      continue
    }
    const suppressions = suppressionsIn(read)
    for (const subject of await subjectsOf(read, options, envelopeCheck)) {
      if ('message' in subject) yield unreadable(subject)
      else yield* reviewSubject(subject, index++, { options, world, survey, suppressions })
    }
  }
  if (documents > 0) return
  // A build that reviews nothing because a path changed must not be green.
  const message = 'nothing to review: there is no object in it'
  yield unreadable({ file: options.inputs.join(', '), line: 0, column: 0, message })
}

async function surveyOf(
  inputs: Inputs,
  options: ReviewOptions,
  envelopeCheck: () => Promise<EnvelopeCheck>,
): Promise<Survey> {
  const survey = new Survey(options.config, options.namespace)
  for await (const read of inputs.documents()) {
    await options.pause?.()
    if ('message' in read) continue
    for (const subject of await subjectsOf(read, options, envelopeCheck)) {
      if (!('message' in subject)) survey.add(subject, await configurationFindings(subject))
    }
  }
  survey.finish()
  return survey
}

interface Context {
  readonly options: ReviewOptions
  readonly world: World
  readonly survey: Survey
  /** Of the document that is being reviewed. */
  readonly suppressions: Suppressions
}

/** The object, and then the pods that would be made of it. */
function* reviewSubject(subject: Subject, index: number, context: Context): Generator<Entry> {
  const { options, world } = context
  const outcome = decide(subject, world, options.stage)
  yield* entriesOf(subject, outcome, index, context)
  if (subject.isReview) return
  // What a refused object would make has been judged with it.
  if (outcome.allowed) {
    for (const made of jobSubjects(subject, outcome.result, world)) {
      for (const entry of reviewMade(made, index, context)) if (isWrong(entry)) yield entry
    }
  }
  for (const made of templateSubjects(subject, outcome.result, world)) {
    for (const entry of reviewMade(made, index, context)) if (saysSomething(entry)) yield entry
  }
}

function reviewMade({ subject, world }: TemplateSubject, index: number, context: Context): Iterable<Entry> {
  const outcome = decide(subject, world, context.options.stage)
  return entriesOf(subject, outcome, index, { ...context, world })
}

/** That a Job will wait is said of what makes it, and what is wrong in its pod template is said of its pods. */
function isWrong(entry: Entry): boolean {
  if (entry.kind !== 'result') return true
  const { allowed, errors, findings } = entry.result
  const own = errors.filter(({ field }) => !field.startsWith('spec.template.'))
  return findings.length + entry.suppressed > 0 || (!allowed && (errors.length === 0 || own.length > 0))
}

/** The pods of most templates are let through as they are, and a report that says so of each would be twice as long. */
function saysSomething(entry: Entry): boolean {
  if (entry.kind !== 'result') return true
  const { allowed, patch, warnings, findings } = entry.result
  return !allowed || patch.length + warnings.length + findings.length + entry.suppressed > 0
}

type Decided = StagesOutcome & { readonly stack?: string }

function* entriesOf(
  subject: Subject,
  { stack, ...outcome }: Decided,
  index: number,
  { options, world, survey, suppressions }: Context,
): Generator<Entry> {
  if (stack !== undefined) yield { kind: 'failure', stack }
  const known = { reason: outcome.reason, surveyed: survey.find(subject, index), suppressions }
  const linted = attempted(() => lint(subject, known, world))
  if ('stack' in linted) {
    yield { kind: 'failure', stack: linted.stack }
    yield {
      kind: 'result',
      result: resultOf(subject, outcome, []),
      given: subject.request.object,
      suppressed: 0,
      forgiven: [],
    }
    return
  }
  const result = resultOf(subject, outcome, linted.findings)
  const forgiven = result.findings.filter(finding => options.baseline?.has(finding, result))
  const findings = result.findings.filter(finding => !forgiven.includes(finding))
  const suppressed = linted.suppressed + forgiven.length
  yield { kind: 'result', result: { ...result, findings }, given: subject.request.object, suppressed, forgiven }
}

function decide({ request }: Subject, world: World, stage: Stage): Decided {
  const outcome = attempted(() => passStages(request, world, stage))
  return 'stack' in outcome ? { ...failedOutcome(request, outcome.error), stack: outcome.stack } : outcome
}

/** A failure of Muster's own in one object is told, and holds up no other. */
function attempted<T extends object>(action: () => T): T | { readonly stack: string; readonly error: unknown } {
  try {
    return action()
  } catch (error) {
    return { stack: error instanceof Error ? (error.stack ?? error.message) : String(error), error }
  }
}

const unreadable = (each: Unreadable): Entry => ({ kind: 'unreadable', unreadable: each })

function onDemand(create: () => Promise<EnvelopeCheck>): () => Promise<EnvelopeCheck> {
  let created: Promise<EnvelopeCheck> | undefined
  return () => {
    created ??= create()
    return created
  }
}
