import { ApiError, type KubeApi } from '../kube/vocabulary/api.ts'
import { SYSTEM_NAMESPACE } from '../kube/vocabulary/names.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import { SECRETS } from '../kube/vocabulary/resources.ts'
import {
  bundleCertificates,
  inspect,
  isDue,
  issueAuthority,
  issueLeaf,
  type KeyPair,
  pairProblem,
  type ServingPair,
} from './authority.ts'

export const TLS_SECRET = 'muster-tls'
const REF = { namespace: SYSTEM_NAMESPACE, name: TLS_SECRET }

export interface Secret extends KubeObject {
  readonly type?: string
  readonly data?: Readonly<Record<string, string>>
}

/**
 * The serving pair that all replicas share, made or renewed where needed. Whoever writes first wins: a create that
 * meets another's Secret, or an update that meets a newer one, is answered with 409 and the winner's pair is taken.
 */
export async function ensureSecret(api: KubeApi, names: readonly string[], now: number): Promise<ServingPair> {
  for (let attempt = 0; ; attempt++) {
    const found = await read(api)
    const pair = found === undefined ? undefined : servingPair(found)
    if (pair !== undefined && !isRenewalDue(pair, names, now)) return pair
    try {
      return await write(api, found, await renewed(found, names, now))
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409 || attempt >= 3) throw error
    }
  }
}

/** What a Secret of ours says, or undefined if it is no serving pair. */
export function servingPair(secret: Secret): ServingPair | undefined {
  const [certificate, key, bundle] = ['tls.crt', 'tls.key', 'ca.crt'].map(name => text(secret, name))
  return certificate && key && bundle ? { certificate, key, bundle } : undefined
}

function isRenewalDue(pair: ServingPair, names: readonly string[], now: number): boolean {
  return pairProblem(pair, names, now) !== undefined || isDue(pair.certificate, now)
}

/**
 * A new leaf of the CA that is there, or a new CA when that one is due itself. The old CA stays in the bundle while it
 * is valid: replicas that still serve its leaf, and API servers that still hold the old bundle, go on working.
 */
async function renewed(found: Secret | undefined, names: readonly string[], now: number): Promise<StoredPair> {
  const authority = found === undefined ? undefined : usableAuthority(found, now)
  if (authority !== undefined && found !== undefined) {
    const leaf = await issueLeaf(authority, names, now)
    return { ...leaf, bundle: text(found, 'ca.crt') ?? authority.certificate, authorityKey: authority.key }
  }
  const fresh = await issueAuthority(now)
  const leaf = await issueLeaf(fresh, names, now)
  const older = found === undefined ? [] : validAuthorities(text(found, 'ca.crt'), now)
  return { ...leaf, bundle: [fresh.certificate.trim(), ...older].join('\n'), authorityKey: fresh.key }
}

type StoredPair = ServingPair & { readonly authorityKey: string }

/** The newest CA stands first in the bundle; only that one signs. */
function usableAuthority(secret: Secret, now: number): KeyPair | undefined {
  const key = text(secret, 'ca.key')
  const [first] = validAuthorities(text(secret, 'ca.crt'), now)
  if (key === undefined || first === undefined || isDue(first, now)) return undefined
  const authority = { certificate: first, key }
  return pairProblem({ ...authority, bundle: first }, [], now) === undefined ? authority : undefined
}

function validAuthorities(bundle: string | undefined, now: number): readonly string[] {
  try {
    const certificates = bundleCertificates(bundle ?? '').map(certificate => certificate.toString().trim())
    return certificates.filter(certificate => inspect(certificate).notAfter > now)
  } catch {
    // Somebody broke the Secret: what cannot be read cannot be kept, and everything is made anew.
    return []
  }
}

async function read(api: KubeApi): Promise<Secret | undefined> {
  try {
    return await api.get<Secret>(SECRETS, REF)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

async function write(api: KubeApi, found: Secret | undefined, pair: StoredPair): Promise<ServingPair> {
  const files = { 'ca.crt': pair.bundle, 'ca.key': pair.authorityKey, 'tls.crt': pair.certificate, 'tls.key': pair.key }
  const data = Object.fromEntries(
    Object.entries(files).map(([name, content]) => [name, Buffer.from(content).toString('base64')]),
  )
  const labels = { 'app.kubernetes.io/name': 'muster', 'app.kubernetes.io/managed-by': 'muster' }
  if (found === undefined) {
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...REF, labels },
      type: 'kubernetes.io/tls',
      data,
    }
    await api.create(SECRETS, secret)
  } else {
    await api.replace<Secret>(SECRETS, REF, { ...found, data: { ...found.data, ...data } })
  }
  return { certificate: pair.certificate, key: pair.key, bundle: pair.bundle }
}

function text(secret: Secret, name: string): string | undefined {
  const encoded = secret.data?.[name]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8')
}
