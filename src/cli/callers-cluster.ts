import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { explainApiFailure } from '../cluster/connect.ts'
import type { Configuration } from '../config/configuration.ts'
import { formatUnreadable } from '../documents/place.ts'
import { createKubeClient, type KubeClient, type KubeClientOptions } from '../kube/client/client.ts'
import { type Credentials, inClusterCredentials, kubeconfigCredentials } from '../kube/client/credentials.ts'
import { ApiError } from '../kube/vocabulary/api.ts'
import { systemClock } from '../kube/vocabulary/clock.ts'
import { CannotLook } from './command.ts'
import { readConfiguration } from './configuration.ts'
import { type Parsed, UsageError } from './flags.ts'
import { OutputError } from './outputs.ts'

export interface CallersCluster {
  readonly api: KubeClient
  readonly credentials: Credentials
  /** Where to look when `--namespace` is not given. */
  readonly namespace: string
}

/**
 * The cluster that kubectl would ask, with the caller's own rights. Only what a person runs does it this way: what
 * `muster serve` would write into must be named.
 */
export async function openCallersCluster(flags: Parsed, onCall?: KubeClientOptions['onCall']): Promise<CallersCluster> {
  const credentials = await findCredentials(flags).catch(error => {
    throw new CannotLook(error instanceof Error ? error.message : String(error))
  })
  const api = createKubeClient({ credentials, clock: systemClock, ...(onCall && { onCall }) })
  return { api, credentials, namespace: flags.text('namespace') ?? credentials.namespace ?? 'default' }
}

async function findCredentials(flags: Parsed): Promise<Credentials> {
  const context = flags.text('context')
  const home = join(homedir(), '.kube', 'config')
  const file = flags.text('kubeconfig') ?? (process.env.KUBECONFIG || (existsSync(home) ? home : undefined))
  if (file !== undefined) return await kubeconfigCredentials({ file, clock: systemClock, ...(context && { context }) })
  if (process.env.KUBERNETES_SERVICE_HOST) return await inClusterCredentials({ env: process.env, clock: systemClock })
  throw new Error(`no cluster to ask: name a kubeconfig with --kubeconfig or KUBECONFIG; there is no ${home}`)
}

/** Asks the cluster, and lets go of it whatever comes. A cluster that does not answer is the caller's to hear of. */
export async function asking<T>(cluster: CallersCluster, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw new CannotLook(failureOf(error, cluster))
  } finally {
    await cluster.api.close()
  }
}

/** What the API server or the network says, for the caller. Throws what is neither. */
export function failureOf(error: unknown, { credentials }: CallersCluster): string {
  if (isOurs(error)) throw error
  if (error instanceof ApiError && error.status === 403) {
    return `${credentials.server.origin}: ${error.message}; choose a context whose user may do that with --context`
  }
  return explainApiFailure(error, credentials.server.origin)
}

/** Not what the API server or the network says: bugs of ours, and what is for the caller as it is. */
const isOurs = (error: unknown): boolean =>
  [TypeError, RangeError, ReferenceError, SyntaxError, CannotLook, UsageError, OutputError].some(
    kind => error instanceof kind,
  )

/** `--config`, read; undefined when it is not given. */
export async function givenConfiguration(flags: Parsed): Promise<Configuration | undefined> {
  const file = flags.text('config')
  if (file === undefined) return undefined
  const read = await readConfiguration(file)
  if (!('length' in read)) return read
  throw new CannotLook(read.map(formatUnreadable).join('\n'))
}
