// Writes the root of an image that holds Node and what Node needs, and nothing else: no shell, no package manager, no
// C library tools. `node scripts/image-root.ts FOLDER`, on a glibc Linux; the Dockerfile runs it, and so does a test.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Of `ldd`: `libm.so.6 => /lib/... (0x...)`, and the loader itself, which has no arrow. */
export function librariesIn(ldd: string): readonly string[] {
  const missing = /^\s*(\S+) => not found$/m.exec(ldd)
  if (missing !== null) throw new Error(`${missing[1]} is not found`)
  return ldd.split('\n').flatMap(line => /^\s*(?:\S+ => )?(\/\S+) \(0x[0-9a-f]+\)$/.exec(line)?.[1] ?? [])
}

export function writeImageRoot(folder: string, node: string): void {
  const ldd = spawnSync('ldd', [node], { encoding: 'utf8' })
  if (ldd.status !== 0) throw new Error(`ldd ${node}: ${ldd.stderr}`)
  for (const library of librariesIn(ldd.stdout)) copy(realpathSync(library), join(folder, library))
  copy(realpathSync(node), join(folder, 'usr/bin/node'))
  mkdirSync(join(folder, 'etc'), { recursive: true })
  writeFileSync(join(folder, 'etc/passwd'), 'muster:x:65532:65532:muster:/app:/nonexistent\n')
  writeFileSync(join(folder, 'etc/group'), 'muster:x:65532:\n')
  // Without it glibc asks DNS for localhost first.
  writeFileSync(join(folder, 'etc/nsswitch.conf'), 'hosts: files dns\n')
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2)
  if (folder === undefined) throw new Error('usage: node scripts/image-root.ts FOLDER')
  writeImageRoot(folder, process.execPath)
}
