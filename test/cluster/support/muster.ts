import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { parseAllDocuments, stringify } from 'yaml'
import type { ControlPlane } from './control-plane.ts'
import { untilServed } from './kinds.ts'
import { freePorts } from './ports.ts'
import { eventually } from './wait.ts'

const ROOT = new URL('../../..', import.meta.url).pathname

/**
 * Nothing in a start waits for a time of its own; each of its calls is given up after 15 s and made again. With both
 * cores at work elsewhere the process alone has taken 20 s to begin, so a start within 30 s is no promise.
 */
const READY_MS = 120_000

/** KWOK stands for every kubelet of these planes, under a name that is no node's. */
const STATUS_WRITERS = ['kwok']

/** docs/kueue.md has the same list, for who goes back to Kueue's own integration. */
const HOLDS_PODS = [
  ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
  ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
]

/** As in the configuration file. */
type Config = Readonly<Record<string, unknown>> & { readonly guard?: object }

export interface MusterOptions {
  readonly logLevel?: string
  /** What Node runs. Default: the launcher, which starts the source of this checkout. */
  readonly program?: string
  /** Flags for Node itself. */
  readonly nodeFlags?: readonly string[]
  /** How long it may take until it has read everything. */
  readonly readyMs?: number
  /** Whether a start is over when it is ready. Default true; without, `untilReady` waits for it. */
  readonly awaitReady?: boolean
  /** Default 1: no Service has to forget it. */
  readonly drainSeconds?: number
  /** Where the API server calls, if something stands between the two. Default: the first replica. */
  readonly calledAt?: number
  /** Another way to the API server: makes a kubeconfig of the one with Muster's own token. */
  readonly reach?: (kubeconfig: string) => Promise<string>
}

/**
 * Muster installed by its own manifests and run as a process of its own, with a token of its own ServiceAccount: what
 * it may not do in a real cluster it may not do here. Only `clientConfig` differs, since no Service reaches it.
 */
export class Muster {
  readonly port: number
  readonly healthPort: number
  readonly logFile: string
  readonly #kubeconfig: string
  readonly #configFile: string
  readonly #logLevel: string
  readonly #program: string
  readonly #options: MusterOptions
  #child: ChildProcess | undefined

  private constructor(
    ports: readonly number[],
    folder: string,
    kubeconfig: string,
    configFile: string,
    options: MusterOptions,
  ) {
    const [port = 0, healthPort = 0] = ports
    this.port = port
    this.healthPort = healthPort
    this.logFile = join(folder, `muster-${port}.log`)
    this.#options = options
    this.#kubeconfig = kubeconfig
    this.#configFile = configFile
    this.#logLevel = options.logLevel ?? 'debug'
    this.#program = options.program ?? join(ROOT, 'bin/muster.js')
  }

  /** Applies the manifests and starts one replica. */
  static async install(plane: ControlPlane, config: Config = {}, options: MusterOptions = {}): Promise<Muster> {
    const ports = await freePorts(2)
    const manifests = join(ROOT, 'manifests', config.engine === 'kueue' ? 'overlays/kueue' : '')
    const stdin = await manifestsFor(plane, manifests, options.calledAt ?? ports[0] ?? 0)
    await plane.kubectl(['apply', '-f', '-'], { stdin })
    await untilServed(plane.kubectl, 'workloads.muster.dev')
    const kubeconfig = await plane.serviceAccountKubeconfig('muster-system', 'muster')
    const configFile = join(plane.folder, 'muster.yaml')
    const muster = new Muster(ports, plane.folder, kubeconfig, configFile, options)
    await muster.reconfigure(config)
    await muster.start()
    return muster
  }

  /** One more replica, with a port of its own; the API server goes on asking the first. */
  async another(folder: string, options: MusterOptions = this.#options): Promise<Muster> {
    const muster = new Muster(await freePorts(2), folder, this.#kubeconfig, this.#configFile, options)
    await muster.start()
    return muster
  }

  /** Another configuration file for this replica and its siblings, which they have to notice by themselves. */
  async reconfigure(config: Config): Promise<void> {
    const head = { apiVersion: 'config.muster.dev/v1alpha1', kind: 'Configuration' }
    const guard = { ...config.guard, statusWriters: STATUS_WRITERS }
    await this.rewriteConfiguration(stringify({ ...head, ...config, guard }))
  }

  /** Whatever it says. */
  async rewriteConfiguration(text: string): Promise<void> {
    await writeFile(this.#configFile, text)
  }

  async start(): Promise<void> {
    const output = openSync(this.logFile, 'a')
    const kubeconfig = (await this.#options.reach?.(this.#kubeconfig)) ?? this.#kubeconfig
    const args = ['serve', '--kubeconfig', kubeconfig, '--config', this.#configFile]
    const ports = ['--port', String(this.port), '--health-port', String(this.healthPort)]
    this.#child = spawn(
      process.execPath,
      [
        ...(this.#options.nodeFlags ?? []),
        this.#program,
        ...args,
        ...ports,
        '--drain-seconds',
        String(this.#options.drainSeconds ?? 0),
        '--log-level',
        this.#logLevel,
      ],
      { stdio: ['ignore', output, output] },
    )
    closeSync(output)
    process.once('exit', this.#reap)
    if (this.#options.awaitReady ?? true) await this.untilReady()
  }

  async untilReady(): Promise<void> {
    const check = async (): Promise<true> => {
      if (this.#child?.exitCode !== null) throw new Error(`Muster ended:\n${this.log().slice(-2000)}`)
      const { status, body } = await this.health('/readyz')
      if (status !== 200) throw new Error(body)
      return true
    }
    await eventually('Muster is ready', check, { timeoutMs: this.#options.readyMs ?? READY_MS }).catch(error => {
      throw new Error(`${String(error)}\nThe end of its log:\n${this.log().slice(-4000)}`)
    })
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** As Kubernetes stops it. Returns the exit code. */
  async stop(): Promise<number | null> {
    return await this.#end('SIGTERM')
  }

  /** Stops, and takes along whatever holds or refuses pods in its name. The pods that it has gated wait on. */
  async withdraw(plane: ControlPlane): Promise<void> {
    await this.stop()
    await plane.kubectl(['delete', HOLDS_PODS.join(','), '-l', 'app.kubernetes.io/name=muster'])
  }

  /** As the kernel does when memory is short. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  async health(path: string): Promise<{ readonly status: number; readonly body: string }> {
    return await new Promise((resolve, reject) => {
      const call = request({ host: 'localhost', port: this.healthPort, path, timeout: 5_000 }, response => {
        let body = ''
        response.setEncoding('utf8').on('data', (text: string) => {
          body += text
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
      })
      call.on('error', reject)
      call.on('timeout', () => call.destroy(new Error('no answer within 5 s')))
      call.end()
    })
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  log(): string {
    return readFileSync(this.logFile, 'utf8')
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
    process.off('exit', this.#reap)
    return child.exitCode
  }

  readonly #reap = (): void => {
    this.#child?.kill('SIGKILL')
  }
}

/** It runs, and says on /readyz why it will not do its work. */
export async function refuses(muster: Muster, why: RegExp): Promise<void> {
  await eventually(`Muster says ${why}`, async () => {
    const { status, body } = await muster.health('/readyz')
    return status === 503 && why.test(body)
  })
}

/** The manifests as `kubectl apply -k` would send them, with the webhooks called by URL and KWOK as a status writer. */
export async function manifestsFor(plane: ControlPlane, folder: string, port: number): Promise<string> {
  const { stdout } = await plane.kubectl(['kustomize', folder])
  const documents = parseAllDocuments(stdout).map(document => document.toJS() as Manifest)
  for (const { webhooks = [], spec } of documents) {
    const writers = spec?.matchConditions?.find(({ name }) => name === 'not-a-status-writer')
    if (writers !== undefined) writers.expression = `!(request.userInfo.username in ['${STATUS_WRITERS.join("', '")}'])`
    for (const webhook of webhooks) {
      const { path } = webhook.clientConfig.service ?? {}
      webhook.clientConfig = { url: `https://127.0.0.1:${port}${path}` }
    }
  }
  return documents.map(document => stringify(document)).join('---\n')
}

interface Manifest {
  readonly kind: string
  readonly webhooks?: { clientConfig: { service?: { path: string }; url?: string } }[]
  readonly spec?: { readonly matchConditions?: { readonly name: string; expression: string }[] }
}
