import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments, stringify } from 'yaml'
import { untilServed } from './kinds.ts'
import type { Kubectl } from './kubectl.ts'
import type { PkiFiles } from './pki.ts'
import { freePorts } from './ports.ts'
import { eventually } from './wait.ts'

/** The account that JobSet's own manifests run its controller as, which is also Muster's default for JobSets. */
const ACCOUNT = { namespace: 'jobset-system', name: 'jobset-controller-manager' }

/** What the manifests install and a process on this machine replaces. */
const LEFT_OUT = ['Deployment', 'Service', 'Secret']
const WEBHOOKS = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']

interface Plane {
  readonly folder: string
  readonly ca: string
  readonly kubectl: Kubectl
  serviceAccountKubeconfig(namespace: string, name: string): Promise<string>
}

interface Parts {
  /** The folder `config` of the JobSet module. */
  readonly manifests: string
  readonly files: PkiFiles
  launch(args: readonly string[]): void
}

interface Manifest {
  readonly kind: string
  readonly spec?: { conversion?: unknown }
  readonly webhooks?: { clientConfig: { service?: { path: string }; url?: string; caBundle?: string } }[]
}

/**
 * The JobSet controller as `kubectl apply -k` installs it: its CRD, its rights under its usual account, its webhooks.
 * Only that it runs beside the API server, and so its webhooks are called by URL. They come last: they fail closed,
 * and what they default (selectors, indexes, the creation of Services) no JobSet can do without.
 */
export async function installJobSet(plane: Plane, { manifests, files, launch }: Parts): Promise<void> {
  const [webhookPort = 0, healthPort = 0] = await freePorts(2)
  const { stdout } = await plane.kubectl(['kustomize', join(manifests, 'default')])
  const documents = parseAllDocuments(stdout)
    .map(document => document.toJS() as Manifest)
    .filter(({ kind }) => !LEFT_OUT.includes(kind))
  const caBundle = Buffer.from(plane.ca).toString('base64')
  for (const { spec, webhooks = [] } of documents) {
    // One version is served, so nothing is ever converted.
    if (spec?.conversion !== undefined) delete spec.conversion
    for (const webhook of webhooks) {
      const { path } = webhook.clientConfig.service ?? {}
      webhook.clientConfig = { url: `https://127.0.0.1:${webhookPort}${path}`, caBundle }
    }
  }
  const apply = async (chosen: readonly Manifest[]) => {
    // Server-side: the CRD is larger than the annotation that a client-side apply would keep it in.
    const stdin = chosen.map(document => stringify(document)).join('---\n')
    await plane.kubectl(['apply', '--server-side', '-f', '-'], { stdin })
  }
  await apply(documents.filter(({ kind }) => !WEBHOOKS.includes(kind)))
  await untilServed(plane.kubectl, 'jobsets.jobset.x-k8s.io')

  const kubeconfig = await plane.serviceAccountKubeconfig(ACCOUNT.namespace, ACCOUNT.name)
  const folder = join(plane.folder, 'jobset-certs')
  await mkdir(folder)
  // The API server's own certificate names the loopback address, and its authority is at hand.
  await copyFile(files.serverCert, join(folder, 'tls.crt'))
  await copyFile(files.serverKey, join(folder, 'tls.key'))
  const config = join(plane.folder, 'jobset.yaml')
  await writeFile(
    config,
    stringify({
      apiVersion: 'config.jobset.x-k8s.io/v1alpha1',
      kind: 'Configuration',
      internalCertManagement: { enable: false },
      leaderElection: { leaderElect: false },
      metrics: { bindAddress: '0' },
      health: { healthProbeBindAddress: `127.0.0.1:${healthPort}` },
      webhook: { host: '127.0.0.1', port: webhookPort, certDir: folder },
    }),
  )
  launch([`--config=${config}`, `--kubeconfig=${kubeconfig}`])
  await eventually('the JobSet controller is ready', async () => {
    const { status } = await fetch(`http://127.0.0.1:${healthPort}/readyz`)
    return status === 200
  })
  await apply(documents.filter(({ kind }) => WEBHOOKS.includes(kind)))
}
