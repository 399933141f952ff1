import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments, stringify } from 'yaml'
import * as known from '../src/kube/vocabulary/resources.ts'
import { freePorts } from '../test/cluster/support/ports.ts'
import { eventually } from '../test/cluster/support/wait.ts'
import type { ModelServer, Stored } from '../test/simulation/model/server.ts'
import type { ScaleApi } from './scale-api.ts'

const ROOT = new URL('..', import.meta.url).pathname
const READY_MS = 300_000

/** One replica as it is installed: compiled, with its webhooks, under its own limits. */
export class Replica {
  readonly #args: readonly string[]
  readonly #healthPort: number
  readonly #log: string
  #child: ChildProcess | undefined

  private constructor(args: readonly string[], healthPort: number, log: string) {
    this.#args = args
    this.#healthPort = healthPort
    this.#log = log
  }

  static async prepare(folder: string, api: ScaleApi, config: object): Promise<Replica> {
    const [port = 0, health = 0] = await freePorts(2)
    const [kubeconfig, configFile] = [join(folder, `kubeconfig-${port}`), join(folder, `muster-${port}.yaml`)]
    writeFileSync(kubeconfig, stringify(kubeconfigFor(api)))
    writeFileSync(configFile, stringify({ apiVersion: 'config.muster.dev/v1alpha1', kind: 'Configuration', ...config }))
    const args = [
      ...[join(ROOT, 'dist/main.js'), 'serve', '--kubeconfig', kubeconfig, '--config', configFile],
      ...['--port', String(port), '--health-port', String(health), '--drain-seconds', '1', '--log-level', 'warn'],
    ]
    return new Replica(args, health, join(folder, `muster-${port}.log`))
  }

  /** Seconds until it is ready. */
  async start(): Promise<number> {
    const started = performance.now()
    const output = openSync(this.#log, 'a')
    this.#child = spawn(process.execPath, this.#args, { stdio: ['ignore', output, output] })
    closeSync(output)
    process.once('exit', this.#reap)
    const ready = async () => {
      if (this.#child?.exitCode !== null) throw new Error(`Muster ended:\n${readFileSync(this.#log, 'utf8')}`)
      const { status } = await fetch(`http://localhost:${this.#healthPort}/readyz`)
      return status === 200
    }
    await eventually('Muster is ready', ready, { timeoutMs: READY_MS, intervalMs: 50 })
    return (performance.now() - started) / 1000
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
    process.off('exit', this.#reap)
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  readonly #reap = (): void => {
    this.#child?.kill('SIGKILL')
  }
}

/** What `kubectl apply -k manifests/` leaves in the API server, as far as Muster looks at it. */
export function applyManifests(model: ModelServer): void {
  const kinds = [
    ...[known.MUTATING_WEBHOOKS, known.VALIDATING_WEBHOOKS],
    ...[known.VALIDATING_POLICIES, known.VALIDATING_POLICY_BINDINGS],
  ]
  for (const file of ['webhooks.yaml', 'policy-pod-status.yaml']) {
    for (const document of parseAllDocuments(readFileSync(join(ROOT, 'manifests/base', file), 'utf8'))) {
      const object = document.toJS() as Stored
      const resource = kinds.find(({ kind }) => kind === object.kind)
      if (resource !== undefined) model.create(resource, object, 'admin')
    }
  }
}

function kubeconfigFor({ url, ca }: ScaleApi): object {
  const authority = Buffer.from(ca).toString('base64')
  return {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'bench' },
    clusters: [{ name: 'bench', cluster: { server: url, 'certificate-authority-data': authority } }],
    users: [{ name: 'muster', user: { token: 'bench' } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'muster' } }],
  }
}
