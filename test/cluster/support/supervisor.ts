import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Writable } from 'node:stream'

export interface Program {
  readonly name: string
  readonly pid: number
  readonly logFile: string
  readonly running: boolean
  /** Asks by SIGTERM, insists by SIGKILL after `graceMs`, and resolves when the process is gone. */
  stop(graceMs?: number): Promise<void>
  kill(): Promise<void>
}

/*
 * Reads the process groups to guard, one "+pid" or "-pid" per line. A test process that crashes or is killed cannot
 * clean up after itself, but the kernel closes its end of the pipe: what is still listed then is killed, and the
 * folder removed. In a session of its own, so that Ctrl-C ends the tests and not their guard.
 */
const WATCHDOG = `
groups=" "
while read -r line; do
  pid="\${line#?}"
  case "$line" in
    +*) groups="$groups$pid " ;;
    -*) groups="\${groups%% $pid *} \${groups#* $pid }" ;;
  esac
done
for pid in $groups; do kill -s KILL -- "-$pid" 2>/dev/null; done
if [ "$groups" != " " ] && [ -n "$1" ]; then rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }; fi
`

/** Starts programs with their output in files, and sees to it that none of them outlives the test. */
export class Supervisor {
  readonly #folder: string
  readonly #watchdog: ChildProcess
  readonly #guard: Writable

  constructor(folder: string, options: { readonly keepFolder: boolean }) {
    this.#folder = folder
    this.#watchdog = spawn('/bin/sh', ['-c', WATCHDOG, 'watchdog', options.keepFolder ? '' : folder], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    if (!this.#watchdog.stdin) throw new Error('the watchdog has no standard input')
    this.#guard = this.#watchdog.stdin
    // When the watchdog itself has been killed there is nobody to tell, and the tests can still go on.
    this.#guard.on('error', () => undefined)
    this.#watchdog.unref()
  }

  start(path: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
    const name = basename(path)
    const logFile = join(this.#folder, `${name}.log`)
    const log = openSync(logFile, 'a')
    // A small environment: a developer's KUBECONFIG or proxy must not change what is tested.
    const child = spawn(path, args, {
      cwd: this.#folder,
      env: { PATH: process.env.PATH, HOME: this.#folder, ...env },
      detached: true,
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    const exited = once(child, 'exit').then(
      () => undefined,
      () => undefined,
    )
    const { pid } = child
    if (pid === undefined) throw new Error(`could not start ${path}`)
    this.#guard.write(`+${pid}\n`)
    // At once, since the kernel may give the number to somebody else.
    child.once('exit', () => this.#guard.write(`-${pid}\n`))
    const running = () => child.exitCode === null && child.signalCode === null
    const end = async (signal: NodeJS.Signals, graceMs: number): Promise<void> => {
      if (!running()) return
      child.kill(signal)
      const insist = setTimeout(() => child.kill('SIGKILL'), graceMs)
      await exited
      clearTimeout(insist)
    }
    return {
      name,
      pid,
      logFile,
      get running() {
        return running()
      },
      stop: (graceMs = 15_000) => end('SIGTERM', graceMs),
      kill: () => end('SIGKILL', 1_000),
    }
  }

  /** Ends the watchdog, when every program has been stopped. */
  async close(): Promise<void> {
    if (this.#watchdog.exitCode !== null) return
    this.#watchdog.ref()
    const gone = once(this.#watchdog, 'exit')
    this.#guard.end()
    await gone
  }
}

export function lastLines(logFile: string, count = 15): string {
  try {
    return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-count).join('\n')
  } catch {
    return '(no log)'
  }
}
