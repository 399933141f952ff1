import { existsSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import path from 'node:path'
import { bufferFromFileOrString, type Cluster, KubeConfig } from '@kubernetes/client-node'
import type { Access } from './access.ts'

export interface OpenedKubeconfig {
  readonly server: URL
  /** That of the context, if it names one. */
  readonly namespace: string | undefined
  /** Runs an exec plugin if the user entry names one; the plugin's answer is kept until it expires. */
  access(): Promise<Access>
}

/**
 * Reads a kubeconfig file with the official client, which knows all the ways to log in. Importing this module is
 * expensive for the same reason; only `kubeconfig-reader.ts` does, in a process of its own.
 */
export async function loadKubeconfig(file: string, context?: string): Promise<OpenedKubeconfig> {
  const config = readFiles(file)
  const chosen = chooseContext(config, file, context)
  config.setCurrentContext(chosen)
  const cluster = config.getCurrentCluster()
  const { cluster: named, user, namespace } = config.getContextObject(chosen) ?? {}
  const itsContext = `kubeconfig ${file}: context "${chosen}" names`
  if (!cluster) throw new Error(`${itsContext} cluster "${named}", which is not there`)
  // The official client would go on without credentials, and everything would be forbidden to nobody.
  if (user && !config.getUser(user)) throw new Error(`${itsContext} user "${user}", who is not there`)
  if (!cluster.server) throw new Error(`kubeconfig ${file}: context "${chosen}" names a cluster that has no server`)
  if (cluster.proxyUrl) throw new Error(`kubeconfig ${file}: cluster "${cluster.name}" has a proxy-url: not supported`)
  return { server: serverOf(cluster, file), namespace, access: () => accessOf(config, cluster, file) }
}

/** One file, or a list of them as `KUBECONFIG` may be: what comes first counts, and what is not there is passed over. */
function readFiles(file: string): KubeConfig {
  const listed = existsSync(file) ? [] : file.split(path.delimiter).filter(each => existsSync(each))
  const config = new KubeConfig()
  for (const [index, each] of (listed.length > 0 ? listed : [file]).entries()) {
    try {
      const next = index === 0 ? config : new KubeConfig()
      next.loadFromFile(each)
      if (next !== config) config.mergeConfig(next, Boolean(config.getCurrentContext()))
    } catch (error) {
      // What follows the first line is a piece of the file, and may be somebody's token.
      throw new Error(`cannot read the kubeconfig ${each}: ${(error as Error).message.split('\n')[0]}`)
    }
  }
  return config
}

function chooseContext(config: KubeConfig, file: string, wanted: string | undefined): string {
  const names = (config.getContexts() ?? []).map(({ name }) => name)
  const chosen = wanted ?? config.getCurrentContext()
  const known = names.length > 0 ? `known contexts: ${names.join(', ')}` : 'it has no contexts'
  if (!chosen) throw new Error(`kubeconfig ${file} has no current-context: choose one with --context (${known})`)
  if (!names.includes(chosen)) throw new Error(`kubeconfig ${file} has no context "${chosen}" (${known})`)
  return chosen
}

function serverOf(cluster: Cluster, file: string): URL {
  if (URL.canParse(cluster.server)) {
    const url = new URL(cluster.server)
    if (url.protocol === 'https:' || url.protocol === 'http:') return url
  }
  throw new Error(
    `kubeconfig ${file}: cluster "${cluster.name}" has server "${cluster.server}", which is no http(s) URL`,
  )
}

async function accessOf(config: KubeConfig, cluster: Cluster, file: string): Promise<Access> {
  const options: RequestOptions = {}
  try {
    await config.applyToHTTPSOptions(options)
  } catch (error) {
    throw new Error(`kubeconfig ${file}: cannot log in to cluster "${cluster.name}": ${(error as Error).message}`)
  }
  const { cert, key, servername, rejectUnauthorized } = options
  // The library leaves the authority out when the context names no user.
  const ca = options.ca ?? bufferFromFileOrString(cluster.caFile, cluster.caData)
  return {
    headers: headersOf(options),
    tls: {
      ...(isMaterial(ca) && { ca: ca.toString() }),
      ...(isMaterial(cert) && { cert: cert.toString() }),
      ...(isMaterial(key) && { key: key.toString() }),
      ...(servername && { servername }),
      ...((rejectUnauthorized === false || cluster.skipTLSVerify) && { rejectUnauthorized: false }),
    },
  }
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value)
  if (options.auth) headers.authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`
  return headers
}

function isMaterial(value: unknown): value is string | Buffer {
  return typeof value === 'string' || Buffer.isBuffer(value)
}
