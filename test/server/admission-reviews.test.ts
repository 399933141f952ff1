import { afterEach, describe, expect, it } from 'vitest'
import { applyPatch } from '../../src/admission/patch.ts'
import type { AdmissionRequest } from '../../src/admission/review.ts'
import { allowed, forbiddenRequest, patched } from '../../src/admission/verdict.ts'
import { forbidden } from '../../src/validation/field-error.ts'
import type { Webhook } from '../../src/webhooks/webhook.ts'
import { findNamespaces, type RunningServer, startServer, unseenWorld } from '../support/admission-server.ts'
import { pod, podReview } from '../support/reviews.ts'

const GATE = { op: 'add', path: '/spec/schedulingGates', value: [{ name: 'kueue.x-k8s.io/admission' }] } as const
const mutate = (review: Webhook['review']): Webhook => ({
  name: 'pods',
  path: '/mutate/pods',
  mutating: true,
  rules: [],
  review,
})
const validate = (review: Webhook['review']): Webhook => ({
  name: 'validate-pods',
  path: '/validate/pods',
  mutating: false,
  rules: [],
  review,
})
const asking = mutate((_request, world) =>
  world.namespace('team-a') === 'absent' ? patched('Gated', [GATE]) : allowed('Ignored'),
)
const gateAll = mutate(request => (request.operation === 'CREATE' ? patched('Gated', [GATE]) : allowed('NotCreated')))

let running: RunningServer
afterEach(async () => await running.close())

const requests = (verdict: string, operation = 'CREATE') =>
  running.metric(`muster_webhook_requests_total{webhook="pods",operation="${operation}",verdict="${verdict}"}`)
const errors = (cause: string) => running.metric(`muster_webhook_errors_total{webhook="pods",cause="${cause}"}`)

describe('a review over HTTPS', () => {
  it('is answered with its uid, its apiVersion and kind, and a patch that gates the pod', async () => {
    running = await startServer([gateAll])
    const answer = await running.post('/mutate/pods?timeout=3s', JSON.stringify(podReview()))
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json')
    const body = JSON.parse(answer.text)
    expect(body).toMatchObject({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' })
    expect(body.response).toMatchObject({ uid: podReview().request.uid, allowed: true, patchType: 'JSONPatch' })
    const operations = JSON.parse(Buffer.from(body.response.patch, 'base64').toString())
    expect(applyPatch(pod(), operations).spec.schedulingGates).toEqual(GATE.value)
  })

  it('gets no patch on DELETE', async () => {
    running = await startServer([gateAll])
    const response = await running.review(
      '/mutate/pods',
      podReview({ operation: 'DELETE', object: null, oldObject: pod() }),
    )
    expect(response).toEqual({ uid: podReview().request.uid, allowed: true })
  })

  it('gets the same patch in a dry run', async () => {
    running = await startServer([gateAll])
    const real = await running.review('/mutate/pods', podReview())
    expect(await running.review('/mutate/pods', podReview({ dryRun: true }))).toEqual(real)
    expect(running.logs.map(line => line.dryRun)).toEqual([false, true])
  })

  it('tells kubectl why it was denied', async () => {
    const verdict = forbiddenRequest([forbidden('spec.schedulingGates', 'only Muster lifts this gate')])
    running = await startServer([validate(() => verdict)])
    const response = await running.review('/validate/pods', podReview())
    expect(response.allowed).toBe(false)
    // The rule of the API server: status.message, else status.reason, else "without explanation".
    expect(response.status?.message).toBe('spec.schedulingGates: Forbidden: only Muster lifts this gate')
    expect(response.status).toMatchObject({ code: 403, reason: 'Forbidden' })
    expect(running.logs).toMatchObject([{ verdict: 'denied', reason: 'Forbidden', fields: ['spec.schedulingGates'] }])
  })

  it('takes __proto__ and constructor keys as data and changes no prototype', async () => {
    const seen: AdmissionRequest[] = []
    running = await startServer([
      mutate(request => {
        seen.push(request)
        return patched('Gated', [GATE])
      }),
    ])
    const attributes = '{"__proto__":"x","constructor":{"prototype":{"polluted":"yes"}},"prototype":"p"}'
    const body = JSON.stringify(podReview()).replace(
      '"status":{}',
      `"status":{},"volumes":[{"csi":{"volumeAttributes":${attributes}}}],"__proto__":{"polluted":"yes"}`,
    )
    const answer = await running.post('/mutate/pods', body)
    expect(JSON.parse(answer.text).response.patchType).toBe('JSONPatch')
    expect(JSON.stringify(seen[0]?.object)).toContain(attributes)
    expect(Object.keys(seen[0]?.object ?? {})).toContain('__proto__')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('polluted')
  })
})

describe('a failure of Muster', () => {
  it('is a well-formed answer, a counted error and a log line with the stack when the handler throws', async () => {
    running = await startServer([
      mutate(() => {
        throw new TypeError('labels of undefined')
      }),
    ])
    const response = await running.review('/mutate/pods', podReview())
    expect(response).toMatchObject({ uid: podReview().request.uid, allowed: false, status: { code: 500 } })
    expect(response.status?.message).toMatch(/^Muster failed .* not judged\. Please retry/)
    expect(response.status?.message).not.toContain('labels of undefined')
    expect(await errors('handler')).toBe(1)
    expect(await requests('error')).toBe(1)
    const [line] = running.logs
    expect(line).toMatchObject({
      level: 50,
      verdict: 'error',
      name: 'train-0',
      err: { message: 'labels of undefined', stack: expect.stringContaining('admission-reviews.test.ts') },
    })
  })

  it.each([
    ['a patch that does not apply', mutate(() => patched('Gated', [{ ...GATE, path: '/nowhere/at/all' }]))],
    ['a patch from a validating webhook', { ...gateAll, mutating: false }],
    ['a verdict that was reached without what it asked for', asking],
  ])('is never sent as it is: %s', async (_what, webhook) => {
    running = await startServer([webhook], { world: () => unseenWorld })
    const response = await running.review('/mutate/pods', podReview())
    expect(response).toMatchObject({ allowed: false, status: { code: 500 } })
    expect(response).not.toHaveProperty('patch')
    expect(await errors('handler')).toBe(1)
  })

  it('is answered before the API server gives up when a lookup takes too long, and the lookup is told', async () => {
    let told: unknown
    running = await startServer([asking], {
      world: () => unseenWorld,
      lookup: (_lookups, signal) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            told = signal.reason
          })
        }),
    })
    const before = performance.now()
    const answer = await running.post('/mutate/pods?timeout=200ms', JSON.stringify(podReview()))
    expect(performance.now() - before).toBeLessThan(30_000)
    expect(answer.status).toBe(200)
    const { response } = JSON.parse(answer.text)
    expect(response).toMatchObject({ allowed: false, status: { code: 500, reason: 'InternalError' } })
    expect(response.status.message).toContain('Muster ran out of time')
    expect(String(told)).toContain('longer than its budget of 150 ms')
    expect(await errors('timeout')).toBe(1)
    expect(await errors('handler')).toBe(0)
  })

  it('is counted as a timeout when the handler itself was too slow', async () => {
    running = await startServer([
      mutate(() => {
        const until = performance.now() + 60
        while (performance.now() < until);
        return allowed('Late')
      }),
    ])
    const answer = await running.post('/mutate/pods?timeout=100ms', JSON.stringify(podReview()))
    expect(JSON.parse(answer.text).response).toMatchObject({ allowed: false, status: { code: 500 } })
    expect(await errors('timeout')).toBe(1)
  })

  it('does not come from a malformed timeout: that one is ignored', async () => {
    running = await startServer([gateAll])
    for (const query of [
      'timeout=-1s',
      'timeout=abc',
      'timeout=',
      'timeout=1s&timeout=2s',
      'timeout=0s',
      'timeout=9e9s',
    ]) {
      const answer = await running.post(`/mutate/pods?${query}`, JSON.stringify(podReview()))
      expect(JSON.parse(answer.text).response.allowed).toBe(true)
    }
  })
})

describe('a review that needs more than the caches hold', () => {
  it('is decided again with what was looked up, link by link', async () => {
    const asked: string[] = []
    const chain = mutate((_request, world) => {
      const links = ['a', 'b'].every(name => world.namespace(name) !== 'absent')
      return links ? patched('Gated', [GATE]) : allowed('Ignored')
    })
    running = await startServer([chain], {
      world: () => unseenWorld,
      lookup: (lookups, signal) => {
        asked.push(...lookups.map(lookup => lookup.namespace))
        return findNamespaces(lookups, signal)
      },
    })
    expect(await running.review('/mutate/pods', podReview())).toHaveProperty('patch')
    expect(asked).toEqual(['a', 'b'])
    expect(await requests('patched')).toBe(1)
  })

  it('fails when looking up never ends or fails', async () => {
    let calls = 0
    running = await startServer([asking], {
      world: () => unseenWorld,
      lookup: async () => {
        calls++
        if (calls > 50) throw new Error('the API server is away')
        return []
      },
    })
    expect(await running.review('/mutate/pods', podReview())).toMatchObject({ allowed: false })
    expect(calls).toBeLessThan(20)
    calls = 50
    expect(await running.review('/mutate/pods', podReview())).toMatchObject({ allowed: false })
    expect(await errors('handler')).toBe(2)
  })
})

describe('metrics and logs', () => {
  it('count every review in the right series, with durations in seconds', async () => {
    running = await startServer([gateAll])
    expect(await requests('patched')).toBe(0)
    const began = performance.now()
    for (let call = 0; call < 3; call++) await running.review('/mutate/pods', podReview())
    const took = (performance.now() - began) / 1000
    expect(await requests('patched')).toBe(3)
    expect(await requests('allowed')).toBe(0)
    expect(await errors('timeout')).toBe(0)
    expect(await running.metric('muster_webhook_latency_seconds_count{webhook="pods"}')).toBe(3)
    const seconds = (await running.metric('muster_webhook_latency_seconds_sum{webhook="pods"}')) ?? -1
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(took)
    expect(await running.metric('muster_webhook_requests_in_flight{webhook="pods"}')).toBe(0)
    expect(await running.metric('muster_build_info{version="0.0.0-test"}')).toBe(1)
  })

  it('show what is in flight', async () => {
    const asked = Promise.withResolvers<void>()
    const found = Promise.withResolvers<void>()
    running = await startServer([asking], {
      world: () => unseenWorld,
      lookup: async (lookups, signal) => {
        asked.resolve()
        await found.promise
        return findNamespaces(lookups, signal)
      },
    })
    const answer = running.review('/mutate/pods', podReview())
    await asked.promise
    expect(await running.metric('muster_webhook_requests_in_flight{webhook="pods"}')).toBe(1)
    found.resolve()
    await answer
    expect(await running.metric('muster_webhook_requests_in_flight{webhook="pods"}')).toBe(0)
  })

  it('say one line per decision without the object, whatever the names look like', async () => {
    running = await startServer([gateAll])
    const { name: _name, ...metadata } = pod().metadata
    await running.review(
      '/mutate/pods',
      podReview({
        name: '',
        userInfo: { username: `eve\n{"level":"fatal"}${'x'.repeat(10_000)}` },
        object: { ...pod(), metadata: { ...metadata, generateName: 'train-', annotations: { token: 'hunter2' } } },
      }),
    )
    expect(running.logs).toHaveLength(1)
    expect(running.logs[0]).toMatchObject({
      webhook: 'pods',
      operation: 'CREATE',
      kind: 'Pod',
      namespace: 'team-a',
      name: 'train-',
      verdict: 'patched',
      reason: 'Gated',
      dryRun: false,
      durationMs: expect.any(Number),
    })
    const text = JSON.stringify(running.logs[0])
    expect(text.length).toBeLessThan(1_000)
    expect(text).not.toContain('hunter2')
  })
})
