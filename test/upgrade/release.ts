import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts } from '../cluster/support/ports.ts'
import { eventually } from '../cluster/support/wait.ts'

const ROOT = new URL('../..', import.meta.url).pathname

/** One version of Muster that can be installed and run. */
export interface Release {
  readonly name: string
  readonly folder: string
}

export const HERE: Release = { name: 'this checkout', folder: ROOT }

function git(...args: readonly string[]): { readonly status: number | null; readonly stdout: Buffer } {
  return spawnSync('git', args, { cwd: ROOT, maxBuffer: 1 << 30 })
}

/** The newest tag, where nobody has said what to come from. */
export function lastRelease(): string | undefined {
  const { status, stdout } = git('describe', '--tags', '--abbrev=0')
  return status === 0 ? stdout.toString().trim() : undefined
}

/** The files of a commit, with the packages of this checkout: what an older one needs is among them, or it does not start. */
export function checkOut(commit: string, folder: string): Release {
  const { status, stdout } = git('archive', commit)
  if (status !== 0) throw new Error(`there is no commit ${commit} here`)
  mkdirSync(folder, { recursive: true })
  const unpacked = spawnSync('tar', ['-x', '-C', folder], { input: stdout })
  if (unpacked.status !== 0) throw new Error(`tar: ${unpacked.stderr.toString()}`)
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return { name: commit, folder }
}

export interface ReplicaOptions {
  readonly kubeconfig: string
  readonly config: string
  readonly logs: string
}

/** One process, as the Deployment would run it. */
export class Replica {
  readonly release: Release
  readonly port: number
  readonly healthPort: number
  readonly logFile: string
  readonly #child: ChildProcess

  private constructor(release: Release, ports: readonly number[], options: ReplicaOptions) {
    const [port = 0, healthPort = 0] = ports
    this.release = release
    this.port = port
    this.healthPort = healthPort
    this.logFile = join(options.logs, `replica-${port}.log`)
    const output = openSync(this.logFile, 'a')
    const flags = ['--kubeconfig', options.kubeconfig, '--config', options.config, '--drain-seconds', '5']
    const listening = ['--port', String(port), '--health-port', String(healthPort)]
    this.#child = spawn(
      process.execPath,
      [join(release.folder, 'bin/muster.js'), 'serve', ...flags, ...listening, '--log-level', 'info'],
      { stdio: ['ignore', output, output] },
    )
    closeSync(output)
  }

  /** A port that was free a moment ago may be somebody else's by now: then it is tried with others, as kubelets do. */
  static async start(release: Release, options: ReplicaOptions, attempts = 3): Promise<Replica> {
    const replica = new Replica(release, await freePorts(2), options)
    const state = await eventually(`a replica of ${release.name} is ready`, () => replica.#state(), {
      timeoutMs: 180_000,
    })
    if (state === 'ready') return replica
    if (attempts > 1) return Replica.start(release, options, attempts - 1)
    throw new Error(`${release.name} ended:\n${readFileSync(replica.logFile, 'utf8').slice(-2000)}`)
  }

  async #state(): Promise<'ready' | 'ended' | undefined> {
    if (this.#child.exitCode !== null) return 'ended'
    const { ok } = await fetch(`http://127.0.0.1:${this.healthPort}/readyz`)
    return ok ? 'ready' : undefined
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** As Kubernetes stops it: whoever forwards to it has been told before. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
    return this.#child.exitCode
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
