import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'

export const WITHOUT_PROMTOOL =
  'there is no promtool: apt-get install prometheus (Debian, Ubuntu), brew install prometheus (macOS), or set PROMTOOL to the one of a release of Prometheus'

const program = process.env.PROMTOOL || 'promtool'

export function hasPromtool(): boolean {
  return spawnSync(program, ['--version']).status === 0
}

/** What promtool prints, and how it ends; files are written where it runs. */
export function promtool(args: readonly string[], files: Readonly<Record<string, object>>, input = '') {
  const folder = mkdtempSync(join(tmpdir(), 'muster-rules-'))
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), stringify(content))
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8', input })
    return { status, output: stdout + stderr }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
