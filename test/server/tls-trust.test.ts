import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createKubeClient, type KubeClient } from '../../src/kube/client/client.ts'
import { systemClock } from '../../src/kube/vocabulary/clock.ts'
import type { InstalledConfiguration } from '../../src/kube/vocabulary/webhook-configurations.ts'
import { SERVING_NAMES, type ServingPair } from '../../src/tls/authority.ts'
import { CaBundleWriter } from '../../src/tls/ca-bundle-writer.ts'
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
let writer: CaBundleWriter
let store: TlsStore
let pair: ServingPair
let refusedPairs: number

const encoded = (text: string): string => Buffer.from(text).toString('base64')

function putSecret({ certificate, key, bundle }: ServingPair): void {
  const data = { 'tls.crt': encoded(certificate), 'tls.key': encoded(key), 'ca.crt': encoded(bundle) }
  server.put(SECRETS, { metadata: { namespace: 'muster-system', name: 'muster-tls' }, data } as never)
}

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

const trusts = (path: string, bundle: string): boolean =>
  bundlesIn(path).length > 0 && bundlesIn(path).every(found => found === caBundle(bundle))

beforeEach(async () => {
  server = await FakeApiServer.start()
  for (const path of [SECRETS, MUTATING, VALIDATING]) server.objects(path)
  pair = await issuePair()
  refusedPairs = 0
  const metrics = { tlsNotAfter: { set: () => {} }, tlsSwapFailures: { inc: () => refusedPairs++ } }
  store = new TlsStore(pair, { clock: systemClock, log: pino({ level: 'silent' }), metrics, names: SERVING_NAMES })
  const clock = impatientClock(100)
  const credentials = { server: server.url, access: async () => ({ headers: {}, tls: {} }) }
  client = createKubeClient({ credentials, clock: systemClock })
  writer = new CaBundleWriter({ api: client, clock, random: () => 0.5, log: recordingLog(), observer: nobody, store })
})

afterEach(async () => {
  await writer.stop()
  await client.close()
  await server.stop()
})

describe('the CA bundle in the webhook configurations', () => {
  it('is that of the certificate which is served, and nothing is ready before', async () => {
    expect(writer.readiness()).toMatchObject({ ok: false, reason: expect.stringContaining('has not been read yet') })
    install(MUTATING, { 'a.muster': undefined })
    install(VALIDATING, { 'b.muster': encoded('another') })
    writer.start()
    await eventually('both are trusted', () => trusts(MUTATING, pair.bundle) && trusts(VALIDATING, pair.bundle))
    await eventually('readiness', () => writer.readiness().ok)
  })

  it('is written where it is wrong, and nowhere else', async () => {
    install(MUTATING, { 'right.muster': caBundle(pair.bundle) })
    install(VALIDATING, { 'right.muster': caBundle(pair.bundle), 'wrong.muster': encoded('another') })
    writer.start()
    const patches = () => server.requests.filter(({ method }) => method === 'PATCH')
    await eventually('a patch', () => patches().length > 0)
    const webhooks = [{ name: 'wrong.muster', clientConfig: { caBundle: caBundle(pair.bundle) } }]
    expect(patches().map(({ path, body }) => ({ path, body: JSON.parse(body) }))).toEqual([
      { path: `${VALIDATING}/muster`, body: { webhooks } },
    ])
  })

  it('is put right again after somebody applies the manifest anew', async () => {
    install(MUTATING, { 'a.muster': undefined })
    install(VALIDATING, { 'b.muster': undefined })
    writer.start()
    await eventually('trust', () => trusts(MUTATING, pair.bundle) && trusts(VALIDATING, pair.bundle))
    install(VALIDATING, { 'b.muster': undefined })
    await eventually('trust again', () => trusts(VALIDATING, pair.bundle))
  })

  it('follows a Secret that another replica has renewed, which is then served here too', async () => {
    install(MUTATING, { 'a.muster': undefined })
    install(VALIDATING, { 'b.muster': undefined })
    writer.start()
    await eventually('trust', () => trusts(MUTATING, pair.bundle) && trusts(VALIDATING, pair.bundle))
    const next = await issuePair()
    putSecret(next)
    await eventually('trust in the next', () => trusts(MUTATING, next.bundle) && trusts(VALIDATING, next.bundle))
    expect(store.current).toEqual(next)
  })

  it('does not follow a Secret whose pair cannot be served', async () => {
    install(MUTATING, { 'a.muster': undefined })
    install(VALIDATING, { 'b.muster': undefined })
    const [one, two] = [await issuePair(), await issuePair()]
    putSecret({ ...one, key: two.key })
    writer.start()
    await eventually('refusal', () => refusedPairs > 0)
    await eventually('trust', () => trusts(MUTATING, pair.bundle) && trusts(VALIDATING, pair.bundle))
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
    writer.start()
    await eventually('trust', () => trusts(MUTATING, pair.bundle) && trusts(VALIDATING, pair.bundle))
    expect(refused).toBe(3)
  })
})
