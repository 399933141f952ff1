import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensurePrograms, type Programs } from '../programs/build.ts'
import { CONTROL_PLANE, kubernetesVersion, manifestsFolder } from '../programs/catalog.ts'
import { apiFlags, type FeatureGates, featureFlags } from './feature-gates.ts'
import { apiServerArgs, controllerManagerArgs, etcdArgs, kwokArgs, schedulerArgs } from './flags.ts'
import { installJobSet } from './jobset.ts'
import { createKubectl, type Kubectl } from './kubectl.ts'
import { createCa, createClientCertificate, type Identity, type KeyPair, kubeconfig, writePki } from './pki.ts'
import { freePorts } from './ports.ts'
import { createReader, type Reader } from './reader.ts'
import { lastLines, type Program, Supervisor } from './supervisor.ts'

export interface ControlPlaneOptions {
  /** Tells the folders of several planes apart. */
  readonly name: string
  readonly featureGates: FeatureGates
  /** Fake nodes, each with 64 CPUs, 256 GiB and room for 250 pods. Default 2. */
  readonly nodes?: number
  /** Controllers of Kubernetes that stay away, by their names in `kube-controller-manager --controllers`. */
  readonly withoutControllers?: readonly string[]
  /** Whether the API server keeps an audit log of writes, for `audit()`. */
  readonly audited?: boolean
  /** How long a program may take to start. Default 60 s. */
  readonly startLimitMs?: number
  /** Whether the JobSet controller runs, with its CRD and webhooks, as its own manifests install it. */
  readonly jobset?: boolean
}

/** An entry of the audit log, as far as tests read it. */
export interface AuditEvent {
  readonly verb: string
  readonly user: { readonly username: string }
  readonly impersonatedUser?: { readonly username: string }
  readonly objectRef?: {
    readonly apiGroup?: string
    readonly resource?: string
    readonly name?: string
    readonly subresource?: string
  }
  readonly annotations?: Readonly<Record<string, string>>
}

const START_LIMIT_MS = 60_000

// The names that Kubernetes' own roles are bound to, so that requests reach the webhooks under the users that real
// clusters show. Only the administrator and KWOK, which stands for every kubelet, are above the law.
const IDENTITIES = {
  admin: { user: 'kubernetes-admin', group: 'system:masters' },
  controllerManager: { user: 'system:kube-controller-manager' },
  scheduler: { user: 'system:kube-scheduler' },
  kwok: { user: 'kwok', group: 'system:masters' },
} as const satisfies Record<string, Identity>

/** Who wrote what, when it was done; the content stays out, and so does the daily work of nodes and controllers. */
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    {
      level: 'None',
      users: Object.values(IDENTITIES).flatMap(({ user }) => (user === 'kubernetes-admin' ? [] : [user])),
    },
    { level: 'None', resources: [{ group: 'coordination.k8s.io' }, { group: 'events.k8s.io' }] },
    { level: 'Metadata', verbs: ['create', 'update', 'patch', 'delete'] },
  ],
}

/** Starts etcd, the API server, the controller manager, the scheduler and KWOK, and waits until pods can run. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const programs = await ensurePrograms(CONTROL_PLANE)
  const folder = await mkdtemp(join(tmpdir(), `muster-${options.name}-`))
  const keepFolder = Boolean(process.env.MUSTER_KEEP)
  const supervisor = new Supervisor(folder, { keepFolder })
  const [apiPort = 0, etcdPort = 0, etcdPeerPort = 0] = await freePorts(3)
  const ca = await createCa()
  const plane = new ControlPlane(options, { programs, folder, keepFolder, supervisor, ca, apiPort, etcdPort })
  try {
    await plane.start(etcdPeerPort)
  } catch (error) {
    await plane.stop()
    throw error
  }
  return plane
}

interface Parts {
  readonly programs: Programs
  readonly folder: string
  readonly keepFolder: boolean
  readonly supervisor: Supervisor
  readonly ca: KeyPair
  readonly apiPort: number
  readonly etcdPort: number
}

export class ControlPlane {
  /** Logs, certificates and data. Removed by `stop`, unless MUSTER_KEEP is set. */
  readonly folder: string
  readonly server: string
  /** PEM of the authority that signed the API server's certificate. */
  readonly ca: string
  /** The administrator's. */
  readonly kubeconfig: string
  readonly kubectl: Kubectl
  readonly #options: ControlPlaneOptions
  readonly #parts: Parts
  readonly #running = new Map<keyof Programs, Program>()
  #apiServerArgs: readonly string[] = []
  #reader: Reader | undefined

  constructor(options: ControlPlaneOptions, parts: Parts) {
    this.#options = options
    this.#parts = parts
    this.folder = parts.folder
    this.server = `https://127.0.0.1:${parts.apiPort}`
    this.ca = parts.ca.cert
    this.kubeconfig = join(parts.folder, 'admin.kubeconfig')
    this.kubectl = createKubectl(parts.programs.kubectl, this.kubeconfig)
  }

  async start(etcdPeerPort: number): Promise<void> {
    const { folder, ca, apiPort, etcdPort } = this.#parts
    const { featureGates, withoutControllers: without = [] } = this.#options
    const version = kubernetesVersion(process.env)
    const features = featureFlags(featureGates, version)
    this.#launch('etcd', etcdArgs({ folder, clientPort: etcdPort, peerPort: etcdPeerPort }))
    const files = await writePki(join(folder, 'pki'), ca)
    const admin = await createClientCertificate(ca, IDENTITIES.admin)
    await writeFile(this.kubeconfig, kubeconfig(this.server, ca.cert, admin), { mode: 0o600 })
    this.#reader = createReader({ port: apiPort, ca: ca.cert, ...admin })
    const auditPolicy = this.#options.audited ? join(folder, 'audit-policy.json') : undefined
    if (auditPolicy !== undefined) await writeFile(auditPolicy, JSON.stringify(AUDIT_POLICY))
    const auditLog = this.#auditLog
    this.#apiServerArgs = apiServerArgs({
      ...{ port: apiPort, etcdPort, files, features: [...features, ...apiFlags(featureGates, version)] },
      ...(auditPolicy !== undefined && { audit: { policy: auditPolicy, log: auditLog } }),
    })
    await this.startApiServer()

    const controllerManager = await this.#clientKubeconfig('controller-manager', IDENTITIES.controllerManager)
    const scheduler = await this.#clientKubeconfig('scheduler', IDENTITIES.scheduler)
    const kwok = await this.#clientKubeconfig('kwok', IDENTITIES.kwok)
    this.#launch(
      'kube-controller-manager',
      controllerManagerArgs({ folder, kubeconfig: controllerManager, files, features, without }),
    )
    this.#launch('kube-scheduler', schedulerArgs({ kubeconfig: scheduler, features }))
    this.#launch('kwok', kwokArgs({ kubeconfig: kwok, stages: join(import.meta.dirname, 'stages.yaml') }))
    const nodes = Array.from({ length: this.#options.nodes ?? 2 }, (_, index) => fakeNode(`node-${index}`))
    await this.kubectl(['create', '-f', '-'], { stdin: { apiVersion: 'v1', kind: 'List', items: nodes } })
    await this.#until('every node is ready', async reader => {
      const { items } = await reader.json<{ items: NodeState[] }>('/api/v1/nodes')
      return items.every(isSchedulable)
    })
    await this.#defaultServiceAccount('default')
    if (this.#options.jobset) {
      const manifests = manifestsFolder('jobset', this.#parts.programs.jobset)
      if (manifests === undefined) throw new Error('the JobSet controller was built without its manifests')
      await installJobSet(this, { manifests, files, launch: args => this.#launch('jobset', args) })
    }
  }

  /** A namespace in which pods can be created: its default ServiceAccount exists. */
  async createNamespace(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.kubectl(['create', '-f', '-'], {
      stdin: { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } },
    })
    await this.#defaultServiceAccount(name)
  }

  /** Path of a kubeconfig with a token of that ServiceAccount, which must exist. */
  async serviceAccountKubeconfig(namespace: string, name: string): Promise<string> {
    const { stdout } = await this.kubectl(['create', 'token', name, '-n', namespace, '--duration=24h'])
    const path = join(this.folder, `${namespace}-${name}.kubeconfig`)
    await writeFile(path, kubeconfig(this.server, this.ca, { token: stdout.trim() }), { mode: 0o600 })
    return path
  }

  /** On the same port, with the same data. */
  async startApiServer(): Promise<void> {
    this.#launch('kube-apiserver', this.#apiServerArgs)
    await this.#until('the API server is ready', reader => reader.ready())
  }

  /** What the audit log says so far. */
  async audit(): Promise<readonly AuditEvent[]> {
    const text = await readFile(this.#auditLog, 'utf8')
    return text
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line) as AuditEvent)
  }

  /** Of a program that runs, for who measures it. */
  pidOf(name: keyof Programs): number {
    return this.#running.get(name)?.pid ?? 0
  }

  get #auditLog(): string {
    return join(this.folder, 'audit.log')
  }

  /** As in an upgrade: it finishes what is in flight, goes, and comes back. */
  async restartApiServer(): Promise<void> {
    await this.#running.get('kube-apiserver')?.stop(30_000)
    await this.startApiServer()
  }

  /** As in a crash. `startApiServer` brings it back. */
  async killApiServer(): Promise<void> {
    await this.#running.get('kube-apiserver')?.kill()
  }

  /** Makes etcd forget history up to now, for which the API server takes five minutes. */
  async compactEtcd(): Promise<void> {
    const ask = async (path: string, body: object): Promise<{ header: { revision: string } }> => {
      const url = `http://127.0.0.1:${this.#parts.etcdPort}/v3/kv/${path}`
      const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
      if (!answer.ok) throw new Error(`etcd answered ${answer.status} to ${path}: ${await answer.text()}`)
      return (await answer.json()) as { header: { revision: string } }
    }
    const key = Buffer.from('/').toString('base64')
    const { header } = await ask('range', { key })
    await ask('compaction', { revision: header.revision, physical: true })
  }

  async stop(): Promise<void> {
    // Nothing is kept, so nothing needs to be saved; still etcd goes last, since an API server without etcd lingers.
    const { etcd, rest } = Object.groupBy(this.#running.values(), program =>
      program.name === 'etcd' ? 'etcd' : 'rest',
    )
    for (const group of [rest, etcd]) await Promise.all((group ?? []).map(program => program.kill()))
    this.#reader?.close()
    await this.#parts.supervisor.close()
    if (this.#parts.keepFolder) console.error(`kept ${this.folder}`)
    else await rm(this.folder, { recursive: true, force: true })
  }

  #launch(name: keyof Programs, args: readonly string[]): void {
    this.#running.set(name, this.#parts.supervisor.start(this.#parts.programs[name], args))
  }

  async #clientKubeconfig(name: string, identity: Identity): Promise<string> {
    const path = join(this.folder, `${name}.kubeconfig`)
    const certificate = await createClientCertificate(this.#parts.ca, identity)
    await writeFile(path, kubeconfig(this.server, this.ca, certificate), { mode: 0o600 })
    return path
  }

  async #defaultServiceAccount(namespace: string): Promise<void> {
    await this.#until(`namespace ${namespace} has its default ServiceAccount`, async reader => {
      await reader.json(`/api/v1/namespaces/${namespace}/serviceaccounts/default`)
      return true
    })
  }

  /** Gives up when a program has ended, and says what it said last. */
  async #until(what: string, check: (reader: Reader) => Promise<boolean>): Promise<void> {
    const limitMs = this.#options.startLimitMs ?? START_LIMIT_MS
    const deadline = performance.now() + limitMs
    let last = ''
    while (performance.now() < deadline) {
      for (const program of this.#running.values()) {
        if (program.running) continue
        throw new Error(`${program.name} ended before ${what}. Its log ends with:\n${lastLines(program.logFile)}`)
      }
      try {
        if (this.#reader && (await check(this.#reader))) return
      } catch (error) {
        last = error instanceof Error ? error.message : String(error)
      }
      await sleep(50)
    }
    const logs = [...this.#running.values()].map(program => `--- ${program.name}\n${lastLines(program.logFile, 8)}`)
    throw new Error(`waited ${limitMs / 1000} s in vain until ${what}. ${last}\n${logs.join('\n')}`)
  }
}

interface NodeState {
  readonly spec: { readonly taints?: readonly unknown[] }
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

// New nodes carry a not-ready taint that the controller manager takes away a moment after they are ready.
function isSchedulable(node: NodeState): boolean {
  const ready = node.status.conditions?.find(condition => condition.type === 'Ready')
  return ready?.status === 'True' && (node.spec.taints ?? []).length === 0
}

function fakeNode(name: string): object {
  const resources = { cpu: '64', memory: '256Gi', pods: '250', 'ephemeral-storage': '1Ti' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' } },
    status: { allocatable: resources, capacity: resources },
  }
}
