import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const ENTRY = fileURLToPath(new URL('../../bin/muster.js', import.meta.url))

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command to its end, as a shell would, without a cluster in sight. */
export async function runMuster(args: readonly string[], stdin = ''): Promise<Finished> {
  const child = spawnMuster(args)
  const output = collect(child)
  child.stdin?.end(stdin)
  const [code] = await once(child, 'close')
  return { code, ...output() }
}

export function spawnMuster(
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
  stdio: StdioOptions = ['pipe', 'pipe', 'pipe'],
): ChildProcess {
  const { KUBECONFIG: _kubeconfig, KUBERNETES_SERVICE_HOST: _host, ...env } = process.env
  return spawn(process.execPath, [ENTRY, ...args], { stdio, env: { ...env, ...more } })
}

export function collect(child: ChildProcess): () => { stdout: string; stderr: string } {
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text
    })
  }
  return () => texts
}
