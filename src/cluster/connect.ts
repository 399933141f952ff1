import { type Credentials, inClusterCredentials, kubeconfigCredentials } from '../kube/client/credentials.ts'
import { ApiError, type KubeApi } from '../kube/vocabulary/api.ts'
import type { Clock } from '../kube/vocabulary/clock.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import { SELF_SUBJECT_REVIEWS } from '../kube/vocabulary/resources.ts'

/**
 * The cluster this process is meant to serve: the one a flag names, or the one it runs in. `KUBECONFIG` and the
 * kubeconfig in the home folder are not enough: trying Muster out must never touch the cluster that a laptop
 * happens to point at.
 */
export async function findCluster(options: {
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}): Promise<Credentials | undefined> {
  const { kubeconfig: file, context, env, clock } = options
  if (file === undefined && context !== undefined) {
    throw new Error('--context is one of a kubeconfig file: name the file, too, with --kubeconfig')
  }
  if (file !== undefined) return await kubeconfigCredentials({ file, clock, ...(context && { context }) })
  return env.KUBERNETES_SERVICE_HOST ? await inClusterCredentials({ env, clock }) : undefined
}

interface SelfSubjectReview extends KubeObject {
  readonly status?: { readonly userInfo?: { readonly username?: string } }
}

/** Muster's own user name is what the API server says it is: the guard lets exactly that one lift gates. */
export async function whoAmI(api: KubeApi): Promise<string> {
  const question: SelfSubjectReview = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    metadata: {},
  }
  const answer = await api.create(SELF_SUBJECT_REVIEWS, question)
  const username = answer.status?.userInfo?.username
  if (!username) throw new Error('the API server did not say who Muster is (SelfSubjectReview without userInfo)')
  return username
}

/** One line for the terminal: what failed, and what to do about it. */
export function explainApiFailure(error: unknown, server: string): string {
  if (error instanceof ApiError) {
    if (error.status === 401) return `${server} does not accept the credentials: ${error.message}`
    if (error.status === 403) return `${error.message}; Muster needs the rights of manifests/base/rbac.yaml`
    return `${server} answered ${error.status}: ${error.message}`
  }
  const message = error instanceof Error ? error.message : String(error)
  if (!isUntrusted(error)) return `${server} cannot be reached: ${message}`
  // Node speaks to who writes programs: its flags are not what a kubeconfig needs.
  const [why] = message.split(';')
  return `${server} is not trusted: the certificate authority of the kubeconfig has not signed its certificate (${why})`
}

const UNTRUSTED = ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT']

const isUntrusted = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && UNTRUSTED.includes(String(error.code))
