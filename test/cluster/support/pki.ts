import { generateKeyPairSync } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generate } from 'selfsigned'

export interface KeyPair {
  readonly cert: string
  readonly key: string
}

/** Who a client certificate stands for: the API server reads the user from CN and the group from O. */
export interface Identity {
  readonly user: string
  readonly group?: string
}

const COMMON = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const

// A minute back, so that the certificate is valid at once for a program that rounds its clock down.
function validity(): { notBeforeDate: Date; notAfterDate: Date } {
  return { notBeforeDate: new Date(Date.now() - 60_000), notAfterDate: new Date(Date.now() + 86_400_000) }
}

export async function createCa(): Promise<KeyPair> {
  const pems = await generate([{ name: 'commonName', value: 'muster-test-ca' }], {
    ...COMMON,
    ...validity(),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, digitalSignature: true, critical: true },
    ],
  })
  return { cert: pems.cert, key: pems.private }
}

export async function createServerCertificate(ca: KeyPair): Promise<KeyPair> {
  const pems = await generate([{ name: 'commonName', value: 'kube-apiserver' }], {
    ...COMMON,
    ...validity(),
    ca,
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 2, value: 'kubernetes.default.svc' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  })
  return { cert: pems.cert, key: pems.private }
}

export async function createClientCertificate(ca: KeyPair, identity: Identity): Promise<KeyPair> {
  const organization = identity.group ? [{ name: 'organizationName', value: identity.group }] : []
  const pems = await generate([...organization, { name: 'commonName', value: identity.user }], {
    ...COMMON,
    ...validity(),
    ca,
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', clientAuth: true },
    ],
  })
  return { cert: pems.cert, key: pems.private }
}

/** The credentials of a kubeconfig: a client certificate, or a bearer token. */
export type Credentials = KeyPair | { readonly token: string }

export function kubeconfig(server: string, ca: string, credentials: Credentials): string {
  const base64 = (pem: string) => Buffer.from(pem).toString('base64')
  const user =
    'token' in credentials
      ? { token: credentials.token }
      : { 'client-certificate-data': base64(credentials.cert), 'client-key-data': base64(credentials.key) }
  // JSON is YAML, and needs no quoting rules.
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  })
}

/** Every file that the API server and the controller manager are given by name. */
export interface PkiFiles {
  readonly caCert: string
  readonly caKey: string
  readonly serverCert: string
  readonly serverKey: string
  readonly serviceAccountPublicKey: string
  readonly serviceAccountPrivateKey: string
}

export async function writePki(folder: string, ca: KeyPair): Promise<PkiFiles> {
  await mkdir(folder, { recursive: true })
  const server = await createServerCertificate(ca)
  const serviceAccount = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
  })
  const write = async (name: string, content: string): Promise<string> => {
    const path = join(folder, name)
    await writeFile(path, content, { mode: 0o600 })
    return path
  }
  return {
    caCert: await write('ca.crt', ca.cert),
    caKey: await write('ca.key', ca.key),
    serverCert: await write('apiserver.crt', server.cert),
    serverKey: await write('apiserver.key', server.key),
    serviceAccountPublicKey: await write('sa.pub', serviceAccount.publicKey),
    serviceAccountPrivateKey: await write('sa.key', serviceAccount.privateKey),
  }
}
