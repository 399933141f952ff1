import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../kube/vocabulary/clock.ts'
import type { Log } from '../kube/vocabulary/log.ts'
import { type LiveConfiguration, takenOver } from './live.ts'
import { ConfigurationError, decodeText, parseConfiguration, unreadable } from './load.ts'

/** What became of a changed file. `partly`: some of it takes a restart. */
export type ConfigurationChange =
  | { readonly result: 'taken' }
  | { readonly result: 'partly'; readonly kept: readonly string[] }
  | { readonly result: 'refused'; readonly errors: string }

export interface ConfigurationWatchDeps {
  readonly file: string
  readonly live: LiveConfiguration
  readonly clock: Clock
  readonly log: Log
  readonly onChange: (change: ConfigurationChange) => void
  readonly intervalMs?: number
}

const INTERVAL_MS = 3_000

/**
 * Reads the file again and again and looks at its content. Kubernetes swaps a mounted ConfigMap by a symbolic link, an
 * editor by a rename, and a laptop may have slept: no notification survives all of that, and a few kilobytes every few
 * seconds cost nothing. What cannot be used is refused, told once, and the old configuration stays in force.
 */
export function watchConfiguration(deps: ConfigurationWatchDeps): () => void {
  const { file, clock, log } = deps
  // Nothing: it may have changed since it was loaded.
  let seen = ''
  let stopped = false
  let cancel = () => {}
  const schedule = () => {
    cancel = clock.after(deps.intervalMs ?? INTERVAL_MS, () => {
      look()
        .catch(error => log.error({ err: error, file }, 'the configuration could not be looked at'))
        .finally(() => {
          if (!stopped) schedule()
        })
    })
  }
  const look = async () => {
    const content = await readFile(file).catch((error: NodeJS.ErrnoException) => error)
    const digest = content instanceof Error ? `unreadable: ${content.code}` : digestOf(content)
    if (stopped || digest === seen) return
    seen = digest
    const change = take(deps, content)
    if (change !== undefined) deps.onChange(change)
  }
  schedule()
  return () => {
    stopped = true
    cancel()
  }
}

const digestOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

function take({ file, live, log }: ConfigurationWatchDeps, content: Buffer | Error): ConfigurationChange | undefined {
  try {
    if (content instanceof Error) throw unreadable(file, content)
    const parsed = parseConfiguration(decodeText(content, file), file)
    if ('errors' in parsed) throw new ConfigurationError(parsed.errors)
    const { config, kept } = takenOver(parsed.configuration, live.current)
    const isSame = isDeepStrictEqual(config, live.current)
    if (isSame && kept.length === 0) return undefined
    for (const warning of parsed.warnings) log.warn({ file }, warning)
    if (!isSame) live.replace(config)
    log.info({ file }, 'the configuration has changed and is in force')
    if (kept.length === 0) return { result: 'taken' }
    log.warn({ file, keys: kept }, 'these keys of the configuration need a restart; their old values stay in force')
    return { result: 'partly', kept }
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    log.error({ file, errors: error.message }, 'the changed configuration cannot be used; the old one stays in force')
    return { result: 'refused', errors: error.message }
  }
}
