import { execFile } from 'node:child_process'
import { createPublicKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { inspect, issueAuthority, issueLeaf, pairProblem, SERVING_NAMES } from '../../src/tls/authority.ts'
import { issuePair } from '../support/tls.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const run = promisify(execFile)

describe('the certificates that Muster makes', () => {
  it('are P-256 with SHA-256, the CA for signing only, the leaf for serving only', async () => {
    const now = Date.UTC(2026, 0, 1)
    const authority = await issueAuthority(now)
    const leaf = await issueLeaf(authority, SERVING_NAMES, now)
    const folder = await mkdtemp(join(tmpdir(), 'muster-tls-'))
    try {
      const text = async (pem: string) => {
        const file = join(folder, 'certificate.pem')
        await writeFile(file, pem)
        return (await run('openssl', ['x509', '-in', file, '-noout', '-text'])).stdout.replace(/\s+/g, ' ')
      }
      const ca = await text(authority.certificate)
      expect(ca).toContain('Signature Algorithm: ecdsa-with-SHA256')
      expect(ca).toContain('Basic Constraints: critical CA:TRUE, pathlen:0')
      expect(ca).toContain('Key Usage: critical Certificate Sign, CRL Sign')
      const serving = await text(leaf.certificate)
      expect(serving).toContain('Signature Algorithm: ecdsa-with-SHA256')
      expect(serving).toContain('Basic Constraints: critical CA:FALSE')
      expect(serving).toContain('Key Usage: critical Digital Signature')
      expect(serving).toContain('Extended Key Usage: TLS Web Server Authentication')

      await writeFile(join(folder, 'ca.pem'), authority.certificate)
      await writeFile(join(folder, 'leaf.pem'), leaf.certificate)
      const at = String(now / 1000)
      const verified = await run('openssl', [
        ...['verify', '-attime', at, '-purpose', 'sslserver', '-verify_hostname', 'muster.muster-system.svc'],
        ...['-CAfile', join(folder, 'ca.pem'), join(folder, 'leaf.pem')],
      ])
      expect(verified.stdout).toContain('OK')
    } finally {
      await rm(folder, { recursive: true })
    }
    for (const { certificate } of [authority, leaf]) {
      const { asymmetricKeyDetails } = createPublicKey(certificate)
      expect(asymmetricKeyDetails?.namedCurve).toBe('prime256v1')
      expect(inspect(certificate).notBefore).toBe(now - HOUR)
    }
    for (const { certificate } of [authority, leaf]) expect(inspect(certificate).notAfter).toBe(now + 30 * DAY)
  })

  it('name every way by which Muster is called, as a TLS client checks it', async () => {
    const pair = await issuePair()
    const server = createServer({ key: pair.key, cert: pair.certificate }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const dial = async (servername: string) => {
      const options = /^[\d.:]+$/.test(servername) ? { host: servername } : { servername }
      const socket = connect({ port, ca: pair.bundle, host: '127.0.0.1', ...options, lookup: undefined })
      try {
        await once(socket, 'secureConnect')
        return 'ok'
      } catch (error) {
        return (error as NodeJS.ErrnoException).code
      } finally {
        socket.destroy()
      }
    }
    try {
      for (const name of SERVING_NAMES.filter(name => name !== '::1'))
        expect([name, await dial(name)]).toEqual([name, 'ok'])
      expect(await dial('muster.elsewhere.svc')).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
      expect(new X509Certificate(pair.certificate).checkIP('::1')).toBe('::1')
    } finally {
      server.close()
    }
  })

  it('never repeat a serial number or the name of a CA', async () => {
    const now = Date.now()
    const authorities = await Promise.all([issueAuthority(now), issueAuthority(now)])
    const [one, two] = authorities.map(({ certificate }) => new X509Certificate(certificate))
    expect(one?.subject).not.toBe(two?.subject)
    expect(one?.serialNumber).not.toBe(two?.serialNumber)
  })

  it('end with their CA', async () => {
    const now = Date.now()
    const authority = await issueAuthority(now - 20 * DAY)
    const leaf = await issueLeaf(authority, ['localhost'], now)
    expect(inspect(leaf.certificate).notAfter).toBe(inspect(authority.certificate).notAfter)
  })
})

describe('a pair that must not be served', () => {
  it('is told apart from a good one, with the reason', async () => {
    const now = Date.now()
    const [good, other] = await Promise.all([issuePair(), issuePair()])
    expect(pairProblem(good, SERVING_NAMES, now)).toBeUndefined()
    expect(pairProblem({ ...good, bundle: other.bundle + good.bundle }, SERVING_NAMES, now)).toBeUndefined()
    const problem = (change: Partial<typeof good>, names = SERVING_NAMES, at = now) =>
      pairProblem({ ...good, ...change }, names, at)
    expect(problem({ key: other.key })).toContain('private key does not belong')
    expect(problem({ bundle: other.bundle })).toContain('no CA of the bundle has signed')
    expect(problem({ bundle: good.certificate })).toContain('no CA of the bundle has signed')
    expect(problem({ bundle: '' })).toContain('the CA bundle holds no certificate')
    expect(problem({ certificate: 'garbage' })).toContain('unreadable certificate or key')
    expect(problem({ key: 'garbage' })).toContain('unreadable certificate or key')
    expect(problem({}, ['example.org'])).toBe('the certificate does not name example.org')
    expect(problem({}, SERVING_NAMES, now + 31 * DAY)).toContain('the certificate, or its CA, expired on')
    expect(problem({}, SERVING_NAMES, now - 2 * HOUR)).toContain('is valid only from')
  })
})
