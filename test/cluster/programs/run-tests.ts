import { spawn } from 'node:child_process'
import { ensurePrograms } from './build.ts'
import { BuildError } from './build-error.ts'
import type { ProgramName } from './catalog.ts'

export interface TestRun {
  readonly programs: readonly ProgramName[]
  /** The configuration of vitest. */
  readonly config: string
  readonly files: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/** Builds the programs, or finds them, and runs the tests that need them; the exit code tells how it went. */
export async function runTests({ programs, config, files, env }: TestRun): Promise<void> {
  await ensurePrograms(programs, line => console.error(line), env)
  const vitest = spawn('vitest', ['run', '--config', config, ...files], { env, stdio: 'inherit' })
  process.exitCode = await new Promise<number>((resolve, reject) => {
    vitest.on('error', reject).on('close', code => resolve(code ?? 1))
  })
}

/** What a person can put right is told without a stack. */
export function tellWhyNot(error: unknown): void {
  if (!(error instanceof BuildError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
