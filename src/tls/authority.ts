import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { SERVICE_NAME, SYSTEM_NAMESPACE } from '../kube/vocabulary/names.ts'
import { type Authority, LIFE_MS, type PairFacts } from './rotation.ts'

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

/** What a server presents, and the CA certificates (PEM, one or more) by which clients judge it. */
export interface ServingPair extends KeyPair {
  readonly bundle: string
}

/** Whoever calls Muster, from a laptop or through the Service, finds the name it used. */
export const SERVING_NAMES: readonly string[] = [
  'localhost',
  '127.0.0.1',
  '::1',
  SERVICE_NAME,
  `${SERVICE_NAME}.${SYSTEM_NAMESPACE}`,
  `${SERVICE_NAME}.${SYSTEM_NAMESPACE}.svc`,
  `${SERVICE_NAME}.${SYSTEM_NAMESPACE}.svc.cluster.local`,
]

const HOUR = 3_600_000

/**
 * A serving certificate with an authority of its own, whose key is forgotten here: nobody who breaks into a replica can
 * make another. So every renewal is a change of authority, and what is done three times in two months is known to work.
 */
export async function issuePair(names: readonly string[], now: number): Promise<ServingPair> {
  const authority = await issueAuthority(now)
  return { ...(await issueLeaf(authority, names, now)), bundle: bundleOf(authoritiesIn(authority.certificate)) }
}

/**
 * A new CA. Its name has a random part, because the certificates carry no key identifiers: while two CAs overlap in
 * a bundle, the name is how a client finds the one that signed.
 */
export async function issueAuthority(now: number): Promise<KeyPair> {
  return await generate(`Muster CA ${randomBytes(8).toString('hex')}`, now, now + LIFE_MS, [
    { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
  ])
}

/** A serving certificate for the given host names and addresses. It never outlives its CA. */
export async function issueLeaf(authority: KeyPair, names: readonly string[], now: number): Promise<KeyPair> {
  const notAfter = Math.min(now + LIFE_MS, inspect(authority.certificate).notAfter)
  return await generate(
    'Muster',
    now,
    notAfter,
    [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: names.map(name => (isIP(name) ? { type: 7 as const, ip: name } : { type: 2 as const, value: name })),
      },
    ],
    authority,
  )
}

type Options = NonNullable<Parameters<typeof import('selfsigned').generate>[1]>

/**
 * selfsigned signs with SHA-1 unless told otherwise, which Go refuses, and with an RSA key where Muster wants P-256.
 * It is loaded here and not at the top: a server that finds its certificates in place never needs it.
 * An hour is given to clocks that are behind ours.
 */
async function generate(
  commonName: string,
  now: number,
  notAfter: number,
  extensions: NonNullable<Options['extensions']>,
  signer?: KeyPair,
): Promise<KeyPair> {
  const selfsigned = await import('selfsigned')
  const made = await selfsigned.generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - HOUR),
    notAfterDate: new Date(notAfter),
    extensions,
    ...(signer ? { ca: { key: signer.key, cert: signer.certificate } } : undefined),
  })
  return { certificate: made.cert, key: made.private }
}

export interface CertificateFacts {
  readonly notBefore: number
  readonly notAfter: number
  /** Host names and addresses, as Node writes them: `::1` is `0:0:0:0:0:0:0:1`. */
  readonly names: readonly string[]
  readonly authority: boolean
  readonly fingerprint: string
}

/** Throws when the PEM holds no certificate. */
export function inspect(pem: string): CertificateFacts {
  const certificate = new X509Certificate(pem)
  return {
    notBefore: certificate.validFromDate.getTime(),
    notAfter: certificate.validToDate.getTime(),
    names: (certificate.subjectAltName ?? '').split(', ').map(name => name.replace(/^(?:DNS|IP Address):/, '')),
    authority: certificate.ca,
    fingerprint: certificate.fingerprint256,
  }
}

/** Every certificate of a bundle. Throws when there is none or one cannot be read. */
export function bundleCertificates(bundle: string): readonly X509Certificate[] {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) throw new Error('the CA bundle holds no certificate')
  return blocks.map(block => new X509Certificate(block))
}

/** Why no client would ever accept the pair, or what a client that trusts the bundle makes of it, and when. */
export function readPair(pair: ServingPair, names: readonly string[]): PairFacts | string {
  try {
    const leaf = new X509Certificate(pair.certificate)
    if (!leaf.checkPrivateKey(createPrivateKey(pair.key))) return 'the private key does not belong to the certificate'
    const issuer = bundleCertificates(pair.bundle).find(ca => leaf.checkIssued(ca) && leaf.verify(ca.publicKey))
    if (issuer === undefined) return 'no CA of the bundle has signed the certificate'
    if (!issuer.ca) return 'the certificate that signed is not a CA'
    const missing = names.find(name => !covers(leaf, name))
    if (missing !== undefined) return `the certificate does not name ${missing}`
    return {
      authority: authorityOf(issuer),
      notBefore: Math.max(leaf.validFromDate.getTime(), issuer.validFromDate.getTime()),
      notAfter: Math.min(leaf.validToDate.getTime(), issuer.validToDate.getTime()),
    }
  } catch (error) {
    return `unreadable certificate or key: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Why a pair must not be served, or undefined when a client that trusts the bundle accepts it now. */
export function pairProblem(pair: ServingPair, names: readonly string[], now: number): string | undefined {
  const facts = readPair(pair, names)
  if (typeof facts === 'string') return facts
  const day = (time: number) => new Date(time).toISOString()
  if (now < facts.notBefore) return `the certificate, or its CA, is valid only from ${day(facts.notBefore)}`
  if (now >= facts.notAfter) return `the certificate, or its CA, expired on ${day(facts.notAfter)}`
  return undefined
}

function covers(certificate: X509Certificate, name: string): boolean {
  return (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name, { subject: 'never' })) !== undefined
}

/** The CAs of a bundle; none where there is no bundle, or one that nobody can read. */
export function authoritiesIn(bundle: string | undefined): readonly Authority[] {
  try {
    return bundleCertificates(bundle ?? '').map(authorityOf)
  } catch {
    return []
  }
}

function authorityOf(certificate: X509Certificate): Authority {
  return {
    fingerprint: certificate.fingerprint256,
    notAfter: certificate.validToDate.getTime(),
    certificate: certificate.toString().trim(),
  }
}

/** As it is stored and installed. */
export const bundleOf = (authorities: readonly Authority[]): string =>
  authorities.map(({ certificate }) => `${certificate}\n`).join('')
