#!/usr/bin/env node
// Starts Muster from source in a checkout (Node runs TypeScript as it is) and from compiled code in an installed package:
// the server from dist/, everything else from the bundle, which is read in a moment. A Node that is too old hands over to
// the one that `npm ci` pinned, so that it works wherever npm does. No syntax here that an old Node cannot read.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const here = path => fileURLToPath(new URL(path, import.meta.url))
const [major, minor] = process.versions.node.split('.').map(Number)

if (major > 22 || (major === 22 && minor >= 19)) {
  const fromSource = existsSync(here('../src/main.ts'))
  // Compiling takes Node longer than all the rest of a start; the result is kept, and renewed with the code. In a
  // package it is kept where the user's other caches are: the package itself may not be his to write to.
  if (fromSource) module.enableCompileCache(here('../node_modules/.cache/muster'))
  else if (!process.env.NODE_DISABLE_COMPILE_CACHE) module.enableCompileCache()
  const bundle = existsSync(here('../dist/bundle/muster.js')) && process.argv[2] !== 'serve'
  await import(fromSource ? '../src/main.ts' : bundle ? '../dist/bundle/muster.js' : '../dist/main.js')
} else {
  const pinned = here('../node_modules/node/bin/node')
  if (!existsSync(pinned)) {
    process.stderr.write(`muster: needs Node 22.19 or later, and this is ${process.version}: install a newer Node\n`)
    process.exit(3)
  }
  const child = spawn(pinned, [here('muster.js'), ...process.argv.slice(2)], { stdio: 'inherit' })
  // Whoever stops this process means the child; it says itself when it has stopped.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
}
