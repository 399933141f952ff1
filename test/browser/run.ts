// Runs the tests of the page in a real browser, or says how to get one.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findChromium, HOW_TO_GET_ONE } from './support/chromium.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const program = findChromium()

if (program === undefined) console.error(HOW_TO_GET_ONE)
if (program === undefined && !process.env.CI) {
  process.exitCode = 2
} else {
  // In a build that can have none, the tests are counted as skipped.
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
  const args = [vitest, 'run', '--config', 'vitest.browser.config.ts', ...process.argv.slice(2)]
  const env = { ...process.env, ...(program !== undefined && { CHROMIUM: program }) }
  process.exitCode = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).status ?? 1
}
