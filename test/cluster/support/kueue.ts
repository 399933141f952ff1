import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { KUEUE_POD_WEBHOOKS } from '../../../src/kube/vocabulary/kueue.ts'
import { ensurePrograms } from '../programs/build.ts'
import { KUEUE, manifestsFolder } from '../programs/catalog.ts'
import type { ControlPlane } from './control-plane.ts'
import { freePorts } from './ports.ts'
import { lastLines, type Program, Supervisor } from './supervisor.ts'
import { eventually } from './wait.ts'

/** As Kueue's own manifests call them. */
const NAMESPACE = 'kueue-system'
const ACCOUNT = 'kueue-controller-manager'
const SERVICE = 'kueue-webhook-service'
const SECRET = 'kueue-webhook-server-cert'
const CONFIG = 'kueue-manager-config'

/** What the manifests install and a process on this machine replaces, or does without. */
const LEFT_OUT = ['Deployment', 'Service', 'APIService', 'ConfigMap']
const WEBHOOKS = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']

/** Its CRDs are 1.6 MB, over which kubectl thinks for a while on a machine with other work. */
const LARGE = { timeoutMs: 200_000 }

/** With any of these Kueue gates pods by itself. */
const ON_PODS = ['pod', 'deployment', 'statefulset', 'leaderworkerset.x-k8s.io/leaderworkerset']

export interface KueueOptions {
  /** Whether Kueue queues pods by itself, as it is shipped, or leaves them to Muster. */
  readonly pods: boolean
  /** More of its configuration file. */
  readonly config?: Readonly<Record<string, unknown>>
}

interface Parts {
  readonly program: string
  /** The configuration file that it comes with. */
  readonly shipped: Configuration
  readonly folder: string
  /** Its webhook configurations, as text. */
  readonly webhooks: string
}

interface Configuration {
  readonly integrations: { readonly frameworks: readonly string[] }
}

/**
 * Kueue as `kubectl apply -k` installs it: its CRDs, its rights under its usual account, its webhooks, certificates of
 * its own making. Only that it runs beside the API server, and so its Service is a name of this machine.
 */
export class Kueue {
  /** Whom the certificate of its webhooks names. */
  static readonly hostname = `${SERVICE}.${NAMESPACE}.svc`

  readonly #plane: ControlPlane
  readonly #supervisor: Supervisor
  readonly #parts: Parts
  readonly #ports: { readonly webhook: number; readonly health: number }
  #running: Program | undefined

  private constructor(plane: ControlPlane, parts: Parts, ports: { readonly webhook: number; readonly health: number }) {
    this.#plane = plane
    this.#parts = parts
    this.#ports = ports
    this.#supervisor = new Supervisor(parts.folder, { keepFolder: true })
  }

  /** Everything but the program. From now on the API server asks it about every pod and Job, and refuses them. */
  static async install(plane: ControlPlane): Promise<Kueue> {
    const { kueue: program } = await ensurePrograms(KUEUE)
    const manifests = manifestsFolder('kueue', program)
    if (manifests === undefined) throw new Error('Kueue was built without its manifests')
    const [webhook = 0, health = 0] = await freePorts(2)
    const { stdout } = await plane.kubectl(['kustomize', join(manifests, 'default')], LARGE)
    // As text, since all that changes is a port.
    const documents = stdout
      .replaceAll(new RegExp(`^( +)name: ${SERVICE}$`, 'gm'), `$&\n$1port: ${webhook}`)
      .split(/^---$/m)
    const of = (kinds: readonly string[]) => (document: string) =>
      kinds.includes(/^kind: (\w+)$/m.exec(document)?.[1] ?? '')
    const applied = documents.filter(document => !of(LEFT_OUT)(document))
    await plane.kubectl(['apply', '--server-side', '-f', '-'], { ...LARGE, stdin: applied.join('---') })
    await plane.kubectl(['create', '-f', '-'], { stdin: service() })
    const crds = ['crd', '-l', 'app.kubernetes.io/name=kueue', '--timeout=30s']
    // Of a CRD that was made a moment ago kubectl cannot even see that it has no conditions yet.
    await eventually('its kinds are served', () => plane.kubectl(['wait', '--for=condition=Established', ...crds]))
    const shipped = await readFile(join(manifests, 'components/manager/controller_manager_config.yaml'), 'utf8')
    const folder = join(plane.folder, 'kueue')
    await mkdir(join(folder, 'certs'), { recursive: true })
    const webhooks = documents.filter(of(WEBHOOKS)).join('---')
    const parts = { program, shipped: parse(shipped) as Configuration, folder, webhooks }
    return new Kueue(plane, parts, { webhook, health })
  }

  /** Resolves when it is ready. */
  async start({ pods, config = {} }: KueueOptions): Promise<void> {
    const { frameworks } = this.#parts.shipped.integrations
    const text = stringify({
      ...this.#parts.shipped,
      integrations: { frameworks: pods ? frameworks : frameworks.filter(name => !ON_PODS.includes(name)) },
      leaderElection: { leaderElect: false },
      // Who asks it for places in its queues would have to reach it through a Service with an address.
      featureGates: { VisibilityOnDemand: false },
      metrics: { bindAddress: '0' },
      health: { healthProbeBindAddress: `127.0.0.1:${this.#ports.health}` },
      webhook: { host: '127.0.0.1', port: this.#ports.webhook, certDir: join(this.#parts.folder, 'certs') },
      ...config,
    })
    const file = join(this.#parts.folder, 'config.yaml')
    await writeFile(file, text)
    await this.#plane.kubectl(['apply', '-f', '-'], { stdin: configMap(text) })
    const kubeconfig = await this.#plane.serviceAccountKubeconfig(NAMESPACE, ACCOUNT)
    this.#running = this.#supervisor.start(this.#parts.program, [`--config=${file}`, '--zap-log-level=2'], {
      KUBECONFIG: kubeconfig,
    })
    await this.#mountCertificates()
    await this.#until('Kueue is ready', async () => {
      const { status } = await fetch(`http://127.0.0.1:${this.#ports.health}/readyz`)
      return status === 200
    })
  }

  /** As Kubernetes stops it. `start` brings it back. */
  async stop(): Promise<void> {
    await this.#running?.stop()
    this.#running = undefined
  }

  /** As the kernel does when memory is short. */
  async kill(): Promise<void> {
    await this.#running?.kill()
    this.#running = undefined
  }

  /** Stops, and nobody asks it any more. `register` has it asked again. */
  async withdraw(): Promise<void> {
    await this.stop()
    await this.#plane.kubectl(['delete', '-f', '-'], { stdin: this.#parts.webhooks })
  }

  /** Without those for pods, as docs/kueue.md has it where Muster gates them: they would say yes to everything. */
  async register({ pods }: Pick<KueueOptions, 'pods'>): Promise<void> {
    const { webhooks } = this.#parts
    const stdin = pods ? webhooks : withoutPods(webhooks)
    await this.#plane.kubectl(['apply', '--server-side', '-f', '-'], { stdin })
  }

  /** For good. */
  async close(): Promise<void> {
    await this.kill()
    await this.#supervisor.close()
  }

  get pid(): number {
    return this.#running?.pid ?? 0
  }

  /** Where its webhooks listen. */
  get port(): number {
    return this.#ports.webhook
  }

  /** As the kubelet would: Kueue writes what it has made into a Secret, and reads it as files. */
  async #mountCertificates(): Promise<void> {
    const files = await this.#until('Kueue has made its certificates', async () => {
      const { data } = await this.#plane.kubectl.json<{ data?: Record<string, string> }>([
        ...['get', 'secret', SECRET, '-n', NAMESPACE],
      ])
      return data?.['tls.crt'] !== undefined && data
    })
    for (const [name, content] of Object.entries(files)) {
      await writeFile(join(this.#parts.folder, 'certs', name), Buffer.from(content, 'base64'))
    }
  }

  async #until<T>(what: string, check: () => Promise<T>): Promise<Exclude<T, false | null | undefined>> {
    const alive = async (): Promise<T> => {
      const running = this.#running
      if (!running?.running) throw new Error(`Kueue ended:\n${lastLines(running?.logFile ?? '', 30)}`)
      return await check()
    }
    return await eventually(what, alive, { timeoutMs: 120_000 })
  }
}

function withoutPods(webhooks: string): string {
  const documents = parseAllDocuments(webhooks).map(document => document.toJS() as { webhooks: { name: string }[] })
  return documents
    .map(({ webhooks, ...rest }) =>
      stringify({ ...rest, webhooks: webhooks.filter(({ name }) => !KUEUE_POD_WEBHOOKS.includes(name)) }),
    )
    .join('---\n')
}

/** A Service with a name instead of an address is where the API server looks the name up: so it finds this machine. */
function service(): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: SERVICE, namespace: NAMESPACE },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  }
}

/** What an administrator would read, and edit. */
function configMap(text: string): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: CONFIG, namespace: NAMESPACE },
    data: { 'controller_manager_config.yaml': text },
  }
}
