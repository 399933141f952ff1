import type { UserInfo } from '../admission/review.ts'
import { type Configuration, DEFAULT_CONFIGURATION } from '../config/configuration.ts'
import { formatUnreadable, type Unreadable } from '../documents/place.ts'
import { FORMATS, formatReport } from '../review/format.ts'
import type { Report } from '../review/report.ts'
import { reviewFiles } from '../review/review.ts'
import { STAGES } from '../review/stages.ts'
import { impersonated } from '../review/user.ts'
import { EXIT } from './command.ts'
import { type Parsed, UsageError } from './flags.ts'

/** `muster review`: what the webhooks would say, without a cluster. */
export async function review(flags: Parsed): Promise<number> {
  const stage = oneOf(flags, 'stage', STAGES)
  const format = oneOf(flags, 'output', FORMATS)
  const { inputs, clusterState } = sources(flags)
  const namespace = flags.text('namespace') || 'default'
  const user = userOf(flags)
  const config = await readConfiguration(flags.text('config'))
  const report: Report = Array.isArray(config)
    ? { reviewed: [], unreadable: config, failures: [] }
    : await reviewFiles({ config, inputs, clusterState, stage, namespace, user, stdin: process.stdin })

  const colours = process.stdout.isTTY === true && !process.env.NO_COLOR
  for (const each of report.unreadable) process.stderr.write(`${formatUnreadable(each)}\n`)
  for (const failure of report.failures) process.stderr.write(`muster review: a failure of Muster itself: ${failure}\n`)
  await print(formatReport(report, format, colours))
  return exitCode(report)
}

/** What went wrong most decides: without all of the input nobody can say that everything is admitted. */
export function exitCode({ reviewed, unreadable, failures }: Report): number {
  if (failures.length > 0) return EXIT.internal
  if (unreadable.length > 0) return EXIT.unreadable
  return reviewed.every(({ result }) => result.allowed) ? EXIT.ok : EXIT.denied
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

function userOf(flags: Parsed): UserInfo | undefined {
  const groups = flags.texts('as-group')
  const name = flags.text('as') ?? ''
  if (name !== '') return impersonated(name, groups)
  if (groups.length > 0 || flags.given('as')) throw new UsageError('--as-group needs --as USER, and USER a name')
  return undefined
}

/** The schema of the configuration takes a while to load and compile; the defaults need neither. */
async function readConfiguration(file: string | undefined): Promise<Configuration | Unreadable[]> {
  if (file === undefined) return DEFAULT_CONFIGURATION
  const { ConfigurationError, loadConfiguration } = await import('../config/load.ts')
  try {
    return loadConfiguration(file, warning => process.stderr.write(`${warning}\n`))
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return error.errors.map(({ path, message, ...place }) => ({
      ...place,
      message: path === '' ? message : `${path}: ${message}`,
    }))
  }
}

/** Whoever reads only the beginning, as `head` does, is not an error. */
export async function print(text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const settle = (error?: Error | null): void => {
      if (error && (error as NodeJS.ErrnoException).code !== 'EPIPE') reject(error)
      else resolve()
    }
    process.stdout.once('error', settle)
    process.stdout.write(text, settle)
  })
}
