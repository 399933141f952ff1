#!/usr/bin/env node
// Starts Muster from source in a checkout (Node runs TypeScript as it is) and from dist/ in an installed package.
// A Node that is too old hands over to the one that `npm ci` pinned, so that `npx muster` works wherever npm does.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const here = path => fileURLToPath(new URL(path, import.meta.url))
const [major, minor] = process.versions.node.split('.').map(Number)

if (major > 22 || (major === 22 && minor >= 19)) {
  const fromSource = existsSync(here('../src/main.ts'))
  // Stripping the types takes Node longer than all the rest of a start; the result is kept, and renewed with the source.
  if (fromSource) module.enableCompileCache?.(here('../node_modules/.cache/muster'))
  await import(fromSource ? '../src/main.ts' : '../dist/main.js')
} else {
  const pinned = here('../node_modules/node/bin/node')
  if (!existsSync(pinned)) {
    process.stderr.write(`muster: needs Node 22.19 or later, this is ${process.version}: run npm ci first\n`)
    process.exit(3)
  }
  const run = spawnSync(pinned, [here('muster.js'), ...process.argv.slice(2)], { stdio: 'inherit' })
  process.exit(run.status ?? 3)
}
