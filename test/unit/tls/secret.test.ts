import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/kube/vocabulary/api.ts'
import { bundleCertificates, pairProblem, SERVING_NAMES } from '../../../src/tls/authority.ts'
import { currentPair } from '../../../src/tls/record.ts'
import { firstPair, recordIn, type Secret, TLS_SECRET, takeStep } from '../../../src/tls/secret.ts'
import { MemoryApi } from '../../support/memory-api.ts'

const NOW = Date.UTC(2026, 0, 1)
const DAY = 86_400_000
const ensure = (api: MemoryApi, at = NOW) => firstPair(api, SERVING_NAMES, at)
const stored = (api: MemoryApi): Secret => api.objects.get(TLS_SECRET) as Secret
const step = (api: MemoryApi, what: 'announce' | 'promote', at: number) =>
  takeStep(api, stored(api), what, SERVING_NAMES, at)
const fingerprints = (bundle: string): readonly string[] => bundleCertificates(bundle).map(ca => ca.fingerprint256)
const writes = ({ calls }: MemoryApi): readonly string[] => calls.map(({ verb }) => verb).filter(verb => verb !== 'get')
const encoded = (text: string): string => Buffer.from(text).toString('base64')

function change(api: MemoryApi, data: Record<string, string>): void {
  api.objects.set(TLS_SECRET, { ...stored(api), data: { ...stored(api).data, ...data } } as Secret)
}

function disown(api: MemoryApi): void {
  const { metadata, ...rest } = stored(api)
  api.objects.set(TLS_SECRET, { ...rest, metadata: { ...metadata, labels: {} } })
}

describe('the Secret that all replicas serve from', () => {
  it('is made once, without the key of the CA, and then used as it is', async () => {
    const api = new MemoryApi()
    const pair = await ensure(api)
    expect(pairProblem(pair, SERVING_NAMES, NOW)).toBeUndefined()
    expect(stored(api)).toMatchObject({ type: 'kubernetes.io/tls', metadata: { namespace: 'muster-system' } })
    expect(Object.keys(stored(api).data ?? {}).sort()).toEqual(['ca.crt', 'tls.crt', 'tls.key'])
    expect(currentPair(recordIn(stored(api)))).toEqual(pair)
    expect(await ensure(api)).toEqual(pair)
    expect(writes(api)).toEqual(['create'])
  })

  it('is the same for replicas that start at once', async () => {
    const api = new MemoryApi()
    const [one, two] = await Promise.all([ensure(api), ensure(api)])
    expect(one).toEqual(two)
    expect(currentPair(recordIn(stored(api)))).toEqual(one)
  })

  it('is not renewed by a replica that starts: it has not read who is trusted', async () => {
    const api = new MemoryApi()
    const first = await ensure(api)
    expect(await ensure(api, NOW + 25 * DAY)).toEqual(first)
    await step(api, 'announce', NOW + 25 * DAY)
    expect((await ensure(api, NOW + 25 * DAY)).certificate).toBe(first.certificate)
  })

  it('keeps old and new CA from the announcement on, the old one until it expires, and what others put there', async () => {
    const api = new MemoryApi()
    const first = await ensure(api)
    change(api, { 'theirs.txt': encoded('theirs'), 'ca.key': encoded('a key') })
    const announced = recordIn(await step(api, 'announce', NOW + 21 * DAY))
    expect(announced.current?.certificate).toBe(first.certificate)
    expect(fingerprints(announced.bundle)).toHaveLength(2)
    expect(fingerprints(announced.bundle)).toContain(fingerprints(first.bundle)[0])
    const promoted = recordIn(await step(api, 'promote', NOW + 21 * DAY))
    expect(promoted).toMatchObject({ current: announced.next, next: undefined, bundle: announced.bundle })
    expect(Object.keys(stored(api).data ?? {}).sort()).toEqual(['ca.crt', 'theirs.txt', 'tls.crt', 'tls.key'])
    const later = recordIn(await step(api, 'announce', NOW + 42 * DAY))
    expect(fingerprints(later.bundle)).toHaveLength(2)
    expect(fingerprints(later.bundle)).not.toContain(fingerprints(first.bundle)[0])
  })

  it.each([
    ['a CA that cannot be read', { 'ca.crt': encoded('nonsense') }],
    ['a leaf that cannot be read', { 'tls.crt': encoded('nonsense') }],
    ['no key', { 'tls.key': encoded('') }],
  ])('is made anew after somebody has broken it: %s', async (_what, broken) => {
    const api = new MemoryApi()
    await ensure(api)
    change(api, broken)
    const pair = await ensure(api, NOW + DAY)
    expect(pairProblem(pair, SERVING_NAMES, NOW + DAY)).toBeUndefined()
    expect(currentPair(recordIn(stored(api)))).toEqual(pair)
  })

  it('is used as it is, whatever it holds, when it does not say that Muster manages it', async () => {
    const api = new MemoryApi()
    const pair = await ensure(api)
    disown(api)
    expect(await ensure(api, NOW + 40 * DAY)).toEqual(pair)
    change(api, { 'tls.key': '' })
    await expect(ensure(api)).rejects.toThrow("is not Muster's to write")
    expect(writes(api)).toEqual(['create'])
  })

  it('is left to the API server where that refuses, after a few attempts or at once', async () => {
    const api = new MemoryApi()
    const refuse = (status: number, reason: string): void => {
      api.before = async verb => {
        if (verb === 'create') throw new ApiError(status, reason, reason)
      }
    }
    refuse(409, 'AlreadyExists')
    await expect(ensure(api)).rejects.toThrow('AlreadyExists')
    expect(writes(api)).toHaveLength(4)
    refuse(403, 'Forbidden')
    await expect(ensure(api)).rejects.toThrow('Forbidden')
    expect(writes(api)).toHaveLength(5)
  })
})
