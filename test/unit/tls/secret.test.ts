import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/kube/vocabulary/api.ts'
import { bundleCertificates, inspect, pairProblem, SERVING_NAMES } from '../../../src/tls/authority.ts'
import { ensureSecret, type Secret, servingPair, TLS_SECRET } from '../../../src/tls/secret.ts'
import { MemoryApi } from '../../support/memory-api.ts'

const NOW = Date.UTC(2026, 0, 1)
const DAY = 86_400_000
const ensure = (api: MemoryApi, at = NOW) => ensureSecret(api, SERVING_NAMES, at)
const stored = (api: MemoryApi): Secret => api.objects.get(TLS_SECRET) as Secret
const fingerprints = (bundle: string): readonly string[] => bundleCertificates(bundle).map(ca => ca.fingerprint256)
const writes = ({ calls }: MemoryApi): readonly string[] => calls.map(({ verb }) => verb).filter(verb => verb !== 'get')
const encoded = (text: string): string => Buffer.from(text).toString('base64')

function change(api: MemoryApi, data: Record<string, string>): void {
  api.objects.set(TLS_SECRET, { ...stored(api), data: { ...stored(api).data, ...data } } as Secret)
}

describe('the Secret that all replicas serve from', () => {
  it('is made once, with all that a replica and a renewal need, and then used as it is', async () => {
    const api = new MemoryApi()
    const pair = await ensure(api)
    expect(pairProblem(pair, SERVING_NAMES, NOW)).toBeUndefined()
    expect(stored(api)).toMatchObject({ type: 'kubernetes.io/tls', metadata: { namespace: 'muster-system' } })
    expect(Object.keys(stored(api).data ?? {}).sort()).toEqual(['ca.crt', 'ca.key', 'tls.crt', 'tls.key'])
    expect(servingPair(stored(api))).toEqual(pair)
    expect(await ensure(api)).toEqual(pair)
    expect(writes(api)).toEqual(['create'])
  })

  it('is the same for replicas that start at once', async () => {
    const api = new MemoryApi()
    const [one, two] = await Promise.all([ensure(api), ensure(api)])
    expect(one).toEqual(two)
    expect(servingPair(stored(api))).toEqual(one)
  })

  it('gets a new leaf of the same CA when a third of its life is left, and keeps what others put there', async () => {
    const api = new MemoryApi()
    const first = await ensure(api)
    change(api, { 'theirs.txt': encoded('theirs') })
    expect(await ensure(api, NOW + 19 * DAY)).toEqual(first)
    const second = await ensure(api, NOW + 21 * DAY)
    expect(second.certificate).not.toBe(first.certificate)
    expect(second.bundle).toBe(first.bundle)
    expect(stored(api).data).toHaveProperty(['theirs.txt'], encoded('theirs'))
  })

  it('gets a new CA in time, and trusts the old one as long as it lives', async () => {
    const api = new MemoryApi()
    const first = await ensure(api)
    const { notAfter } = inspect(first.bundle)
    const later = notAfter - 30 * DAY
    const second = await ensure(api, later)
    const [fresh, old, ...more] = fingerprints(second.bundle)
    expect([old, more]).toEqual([fingerprints(first.bundle)[0], []])
    expect(fresh).not.toBe(old)
    expect(pairProblem(second, SERVING_NAMES, later)).toBeUndefined()
    // The leaf is of the CA that stands first: a client that trusts nothing else accepts it.
    const [alone = ''] = second.bundle.split(/(?<=-----END CERTIFICATE-----)\n/)
    expect(pairProblem({ ...second, bundle: alone }, SERVING_NAMES, later)).toBeUndefined()

    const third = await ensure(api, inspect(alone).notAfter - 30 * DAY)
    expect(fingerprints(third.bundle).slice(1)).toEqual([fresh])
  })

  it.each([
    ['a CA that cannot be read', { 'ca.crt': encoded('nonsense') }],
    ['no key of the CA', { 'ca.key': encoded('') }],
    ['a leaf that cannot be read', { 'tls.crt': encoded('nonsense') }],
  ])('is made anew after somebody has broken it: %s', async (_what, broken) => {
    const api = new MemoryApi()
    await ensure(api)
    change(api, broken)
    const pair = await ensure(api, NOW + 21 * DAY)
    expect(pairProblem(pair, SERVING_NAMES, NOW + 21 * DAY)).toBeUndefined()
    expect(servingPair(stored(api))).toEqual(pair)
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
