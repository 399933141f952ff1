import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { type Configuration, DEFAULT_CONFIGURATION } from '../config/configuration.ts'
import type { Unreadable } from '../documents/place.ts'

export const CONFIGURATION_FILE = 'muster.yaml'

/** The file of that name in this folder or above it, within the same repository. */
export function findConfiguration(folder: string): string | undefined {
  for (let current = resolve(folder); ; current = dirname(current)) {
    const file = join(current, CONFIGURATION_FILE)
    if (existsSync(file)) return relative(folder, file)
    if (existsSync(join(current, '.git')) || dirname(current) === current) return undefined
  }
}

/** The schema of the configuration takes a while to load and compile; the defaults need neither. */
export async function readConfiguration(
  file: string | undefined,
  warn = (warning: string): void => void process.stderr.write(`${warning}\n`),
): Promise<Configuration | readonly Unreadable[]> {
  if (file === undefined) return DEFAULT_CONFIGURATION
  const { ConfigurationError, loadConfiguration } = await import('../config/load.ts')
  try {
    return loadConfiguration(file, warn)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return error.errors.map(({ path, message, ...place }) => ({
      ...place,
      message: path === '' ? message : `${path}: ${message}`,
    }))
  }
}

export const isWrong = (read: Configuration | readonly Unreadable[]): read is readonly Unreadable[] =>
  Array.isArray(read)

/** What `--config` names, or what is found. */
export const configurationFile = (given: string | undefined): string | undefined => given ?? findConfiguration('.')
