import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = new URL('../../..', import.meta.url).pathname

/** A command of a page, and what the page says that the terminal shows. */
export interface Step {
  readonly command: string
  readonly shown: string
}

/** What stands in blocks of the language `console`, in their order. */
export function stepsOf(page: string): readonly Step[] {
  return [...page.matchAll(/```console\n([\s\S]+?)```/g)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map(text => {
        const end = text.indexOf('\n')
        return { command: text.slice(0, end), shown: text.slice(end + 1) }
      }),
  )
}

/** Times and hashes differ from run to run, and with them the width of columns. */
export function comparable(text: string): string {
  return text
    .replace(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, 'TIME')
    .replace(/\b(?:\d+[dhms])+(?=\s|,|$)/gm, 'TIME')
    .replace(/-[0-9a-f]{5,}\b/g, '-HASH')
    .replace(/ +/g, ' ')
    .replace(/ $/gm, '')
    .trim()
}

/** A terminal in this checkout, with `kubectl` and `muster` on the path. */
export function terminal(folder: string, kubectl: string, kubeconfig: string) {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  const programs = { kubectl: `'${kubectl}'`, muster: `'${process.execPath}' '${join(ROOT, 'bin/muster.js')}'` }
  for (const [name, program] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${program} "$@"\n`)
    chmodSync(join(bin, name), 0o755)
  }
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: folder, KUBECONFIG: kubeconfig, COLUMNS: '100' }
  return (command: string): { readonly status: number | null; readonly output: string } => {
    const { status, stdout, stderr } = spawnSync('bash', ['-o', 'pipefail', '-c', command], {
      cwd: ROOT,
      encoding: 'utf8',
      env,
      timeout: 200_000,
    })
    return { status, output: stdout + stderr }
  }
}
