import { spawn } from 'node:child_process'
import { dirname } from 'node:path'

export interface KubectlOptions {
  /** Impersonate this user, as `--as` does. */
  readonly as?: string
  readonly asGroups?: readonly string[]
  /** Text as it is, anything else as JSON. */
  readonly stdin?: string | object
  /** Success is then the error. */
  readonly expectFailure?: boolean
  /** Somebody else's credentials instead of the administrator's. */
  readonly kubeconfig?: string
  readonly timeoutMs?: number
  readonly env?: Readonly<Record<string, string>>
}

export interface KubectlResult {
  readonly stdout: string
  readonly stderr: string
  readonly code: number
}

export interface Kubectl {
  (args: readonly string[], options?: KubectlOptions): Promise<KubectlResult>
  /** Adds `-o json` and parses the answer. */
  json<T = unknown>(args: readonly string[], options?: KubectlOptions): Promise<T>
}

export function createKubectl(program: string, adminKubeconfig: string): Kubectl {
  const run = async (args: readonly string[], options: KubectlOptions = {}): Promise<KubectlResult> => {
    const impersonation = [
      ...(options.as ? [`--as=${options.as}`] : []),
      ...(options.asGroups ?? []).map(group => `--as-group=${group}`),
    ]
    const result = await execute(program, [...args, ...impersonation], options.stdin, {
      timeoutMs: options.timeoutMs ?? 110_000,
      // HOME is where kubectl keeps its discovery cache, and it must not be the one of another cluster.
      env: {
        PATH: process.env.PATH,
        HOME: dirname(adminKubeconfig),
        KUBECONFIG: options.kubeconfig ?? adminKubeconfig,
        ...options.env,
      },
    })
    const failed = result.code !== 0
    if (failed !== (options.expectFailure ?? false)) {
      const outcome = failed ? `failed with code ${result.code}` : 'succeeded, but was expected to fail'
      throw new Error(`kubectl ${args.join(' ')} ${outcome}\n${result.stderr}${result.stdout}`.trimEnd())
    }
    return result
  }
  const json = async <T>(args: readonly string[], options?: KubectlOptions): Promise<T> => {
    const { stdout } = await run([...args, '-o', 'json'], options)
    return JSON.parse(stdout) as T
  }
  return Object.assign(run, { json })
}

function execute(
  program: string,
  args: readonly string[],
  stdin: string | object | undefined,
  options: { readonly env: NodeJS.ProcessEnv; readonly timeoutMs: number },
): Promise<KubectlResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: options.env, timeout: options.timeoutMs, killSignal: 'SIGKILL' })
    const output = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text
      })
    }
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (signal) output.stderr += `kubectl was ended by ${signal} (limit: ${options.timeoutMs} ms)\n`
      resolve({ ...output, code: code ?? 1 })
    })
    // kubectl may refuse its arguments and go before it has read anything.
    child.stdin.on('error', () => undefined)
    child.stdin.end(typeof stdin === 'object' ? JSON.stringify(stdin) : stdin)
  })
}
