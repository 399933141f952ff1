import type { UserInfo } from '../admission/review.ts'
import { formatUnreadable, type Unreadable } from '../documents/place.ts'
import { FORMATS } from '../review/formats/all.ts'
import { type Baseline, BaselineDraft } from '../review/lints/baseline.ts'
import type { Entry, Tally } from '../review/report.ts'
import { reviewFiles } from '../review/review.ts'
import { STAGES } from '../review/stages.ts'
import { impersonated } from '../review/user.ts'
import { RecentRoles } from '../server/recent-roles.ts'
import { EXIT } from './command.ts'
import { configurationFile, readConfiguration } from './configuration.ts'
import { type Parsed, UsageError } from './flags.ts'
import { Interrupted, listenForSignals } from './interruption.ts'
import { fileOutput, OutputError, outputsOf } from './outputs.ts'
import { Report, tell } from './review-report.ts'

const FAIL_ON = ['deny', 'warn'] as const
const ONLY = ['all', 'denied'] as const

/** `muster review`: what the webhooks would say, without a cluster. */
export async function review(flags: Parsed): Promise<number> {
  const stage = oneOf(flags, 'stage', STAGES)
  const failOn = oneOf(flags, 'fail-on', FAIL_ON)
  const only = oneOf(flags, 'only', ONLY)
  const { inputs, clusterState } = sources(flags)
  const options = {
    inputs,
    clusterState,
    stage,
    namespace: flags.text('namespace') || 'default',
    user: userOf(flags),
    stdin: process.stdin,
    ignore: flags.texts('ignore'),
    skipUnknown: flags.given('skip-unknown'),
    roles: new RecentRoles(),
    ...nameOfStdin(flags),
  }
  const destinations = outputsOf(flags.texts('output'), FORMATS)
  const config = await readConfiguration(configurationFile(flags.text('config')))
  const baseline = await readBaseline(flags.text('baseline'))
  const report = new Report(destinations)
  const { pause, stop } = listenForSignals(error => {
    report.abort()
    process.stderr.write(`${formatUnreadable(interruption(inputs, error))}\n`)
    // Not by process.exit, which waits for a pipe that is being opened.
    process.kill(process.pid, error.signal)
  })
  const draft = new BaselineDraft()
  try {
    await report.begin()
    if (isUnreadable(config) || isUnreadable(baseline)) {
      for (const each of [config, baseline].filter(isUnreadable).flat())
        await report.add({ kind: 'unreadable', unreadable: each })
    } else {
      for await (const entry of reviewFiles({ ...options, config, pause, ...(baseline && { baseline }) })) {
        tell(entry)
        if (entry.kind === 'result' && flags.given('write-baseline')) {
          const { result, forgiven } = entry
          for (const finding of [...result.findings, ...forgiven]) draft.add(finding, result)
        }
        report.tally.add(entry)
        if (only === 'all' || fails(entry, failOn)) await report.show(entry)
      }
    }
    await report.end()
  } catch (error) {
    if (error instanceof Interrupted) {
      await report.interrupt(interruption(inputs, error))
      return error.exitCode
    }
    report.abort()
    throw error
  } finally {
    stop()
  }
  if (isBaseline(baseline) && baseline.stale > 0) {
    process.stderr.write(`muster review: ${baseline.stale} entries of the baseline match nothing any more\n`)
  }
  const next = draft.text(isBaseline(baseline) ? baseline : undefined)
  await writeBaseline(flags.text('write-baseline'), next, report.tally)
  return exitCode(report.tally, failOn)
}

const interruption = (inputs: readonly string[], { message }: Interrupted): Unreadable => ({
  file: inputs.join(', '),
  line: 0,
  column: 0,
  message,
})

type FailOn = (typeof FAIL_ON)[number]

function fails(entry: Entry, failOn: FailOn): boolean {
  if (entry.kind !== 'result') return true
  const { allowed, findings, warnings } = entry.result
  if (!allowed || findings.some(({ severity }) => severity === 'error')) return true
  return failOn === 'warn' && (findings.length > 0 || warnings.length > 0)
}

/** What went wrong most decides: without all of the input nobody can say that everything is admitted. */
function exitCode({ counts, failures }: Tally, failOn: FailOn): number {
  if (failures > 0) return EXIT.internal
  if (counts.unreadable > 0) return EXIT.unreadable
  return counts.denied + counts.errors + (failOn === 'warn' ? counts.warnings : 0) > 0 ? EXIT.denied : EXIT.ok
}

export function oneOf<T extends string>(flags: Parsed, name: string, choices: readonly T[]): T {
  const text = flags.text(name)
  const choice = choices.find(each => each === text)
  if (choice !== undefined) return choice
  throw new UsageError(`--${name}: "${text}" is none of ${choices.join(', ')}`)
}

function sources(flags: Parsed): { readonly inputs: readonly string[]; readonly clusterState: readonly string[] } {
  const inputs = [...flags.positionals, ...flags.texts('filename')]
  const clusterState = flags.texts('cluster-state')
  if (inputs.length === 0) {
    throw new UsageError('nothing to review: name a file or a folder, or "-" for standard input')
  }
  if ([...inputs, ...clusterState].filter(name => name === '-').length > 1) {
    throw new UsageError('"-" is there twice, but standard input can be read only once')
  }
  return { inputs, clusterState }
}

function nameOfStdin(flags: Parsed): { readonly stdinName?: string } {
  const name = flags.text('stdin-filename')
  return name === undefined ? {} : { stdinName: name }
}

function userOf(flags: Parsed): UserInfo | undefined {
  const groups = flags.texts('as-group')
  const name = flags.text('as') ?? ''
  if (name !== '') return impersonated(name, groups)
  if (groups.length > 0 || flags.given('as')) throw new UsageError('--as-group needs --as USER, and USER a name')
  return undefined
}

async function readBaseline(file: string | undefined): Promise<Baseline | readonly Unreadable[] | undefined> {
  if (file === undefined) return undefined
  return (await import('../review/lints/baseline-file.ts')).readBaselineFile(file)
}

const isUnreadable = (value: unknown): value is readonly Unreadable[] => Array.isArray(value)
const isBaseline = (value: Baseline | readonly Unreadable[] | undefined): value is Baseline =>
  value !== undefined && !isUnreadable(value)

async function writeBaseline(
  file: string | undefined,
  text: Iterable<string>,
  { counts, failures }: Tally,
): Promise<void> {
  if (file === undefined) return
  if (counts.unreadable + failures > 0) {
    // It would forget what is known of all that was not reviewed.
    process.stderr.write(`muster review: ${file} is not written, because not everything could be reviewed\n`)
    return
  }
  try {
    const output = fileOutput(file)
    for (const piece of text) await output.write(piece)
    await output.close()
  } catch (error) {
    if (error instanceof OutputError) throw new UsageError(`--write-baseline: ${error.message}`)
    throw error
  }
}
