import { explain as explainFacts } from '../insight/explain/explain.ts'
import { SUBJECT_KINDS, type Subject, type SubjectKind } from '../insight/explain/explanation.ts'
import { SubjectError } from '../insight/explain/find.ts'
import { gather } from '../insight/explain/gather.ts'
import { renderExplanation } from '../insight/explain/render.ts'
import { readInstallation } from '../insight/installation.ts'
import { Sight } from '../insight/sight.ts'
import { widthFor } from '../insight/text.ts'
import { systemClock } from '../kube/vocabulary/clock.ts'
import { nearest } from '../kube/vocabulary/nearest.ts'
import { oneLine } from '../review/formats/formatter.ts'
import { asking, givenConfiguration, openCallersCluster } from './callers-cluster.ts'
import { CannotLook, EXIT } from './command.ts'
import { type Parsed, UsageError } from './flags.ts'
import { paintFor, print, timestamp } from './outputs.ts'
import { oneOf } from './review.ts'

const FORMATS = ['text', 'json'] as const

/** `muster explain`: why something waits, since when, and what would change that. */
export async function explain(flags: Parsed): Promise<number> {
  const format = oneOf(flags, 'output', FORMATS)
  const [kind, name] = subjectIn(flags.positionals)
  const config = await givenConfiguration(flags)
  const cluster = await openCallersCluster(flags)
  const subject: Subject = { kind, namespace: cluster.namespace, name }
  const now = systemClock.now()
  const explanation = await asking(cluster, async () => {
    const sight = new Sight(cluster.api, systemClock)
    const installation = await readInstallation(sight, config)
    const facts = await gather(sight, installation, subject, timestamp(now)).catch(notThere)
    return explainFacts(facts, timestamp(now))
  })
  await print(
    format === 'json'
      ? `${JSON.stringify(explanation, null, 2)}\n`
      : renderExplanation(explanation, now, paintFor(process.stdout), widthFor(process.stdout.columns)),
  )
  return EXIT.ok
}

function notThere(error: unknown): never {
  throw error instanceof SubjectError ? new CannotLook(error.message) : error
}

/** As `kubectl get -o name` prints it, the kind has its group: `job.batch/train`. A Workload of others is none of ours. */
const GROUPS: ReadonlyMap<SubjectKind, readonly string[]> = new Map([
  ['job', ['batch']],
  ['jobset', ['jobset.x-k8s.io']],
  ['workload', ['muster.dev', 'kueue.x-k8s.io']],
])

function kindIn(word: string): SubjectKind | undefined {
  const [stem = '', ...rest] = word.split('.')
  const kind = SUBJECT_KINDS.find(each => each === stem) ?? ALIASES.get(stem)
  if (kind === undefined || rest.length === 0) return kind
  const group = rest.join('.').replace(/^v\d\w*\./, '')
  return GROUPS.get(kind)?.includes(group) ? kind : undefined
}

/** Kinds as kubectl knows them: plural, and short. */
const ALIASES: ReadonlyMap<string, SubjectKind> = new Map(
  Object.entries({
    pods: 'pod',
    po: 'pod',
    jobs: 'job',
    jobsets: 'jobset',
    groups: 'group',
    workloads: 'workload',
    wl: 'workload',
  }),
)

/** `pod NAME` or `pod/NAME`. */
function subjectIn(positionals: readonly string[]): readonly [SubjectKind, string] {
  const [first = '', ...rest] = positionals
  const [word = '', ...names] = first.includes('/') ? [...first.split('/'), ...rest] : [first, ...rest]
  const lower = word.toLowerCase()
  const kind = kindIn(lower)
  const known = SUBJECT_KINDS.join(', ')
  if (word === '') throw new UsageError(`name what to explain: one of ${known}, and its name`)
  if (kind === undefined) {
    const close = nearest(lower, SUBJECT_KINDS)
    throw new UsageError(
      `"${oneLine(word)}" is none of ${known}${close === undefined ? '' : ` (did you mean ${close}?)`}`,
    )
  }
  const [name] = names
  if (name === undefined || name === '' || names.length > 1) {
    throw new UsageError(`one name is needed after ${kind}, and there are ${names.length}`)
  }
  return [kind, name]
}
