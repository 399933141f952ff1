import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Clock } from '../vocabulary/clock.ts'
import type { Access } from './access.ts'
import { readKubeconfig } from './kubeconfig-process.ts'

export interface Credentials {
  readonly server: URL
  /** Where whoever names no namespace means to look, if the credentials say so. */
  readonly namespace?: string
  /** `refresh`: the server has just refused what we had, so whatever is cached is not good enough. */
  access(refresh: boolean): Promise<Access>
}

const SERVICE_ACCOUNT_DIR = '/var/run/secrets/kubernetes.io/serviceaccount'
/** The kubelet renews the token well before it expires; client-go looks as often. */
const TOKEN_TRUSTED_MS = 60_000
/** Reading a kubeconfig is expensive. Tokens of cloud tools last a quarter of an hour at least, and a 401 reads it at once. */
const KUBECONFIG_TRUSTED_MS = 10 * 60_000

export interface InClusterOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly dir?: string
}

/** The service account of the pod we run in. */
export async function inClusterCredentials(options: InClusterOptions): Promise<Credentials> {
  const { env, clock, dir = SERVICE_ACCOUNT_DIR } = options
  const host = env.KUBERNETES_SERVICE_HOST
  const port = env.KUBERNETES_SERVICE_PORT
  if (!host || !port) {
    throw new Error(
      'not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; outside a cluster use --kubeconfig FILE',
    )
  }
  const server = serverUrl(host, port)
  const load = async (): Promise<Access> => {
    const token = await readMounted(path.join(dir, 'token'), 'service account token')
    const ca = await readMounted(path.join(dir, 'ca.crt'), 'certificate authority of the cluster')
    return { headers: { authorization: `Bearer ${token}` }, tls: { ca } }
  }
  return cached(server, clock, await load(), load, TOKEN_TRUSTED_MS)
}

export interface KubeconfigOptions {
  readonly file: string
  /** Default: the file's current-context. */
  readonly context?: string
  readonly clock: Clock
}

/** A kubeconfig file, named by the user: never the one that happens to lie in the home folder. */
export async function kubeconfigCredentials({ file, context, clock }: KubeconfigOptions): Promise<Credentials> {
  const { server, namespace, access } = await readKubeconfig(file, context)
  // Each time the file is read again, because `kubectl` and cloud tools rewrite it, and exec plugins are asked afresh.
  const reload = async () => (await readKubeconfig(file, context)).access
  const credentials = cached(new URL(server), clock, access, reload, KUBECONFIG_TRUSTED_MS)
  return { ...credentials, ...(namespace !== undefined && { namespace }) }
}

/** The same in somebody else's name, for whoever may take it: the API server decides that. */
export function impersonating(credentials: Credentials, user: string): Credentials {
  return {
    ...credentials,
    access: async refresh => {
      const { headers, tls } = await credentials.access(refresh)
      return { headers: { ...headers, 'impersonate-user': user }, tls }
    },
  }
}

/** Reloads when asked or after a while; a reload that fails leaves what we have, which the server may still accept. */
function cached(server: URL, clock: Clock, first: Access, load: () => Promise<Access>, trustedMs: number): Credentials {
  let access = first
  let loadedAt = clock.monotonic()
  let loading: Promise<Access> | undefined
  const reload = async () => {
    try {
      access = await load()
    } catch {
      // The server's own answer to the old credentials tells more than a file that is just being replaced.
    }
    loadedAt = clock.monotonic()
    loading = undefined
    return access
  }
  return {
    server,
    access: async refresh => {
      if (loading) return loading
      if (!refresh && clock.monotonic() - loadedAt < trustedMs) return access
      loading = reload()
      return loading
    },
  }
}

function serverUrl(host: string, port: string): URL {
  const authority = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  if (!/^\d{1,5}$/.test(port) || !URL.canParse(`https://${authority}:${port}`)) {
    throw new Error(`KUBERNETES_SERVICE_HOST=${host} and KUBERNETES_SERVICE_PORT=${port} do not make an address`)
  }
  return new URL(`https://${authority}:${port}`)
}

async function readMounted(file: string, what: string): Promise<string> {
  let text: string
  try {
    text = (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw new Error(`cannot read the ${what} ${file}: ${(error as Error).message}; is the token mounted into the pod?`)
  }
  if (text === '') throw new Error(`the ${what} ${file} is empty`)
  return text
}
