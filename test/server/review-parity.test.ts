import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AdmissionRequest, AdmissionResponse } from '../../src/admission/review.ts'
import { type Configuration, DEFAULT_CONFIGURATION } from '../../src/config/configuration.ts'
import { parseConfiguration } from '../../src/config/load.ts'
import { readDocuments } from '../../src/documents/documents.ts'
import type { KubeObject, Pod } from '../../src/kube/vocabulary/objects.ts'
import { ClusterState } from '../../src/review/cluster-state.ts'
import type { Result } from '../../src/review/report.ts'
import { reviewFiles } from '../../src/review/review.ts'
import { respond } from '../../src/review/stages.ts'
import { causeReason } from '../../src/validation/field-error.ts'
import { POD_WEBHOOKS } from '../../src/webhooks/pods/pods.ts'
import type { World } from '../../src/webhooks/world.ts'
import { type RunningServer, startServer } from '../support/admission-server.ts'
import { pod, podReview } from '../support/reviews.ts'
import { collected } from '../unit/review/fixtures.ts'

interface Case {
  readonly id: string
  readonly operation: 'CREATE' | 'UPDATE'
  readonly config: {
    readonly enabledFrameworks: readonly string[]
    readonly namespaceSelector?: unknown
    readonly podSelector?: unknown
    readonly manageJobsWithoutQueueName?: boolean
    readonly defaultLocalQueue?: boolean
  }
  readonly namespaceLabels: Readonly<Record<string, string>>
  readonly object: Pod
  readonly oldObject: Pod | null
  readonly clusterObjects?: readonly KubeObject[]
}

const cases = JSON.parse(
  readFileSync(new URL('../conformance/cases/pods.json', import.meta.url), 'utf8'),
) as readonly Case[]

const folder = mkdtempSync(join(tmpdir(), 'muster-parity-'))
let world: World
let running: RunningServer
beforeAll(async () => {
  running = await startServer(POD_WEBHOOKS, { world: () => world })
})
afterAll(async () => {
  await running.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The configuration and the cluster of a case, through the same files that a user would write. */
function configOf({ config }: Case): Configuration {
  const { namespaceSelector, podSelector } = config
  const text = JSON.stringify({
    apiVersion: 'config.muster.dev/v1alpha1',
    kind: 'Configuration',
    engine: 'kueue',
    guard: { controllers: Object.fromEntries(config.enabledFrameworks.map(name => [name, ['*']])) },
    manageJobsWithoutQueueName: config.manageJobsWithoutQueueName ?? false,
    integrations: { frameworks: config.enabledFrameworks, podOptions: { namespaceSelector, podSelector } },
  })
  const parsed = parseConfiguration(text, 'config.json')
  if ('errors' in parsed) throw new Error(JSON.stringify(parsed.errors))
  return parsed.configuration
}

function stateOf({ config, namespaceLabels, object, clusterObjects }: Case): string {
  const namespace = object.metadata.namespace ?? 'default'
  const queue = {
    apiVersion: 'kueue.x-k8s.io/v1beta2',
    kind: 'LocalQueue',
    metadata: { name: 'default', namespace },
  }
  const items = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: namespaceLabels } },
    ...(config.defaultLocalQueue ? [queue] : []),
    ...(clusterObjects ?? []),
  ]
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
}

function worldOf(config: Configuration, state: string): World {
  const cluster = new ClusterState()
  for (const document of readDocuments(state, 'state.json')) {
    if ('message' in document) throw new Error(document.message)
    expect(cluster.add(document)).toEqual([])
  }
  return cluster.world(config)
}

function requestOf({ operation, object, oldObject }: Case): AdmissionRequest {
  const namespace = object.metadata.namespace ?? 'default'
  return { ...podReview().request, operation, namespace, name: object.metadata.name ?? '', object, oldObject }
}

/** Sends a request to a webhook over HTTPS and decides it offline, and holds the two answers against each other. */
async function compare(request: AdmissionRequest): Promise<readonly AdmissionResponse[]> {
  const responses: AdmissionResponse[] = []
  const body = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request })
  for (const webhook of POD_WEBHOOKS) {
    const { status, text } = await running.post(webhook.path, body)
    expect(status).toBe(200)
    expect(JSON.stringify(respond(webhook, JSON.parse(body).request, world).answered)).toBe(text)
    responses.push(JSON.parse(text).response)
  }
  return responses
}

/** What `-o json` says of one stage is what the response says. */
async function reported(request: AdmissionRequest, state: string, response: AdmissionResponse, mutating: boolean) {
  writeFileSync(join(folder, 'state.json'), state)
  writeFileSync(
    join(folder, 'review.json'),
    JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }),
  )
  const { results, unreadable } = await collected(
    reviewFiles({
      config: world.config,
      inputs: [join(folder, 'review.json')],
      clusterState: [join(folder, 'state.json')],
      stage: mutating ? 'mutating' : 'validating',
      namespace: 'default',
      user: undefined,
      stdin: (async function* () {})(),
    }),
  )
  expect(unreadable).toEqual([])
  expect(results).toHaveLength(1)
  const [result] = results as readonly [Result]
  expect(result.allowed).toBe(response.allowed)
  expect(result.warnings).toEqual(response.warnings ?? [])
  expect(result.patch).toEqual(JSON.parse(Buffer.from(response.patch ?? 'W10=', 'base64').toString()))
  if (response.status === undefined) return
  const { code, message, details } = response.status
  expect(result).toMatchObject({ code, message })
  const causes = result.errors.map(({ type, field }) => ({ reason: causeReason(type), field }))
  expect(causes).toEqual((details?.causes ?? []).map(({ reason, field }) => ({ reason, field })))
}

describe('the server and muster review', () => {
  it.each(cases.map(each => [each.id, each] as const))('answer alike, byte for byte: %s', async (_id, each) => {
    const state = stateOf(each)
    world = worldOf(configOf(each), state)
    const request = requestOf(each)
    const [mutation, validation] = await compare(request)
    if (mutation === undefined || validation === undefined) throw new Error('two webhooks were asked')
    if (each.operation === 'CREATE') await reported(request, state, mutation, true)
    await reported(request, state, validation, false)
  })

  const managed = { 'kueue.x-k8s.io/managed': 'true', 'kueue.x-k8s.io/queue-name': 'q' }
  const waiting = pod({
    metadata: { name: 'a', namespace: 'team-a', labels: managed, finalizers: ['kueue.x-k8s.io/managed'] },
    spec: { containers: [{ name: 'main' }], schedulingGates: [{ name: 'kueue.x-k8s.io/admission' }] },
  })
  const edges: readonly (readonly [string, Partial<AdmissionRequest>])[] = [
    ['DELETE', { operation: 'DELETE', object: null, oldObject: waiting }],
    ['CONNECT', { operation: 'CONNECT', object: { kind: 'PodExecOptions', metadata: {} }, subResource: 'exec' }],
    ['a gate that somebody lifts', { operation: 'UPDATE', object: pod(), oldObject: waiting }],
    ['a resize behind the gate', { operation: 'UPDATE', subResource: 'resize', object: waiting, oldObject: waiting }],
    ['a status', { operation: 'UPDATE', subResource: 'status', object: pod(), oldObject: waiting }],
    ['a pod without a spec', { object: { metadata: {} } }],
    ['labels that are no texts', { object: JSON.parse('{"metadata":{"labels":{"a":1,"__proto__":true}},"spec":{}}') }],
    [
      'an owner that is not there',
      {
        object: pod({
          metadata: {
            labels: { 'kueue.x-k8s.io/queue-name': 'q' },
            ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u', controller: true }],
          },
        }),
      },
    ],
    [
      'text beyond ASCII',
      { object: pod({ metadata: { labels: { 'kueue.x-k8s.io/queue-name': 'täst\u2028😀\ud800' } } }) },
    ],
    ['a dry run', { dryRun: true }],
  ]

  it.each(edges)('answer alike, byte for byte: %s', async (_what, overrides) => {
    world = worldOf(DEFAULT_CONFIGURATION, '')
    await compare({ ...podReview().request, ...overrides })
  })
})
