import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { ControlPlane } from './control-plane.ts'

const ROOT = new URL('../../..', import.meta.url).pathname

export interface CommandResult {
  readonly stdout: string
  readonly stderr: string
  readonly code: number | null
}

export interface CommandOptions {
  /** Somebody else's credentials instead of the administrator's. */
  readonly kubeconfig?: string
  /** Killed, without a warning, when it has said this. */
  readonly killWhen?: RegExp
}

/** `muster ARGS`, as a person runs it: a process of its own that finds its cluster as kubectl does. */
export function musterCommand(
  plane: ControlPlane,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH, HOME: plane.folder, KUBECONFIG: options.kubeconfig ?? plane.kubeconfig }
    const child = spawn(process.execPath, [join(ROOT, 'bin/muster.js'), ...args], { env })
    const output = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text
        if (options.killWhen?.test(output[name])) child.kill('SIGKILL')
      })
    }
    child.on('error', reject)
    child.on('close', code => resolve({ ...output, code }))
  })
}
