import { ApiError, type KubeApi } from '../kube/vocabulary/api.ts'
import { SYSTEM_NAMESPACE } from '../kube/vocabulary/names.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import { SECRETS } from '../kube/vocabulary/resources.ts'
import type { KeyPair, ServingPair } from './authority.ts'
import { type CertificateRecord, currentPair, NAMES, NOTHING, rewritten, storedFacts } from './record.ts'
import { decideRotation, type Rotation } from './rotation.ts'

export const TLS_SECRET = 'muster-tls'
const REF = { namespace: SYSTEM_NAMESPACE, name: TLS_SECRET }
const MANAGED_BY = 'app.kubernetes.io/managed-by'

/** What earlier versions kept in it: with this key everybody who reads the Secret could make certificates. */
const AUTHORITY_KEY = 'ca.key'

export interface Secret extends KubeObject {
  readonly type?: string
  readonly data?: Readonly<Record<string, string>>
}

/**
 * The pair to begin with: that of the Secret, which is made if it is not there or is of no use. All further steps wait
 * until the bundles have been read. Whoever writes first wins: a create that meets another's Secret, or an update that
 * meets a newer one, is answered with 409, and the winner's pair is taken.
 */
export async function firstPair(api: KubeApi, names: readonly string[], now: number): Promise<ServingPair> {
  for (let attempt = 0; ; attempt++) {
    const found = await read(api)
    const record = recordIn(found)
    const { record: step } = decideRotation(storedFacts(record, names, 0), undefined, now)
    try {
      const written = step === 'issue' || step === 'promote' ? await takeStep(api, found, step, names, now) : found
      const pair = currentPair(recordIn(written))
      if (pair !== undefined) return pair
      throw new Error(
        `Secret ${SYSTEM_NAMESPACE}/${TLS_SECRET} is not Muster's to write (${MANAGED_BY}) and holds no tls.crt, tls.key and ca.crt: whoever makes it has to`,
      )
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409 || attempt >= 3) throw error
    }
  }
}

/** A Secret that does not say that Muster manages it is somebody else's: cert-manager's, perhaps. */
export function recordIn(secret: Secret | undefined): CertificateRecord {
  if (secret === undefined) return NOTHING
  const pair = (keys: { certificate: string; key: string }): KeyPair | undefined => {
    const [certificate, key] = [text(secret, keys.certificate), text(secret, keys.key)]
    return certificate && key ? { certificate, key } : undefined
  }
  return {
    ours: secret.metadata.labels?.[MANAGED_BY] === 'muster',
    current: pair(NAMES.current),
    next: pair(NAMES.next),
    bundle: text(secret, NAMES.bundle) ?? '',
  }
}

/** One write, which fails with 409 if the Secret is another by now. Returns the Secret as it is then. */
export async function takeStep(
  api: KubeApi,
  found: Secret | undefined,
  step: Exclude<Rotation['record'], 'keep'>,
  names: readonly string[],
  now: number,
): Promise<Secret> {
  const record = await rewritten(recordIn(found), step, names, now)
  const data = dataOf(record)
  if (found !== undefined) {
    const {
      [AUTHORITY_KEY]: _,
      [NAMES.next.certificate]: _certificate,
      [NAMES.next.key]: _key,
      ...theirs
    } = found.data ?? {}
    return await api.replace<Secret>(SECRETS, REF, { ...found, data: { ...theirs, ...data } })
  }
  const labels = { 'app.kubernetes.io/name': 'muster', [MANAGED_BY]: 'muster' }
  return await api.create<Secret>(SECRETS, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...REF, labels },
    type: 'kubernetes.io/tls',
    data,
  })
}

function dataOf({ current, next, bundle }: CertificateRecord): Record<string, string> {
  const files = { [NAMES.bundle]: bundle, ...named(NAMES.current, current), ...named(NAMES.next, next) }
  return Object.fromEntries(
    Object.entries(files).map(([name, content]) => [name, Buffer.from(content).toString('base64')]),
  )
}

function named(keys: { certificate: string; key: string }, pair: KeyPair | undefined): Record<string, string> {
  return pair === undefined ? {} : { [keys.certificate]: pair.certificate, [keys.key]: pair.key }
}

async function read(api: KubeApi): Promise<Secret | undefined> {
  try {
    return await api.get<Secret>(SECRETS, REF)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

function text(secret: Secret, name: string): string | undefined {
  const encoded = secret.data?.[name]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8')
}
