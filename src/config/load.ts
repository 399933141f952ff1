import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { type Configuration, DEFAULT_CONFIGURATION, type SchedulingAllowList } from './configuration.ts'
import { type GivenConfiguration, ruleErrors, warningsOf } from './rules.ts'
import { schemaErrors } from './schema-errors.ts'
import { type ConfigError, formatConfigError, readSource } from './source.ts'

/** The configuration cannot be used. The message lists everything that is wrong with it, one error per line. */
export class ConfigurationError extends Error {
  readonly errors: readonly ConfigError[]

  constructor(errors: readonly ConfigError[]) {
    super(errors.map(formatConfigError).join('\n'))
    this.name = 'ConfigurationError'
    this.errors = errors
  }
}

export type ParseResult =
  | { readonly configuration: Configuration; readonly warnings: readonly string[] }
  | { readonly errors: readonly ConfigError[] }

/** Without a file the defaults hold. Throws `ConfigurationError`. */
export function loadConfiguration(file: string | undefined, warn: (warning: string) => void = () => {}): Configuration {
  if (file === undefined) return DEFAULT_CONFIGURATION
  const result = parseConfiguration(readText(file), file)
  if ('errors' in result) throw new ConfigurationError(result.errors)
  for (const warning of result.warnings) warn(warning)
  return result.configuration
}

export function parseConfiguration(text: string, fileName: string): ParseResult {
  const source = readSource(text, fileName)
  if (!('value' in source)) return { errors: source }
  const wrongShape = schemaErrors(source)
  if (wrongShape.length > 0) return { errors: wrongShape }
  const given = source.value as GivenConfiguration
  const errors = ruleErrors(given, source)
  if (errors.length > 0) return { errors }
  return { configuration: withDefaults(given), warnings: warningsOf(given, source) }
}

/** A pipe of the shell is read to its end, but not a device, which may have none. */
function readText(file: string): string {
  let bytes: Buffer | undefined
  try {
    const found = statSync(file)
    if (found.isCharacterDevice() || found.isBlockDevice()) throw new Error('it is a device, not a file')
    bytes = readBounded(file)
  } catch (error) {
    throw unreadable(file, error as NodeJS.ErrnoException)
  }
  if (bytes === undefined) throw failure(file, `is larger than ${MAX_BYTES} bytes`)
  return decodeText(bytes, file)
}

/** Four times what a configuration may have in characters, and a character has at most so many bytes. */
const MAX_BYTES = 4 * 1024 * 1024

/** Undefined when there is more. */
function readBounded(file: string): Buffer | undefined {
  const descriptor = openSync(file, 'r')
  try {
    const chunks: Buffer[] = []
    let length = 0
    for (;;) {
      const chunk = Buffer.allocUnsafe(64 * 1024)
      const count = readSync(descriptor, chunk)
      if (count === 0) return Buffer.concat(chunks, length)
      length += count
      if (length > MAX_BYTES) return undefined
      chunks.push(chunk.subarray(0, count))
    }
  } finally {
    closeSync(descriptor)
  }
}

const failure = (file: string, message: string): ConfigurationError =>
  new ConfigurationError([{ file, line: 0, column: 0, path: '', message }])

export function unreadable(file: string, { code, message }: NodeJS.ErrnoException): ConfigurationError {
  return failure(file, `cannot be read: ${READ_ERRORS[code ?? ''] ?? message}`)
}

/** Throws `ConfigurationError`. */
export function decodeText(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw failure(file, 'is not UTF-8 text')
  }
}

const READ_ERRORS: Readonly<Record<string, string | undefined>> = {
  ENOENT: 'there is no such file',
  EACCES: 'no permission',
  EISDIR: 'it is a folder; name the file in it',
}

function withDefaults(given: GivenConfiguration): Configuration {
  const defaults = DEFAULT_CONFIGURATION
  const podOptions = given.integrations?.podOptions
  const parallelism = given.jobs?.parallelism
  const allow = allowList(given.jobs?.scheduling?.allow, defaults.jobs.scheduling.allow)
  return {
    engine: given.engine ?? defaults.engine,
    manageJobsWithoutQueueName: given.manageJobsWithoutQueueName ?? defaults.manageJobsWithoutQueueName,
    integrations: {
      frameworks: given.integrations?.frameworks ?? defaults.integrations.frameworks,
      podOptions: {
        namespaceSelector: podOptions?.namespaceSelector ?? defaults.integrations.podOptions.namespaceSelector,
        podSelector: podOptions?.podSelector ?? defaults.integrations.podOptions.podSelector,
      },
    },
    guard: {
      exemptUsers: given.guard?.exemptUsers ?? defaults.guard.exemptUsers,
      exemptGroups: given.guard?.exemptGroups ?? defaults.guard.exemptGroups,
      statusWriters: given.guard?.statusWriters ?? defaults.guard.statusWriters,
      podReplacement: given.guard?.podReplacement ?? defaults.guard.podReplacement,
      controllers: { ...defaults.guard.controllers, ...given.guard?.controllers },
    },
    queues: (given.queues ?? defaults.queues).map(queue => ({ ...queue, limits: queue.limits ?? {} })),
    unlistedQueues: given.unlistedQueues ?? defaults.unlistedQueues,
    review: { templates: given.review?.templates ?? defaults.review.templates },
    coScheduling: {
      backend: given.coScheduling?.backend ?? defaults.coScheduling.backend,
      jobs: given.coScheduling?.jobs ?? defaults.coScheduling.jobs,
      kubernetes: { ...defaults.coScheduling.kubernetes, ...given.coScheduling?.kubernetes },
      kai: { ...defaults.coScheduling.kai, ...given.coScheduling?.kai },
    },
    jobs: {
      scheduling: {
        allow,
        // A namespace entry that says nothing about a key must not open what the file closes for everyone,
        // so it falls back to the file's own list and not to the built-in one.
        namespaces: (given.jobs?.scheduling?.namespaces ?? []).map(entry => ({
          selector: entry.selector,
          allow: allowList(entry.allow, allow),
        })),
      },
      parallelism: {
        gangChanges: parallelism?.gangChanges ?? defaults.jobs.parallelism.gangChanges,
        implicitGang: parallelism?.implicitGang ?? defaults.jobs.parallelism.implicitGang,
      },
    },
  }
}

function allowList(given: Partial<SchedulingAllowList> | undefined, base: SchedulingAllowList): SchedulingAllowList {
  return {
    policies: given?.policies ?? base.policies,
    disruptionModes: given?.disruptionModes ?? base.disruptionModes,
    topologyKeys: given?.topologyKeys ?? base.topologyKeys,
    resourceClaims: given?.resourceClaims ?? base.resourceClaims,
  }
}
