import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createKubeClient, type KubeClient } from '../../src/kube/client/client.ts'
import { type Clock, systemClock } from '../../src/kube/vocabulary/clock.ts'
import type { InstalledConfiguration } from '../../src/kube/vocabulary/webhook-configurations.ts'
import { authoritiesIn, readPair, SERVING_NAMES, type ServingPair } from '../../src/tls/authority.ts'
import type { CertificateRecord } from '../../src/tls/record.ts'
import { Rotator } from '../../src/tls/rotator.ts'
import { recordIn, type Secret } from '../../src/tls/secret.ts'
import { TlsStore } from '../../src/tls/store.ts'
import { caBundle } from '../../src/tls/trust.ts'
import { eventually } from '../support/eventually.ts'
import { FakeApiServer, sendStatus } from '../support/fake-api-server.ts'
import { impatientClock } from '../support/impatient-clock.ts'
import { recordingLog } from '../support/logs.ts'
import { nobody } from '../support/observers.ts'
import { issuePair } from '../support/tls.ts'

const SECRETS = '/api/v1/namespaces/muster-system/secrets'
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1'
const MUTATING = `${REGISTRATION}/mutatingwebhookconfigurations`
const VALIDATING = `${REGISTRATION}/validatingwebhookconfigurations`

let server: FakeApiServer
let client: KubeClient
let rotator: Rotator
let store: TlsStore
let pair: ServingPair
let refusedPairs: number
/** How far the wall clock is ahead. */
let later: number
/** What was installed each time that another certificate was served. */
let served: { readonly bundles: readonly string[] }[]

const DAY = 86_400_000

const isTrusted = (served: ServingPair, bundle: string): boolean =>
  typeof readPair({ ...served, bundle }, SERVING_NAMES) === 'object'

const encoded = (text: string): string => Buffer.from(text).toString('base64')

/** Muster's own, unless it is said whose it is. */
function putSecret({ certificate, key, bundle }: ServingPair, managedBy = 'muster'): void {
  const data = { 'tls.crt': encoded(certificate), 'tls.key': encoded(key), 'ca.crt': encoded(bundle) }
  const labels = { 'app.kubernetes.io/managed-by': managedBy }
  server.put(SECRETS, { metadata: { namespace: 'muster-system', name: 'muster-tls', labels }, data } as never)
}

const secret = (): CertificateRecord => recordIn(server.objects(SECRETS)[0] as Secret | undefined)

/** Bundles by the name of the webhook. */
function install(path: string, bundles: Readonly<Record<string, string | undefined>>): void {
  const webhooks = Object.entries(bundles).map(([name, bundle]) => ({
    name,
    clientConfig: { ...(bundle !== undefined && { caBundle: bundle }) },
  }))
  server.put(path, { metadata: { name: 'muster' }, webhooks } as never)
}

const bundlesIn = (path: string): readonly unknown[] =>
  server
    .objects(path)
    .flatMap(object => (object as InstalledConfiguration).webhooks ?? [])
    .map(({ clientConfig }) => clientConfig.caBundle)

const everyBundle = (...paths: readonly string[]): readonly string[] =>
  paths.flatMap(bundlesIn).map(found => Buffer.from(String(found), 'base64').toString())

/** Whether every entry holds these authorities and no others. */
const trusts = (path: string, ...bundles: readonly string[]): boolean => {
  const fingerprints = (text: string) => authoritiesIn(text).map(({ fingerprint }) => fingerprint)
  const wanted = bundles.flatMap(fingerprints).sort().join()
  const found = everyBundle(path).map(text => fingerprints(text).sort().join())
  return found.length > 0 && found.every(text => text === wanted)
}

const allTrust = (...bundles: readonly string[]): boolean =>
  trusts(MUTATING, ...bundles) && trusts(VALIDATING, ...bundles)

beforeEach(async () => {
  server = await FakeApiServer.start()
  for (const path of [SECRETS, MUTATING, VALIDATING]) server.objects(path)
  pair = await issuePair()
  refusedPairs = 0
  const metrics = { tlsNotAfter: { set: () => {} }, tlsSwapFailures: { inc: () => refusedPairs++ } }
  later = 0
  served = []
  const clock: Clock = {
    ...impatientClock(100),
    now: () => Date.now() + later,
    monotonic: () => performance.now() * 100,
  }
  store = new TlsStore(pair, { clock, log: pino({ level: 'silent' }), metrics, names: SERVING_NAMES })
  store.attach({ setSecureContext: () => served.push({ bundles: everyBundle(MUTATING, VALIDATING) }) })
  putSecret(pair)
  const credentials = { server: server.url, access: async () => ({ headers: {}, tls: {} }) }
  client = createKubeClient({ credentials, clock: systemClock })
  rotator = new Rotator({ api: client, clock, random: () => 0.5, log: recordingLog(), observer: nobody, store })
})

afterEach(async () => {
  await rotator.stop()
  await client.close()
  await server.stop()
})

describe('the CA bundle in the webhook configurations', () => {
  it('is that of the certificate which is served, and nothing is ready before', async () => {
    expect(rotator.readiness()).toMatchObject({ ok: false, reason: expect.stringContaining('has not been read yet') })
    install(MUTATING, { 'a.muster': undefined })
    install(VALIDATING, { 'b.muster': encoded('another') })
    rotator.start()
    await eventually('both are trusted', () => allTrust(pair.bundle))
    await eventually('readiness', () => rotator.readiness().ok)
  })

  it('is written where it is wrong, and nowhere else', async () => {
    install(MUTATING, { 'right.muster': caBundle(pair.bundle) })
    install(VALIDATING, { 'right.muster': caBundle(pair.bundle), 'wrong.muster': encoded('another') })
    rotator.start()
    const patches = () => server.requests.filter(({ method }) => method === 'PATCH')
    await eventually('a patch', () => patches().length > 0)
    const webhooks = [{ name: 'wrong.muster', clientConfig: { caBundle: caBundle(pair.bundle) } }]
    expect(patches().map(({ path, body }) => ({ path, body: JSON.parse(body) }))).toEqual([
      { path: `${VALIDATING}/muster`, body: { metadata: { resourceVersion: expect.any(String) }, webhooks } },
    ])
  })

  it('is put right again after somebody applies the manifest anew', async () => {
    install(MUTATING, { 'a.muster': undefined })
    install(VALIDATING, { 'b.muster': undefined })
    rotator.start()
    await eventually('trust', () => allTrust(pair.bundle))
    install(VALIDATING, { 'b.muster': undefined })
    await eventually('trust again', () => trusts(VALIDATING, pair.bundle))
  })

  it('trusts a pair that somebody puts into the Secret beside the old one, before it is served', async () => {
    install(MUTATING, { 'a.muster': undefined })
    install(VALIDATING, { 'b.muster': undefined })
    rotator.start()
    await eventually('trust', () => allTrust(pair.bundle))
    const next = await issuePair()
    putSecret(next)
    await eventually('the next is served', () => store.current.certificate === next.certificate)
    expect(allTrust(next.bundle, pair.bundle)).toBe(true)
    expect(served).toHaveLength(1)
    for (const bundle of served[0]?.bundles ?? []) expect(isTrusted(next, bundle)).toBe(true)
  })

  it('goes through every phase when the certificate is due, and no replica is unready on the way', async () => {
    install(MUTATING, { 'a.muster': undefined })
    install(VALIDATING, { 'b.muster': undefined, 'c.muster': undefined })
    rotator.start()
    await eventually('readiness', () => rotator.readiness().ok)
    later = 21 * DAY
    const unready: unknown[] = []
    const watch = setInterval(() => !rotator.readiness().ok && unready.push(rotator.readiness()), 1)
    await eventually('the next one is announced', () => secret().next !== undefined)
    expect(store.current).toEqual(pair)
    const { next } = secret()
    await eventually('the next one is served', () => store.current.certificate === next?.certificate)
    clearInterval(watch)
    expect(unready).toEqual([])
    for (const bundle of served[0]?.bundles ?? []) expect(isTrusted(store.current, bundle)).toBe(true)
    expect(secret()).toMatchObject({ current: next, next: undefined })
    expect(Object.keys((server.objects(SECRETS)[0] as Secret).data ?? {}).sort()).toEqual([
      'ca.crt',
      'tls.crt',
      'tls.key',
    ])
    later = 31 * DAY
    await eventually(
      'the old authority is gone',
      () => !everyBundle(MUTATING, VALIDATING).join('').includes(pair.bundle.trim()),
    )
    expect(rotator.readiness().ok).toBe(true)
  })

  it('is made anew, beside the old one, when somebody deletes the Secret', async () => {
    install(MUTATING, { 'a.muster': undefined })
    install(VALIDATING, { 'b.muster': undefined })
    rotator.start()
    await eventually('trust', () => allTrust(pair.bundle))
    server.remove(SECRETS, 'muster-system', 'muster-tls')
    await eventually('a new pair is served', () => store.current.certificate !== pair.certificate)
    expect(secret().current).toMatchObject({ certificate: store.current.certificate })
    expect(allTrust(store.current.bundle, pair.bundle)).toBe(true)
  })

  it('follows a Secret of somebody else, and never writes it', async () => {
    install(MUTATING, { 'a.muster': undefined })
    install(VALIDATING, { 'b.muster': undefined })
    rotator.start()
    await eventually('trust', () => allTrust(pair.bundle))
    const theirs = await issuePair()
    putSecret(theirs, 'cert-manager')
    await eventually('theirs is served', () => store.current.certificate === theirs.certificate)
    later = 40 * DAY
    const renewed = await issuePair(SERVING_NAMES, Date.now() + later)
    putSecret(renewed, 'cert-manager')
    await eventually('the renewed one is served', () => store.current.certificate === renewed.certificate)
    expect(server.requests.filter(({ method, path }) => path.startsWith(SECRETS) && method !== 'GET')).toEqual([])
  })

  it('does not follow a Secret whose pair cannot be served', async () => {
    install(MUTATING, { 'a.muster': undefined })
    install(VALIDATING, { 'b.muster': undefined })
    const [one, two] = [await issuePair(), await issuePair()]
    putSecret({ ...one, key: two.key }, 'cert-manager')
    rotator.start()
    await eventually('refusal', () => refusedPairs > 0)
    await eventually('trust', () => allTrust(pair.bundle, one.bundle))
    expect(store.current).toEqual(pair)
  })

  it('is written in the end, however often the API server fails', async () => {
    install(MUTATING, { 'a.muster': undefined })
    install(VALIDATING, { 'b.muster': undefined })
    let refused = 0
    for (let time = 0; time < 3; time++) {
      server.scripts.push(({ method }, response) => {
        if (method !== 'PATCH') return false
        refused++
        sendStatus(response, 403, 'Forbidden')
        return true
      })
    }
    rotator.start()
    await eventually('trust', () => allTrust(pair.bundle))
    expect(refused).toBe(3)
  })
})
