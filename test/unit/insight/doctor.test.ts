import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { CHECKS, type Code } from '../../../src/insight/doctor/catalog.ts'
import { diagnose } from '../../../src/insight/doctor/diagnose.ts'
import { examine } from '../../../src/insight/doctor/examine.ts'
import type { Deployment, Facts, Lease, Replica, Service } from '../../../src/insight/doctor/facts.ts'
import { renderDiagnosis } from '../../../src/insight/doctor/render.ts'
import { describeRights, RULES, type Rule, rightsIn, rulesFor } from '../../../src/insight/doctor/rights.ts'
import { POLICIES } from '../../../src/insight/doctor/surroundings.ts'
import { Sight } from '../../../src/insight/sight.ts'
import { plain } from '../../../src/insight/text.ts'
import { systemClock } from '../../../src/kube/vocabulary/clock.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { NOTHING_SERVED } from '../../../src/kube/vocabulary/served-scheduling.ts'
import type { InstalledConfiguration } from '../../../src/kube/vocabulary/webhook-configurations.ts'
import { issuePair, SERVING_NAMES, type ServingPair } from '../../../src/tls/authority.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { WORKLOAD_JOB } from '../../../src/workload/queued-workload.ts'
import { managedPod } from '../../support/pods.ts'
import { ReadingApi } from '../../support/reading-api.ts'
import { ADMITTED, workloadOf } from '../../support/workloads.ts'
import { cluster } from './fixtures.ts'

const NOW = Date.parse('2026-11-18T05:00:00Z')
const BASE = new URL('../../../manifests/base/', import.meta.url)

/** Everything that `kubectl apply -k manifests/` would send. */
const manifests = readdirSync(BASE)
  .filter(file => file.endsWith('.yaml'))
  .flatMap(file => parseAllDocuments(readFileSync(new URL(file, BASE), 'utf8')))
  .map(document => document.toJS() as KubeObject & Record<string, never>)
const ofKind = (kind: string) => manifests.filter(manifest => manifest.kind === kind)

const trusting = (pair: ServingPair, configuration: InstalledConfiguration): InstalledConfiguration => ({
  ...configuration,
  webhooks: (configuration.webhooks ?? []).map(webhook => ({
    ...webhook,
    clientConfig: { ...webhook.clientConfig, caBundle: Buffer.from(pair.bundle).toString('base64') },
  })),
})

const base64 = (text: string): string => Buffer.from(text).toString('base64')

function secretOf({ certificate, key, bundle }: ServingPair) {
  const data = { 'tls.crt': base64(certificate), 'tls.key': base64(key), 'ca.crt': base64(bundle) }
  return { metadata: { name: 'muster-tls', labels: { 'app.kubernetes.io/managed-by': 'muster' } }, data }
}

const replica = (node: string, image = 'muster:0.1.0'): Replica => ({
  metadata: { name: `muster-${node}`, namespace: 'muster-system' },
  spec: { nodeName: node, containers: [{ image }] },
})

const deployment = (replicas: number, availableReplicas: number): Deployment => ({
  ...{ metadata: { name: 'muster' }, spec: { replicas }, status: { availableReplicas } },
})

const lease = (renewTime: string, written = renewTime): Lease => ({
  metadata: { name: 'muster', managedFields: [{ time: written.replace(/\.\d+Z/, 'Z') }] },
  spec: { holderIdentity: 'muster-1', leaseDurationSeconds: 15, renewTime },
})

let sound: Facts
let pair: ServingPair
let strange: ServingPair

beforeAll(async () => {
  pair = await issuePair(SERVING_NAMES, NOW - 86_400_000)
  strange = await issuePair(SERVING_NAMES, NOW - 86_400_000)
  const configurations = (kind: string) =>
    ofKind(kind).map(each => trusting(pair, each as InstalledConfiguration)) as InstalledConfiguration[]
  sound = {
    now: NOW,
    skewMs: 200,
    version: '0.1.0',
    kubernetes: { major: 1, minor: 37 },
    config: DEFAULT_CONFIGURATION,
    configErrors: [],
    crd: { metadata: { name: 'workloads.muster.dev' } },
    mutating: configurations('MutatingWebhookConfiguration'),
    validating: configurations('ValidatingWebhookConfiguration'),
    policies: ofKind('ValidatingAdmissionPolicy'),
    bindings: ofKind('ValidatingAdmissionPolicyBinding'),
    secret: secretOf(pair),
    deployment: deployment(2, 2),
    replicas: [replica('a'), replica('b')],
    service: ofKind('Service')[0] as Service,
    endpoints: [{ metadata: { name: 'muster-x' }, endpoints: [{ conditions: { ready: true } }] }],
    lease: lease('2026-11-18T04:59:55.400000Z'),
    namespaces: ['default', 'ml', 'kube-system', 'muster-system'].map(name => ({
      metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
    })),
    defaultQueues: [],
    pods: [managedPod()],
    workloads: [workloadOf([managedPod()])],
    served: NOTHING_SERVED,
    kueueServed: false,
    kueueOnPods: undefined,
    missing: [],
  }
})

interface GivenRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

/** Of a Role or ClusterRole. */
const rulesOf = (role: (KubeObject & Record<string, never>) | undefined): readonly Rule[] =>
  ((role?.rules ?? []) as unknown as readonly GivenRule[]).flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
    apiGroups.map(group => ({
      ...{ group, resources, verbs },
      ...(resourceNames && { names: resourceNames }),
      ...(role?.kind === 'Role' && { own: true }),
    })),
  )

const found = (change: Partial<Facts>) => diagnose({ ...sound, ...change }, []).findings
const codes = (change: Partial<Facts>) => [...new Set(found(change).map(({ code }) => code))]

const withWebhooks = (change: (webhook: object) => object): Partial<Facts> => ({
  mutating: (sound.mutating as readonly InstalledConfiguration[]).map(each => ({
    ...each,
    webhooks: (each.webhooks ?? []).map(webhook => change(webhook) as never),
  })),
})
const stranger = (webhook: object): Partial<Facts> => ({
  mutating: [
    ...(sound.mutating as readonly InstalledConfiguration[]),
    { metadata: { name: 'x' }, webhooks: [webhook as never] },
  ],
})
const rules = [{ apiGroups: [''], resources: ['pods'], operations: ['CREATE'] }]
const { guard, coScheduling } = DEFAULT_CONFIGURATION

/** What has to be wrong for each code to be found, and nothing else with it. */
const TROUBLES: Readonly<Record<Code, () => Partial<Facts>>> = {
  NotInstalled: () => ({ mutating: [] }),
  ConfigurationWrong: () => ({ config: undefined, configErrors: ['config.yaml:3:1: queues: is no list'] }),
  RequestsSlipPast: () => withWebhooks(webhook => ({ ...webhook, failurePolicy: 'Ignore' })),
  RequestsBlocked: () => ({ config: { ...DEFAULT_CONFIGURATION, guard: { ...guard, statusWriters: ['kwok'] } } }),
  ReviewsWasted: () => ({
    config: {
      ...DEFAULT_CONFIGURATION,
      integrations: {
        ...DEFAULT_CONFIGURATION.integrations,
        podOptions: { namespaceSelector: { matchLabels: { queued: 'yes' } }, podSelector: {} },
      },
    },
    pods: [],
    workloads: [],
  }),
  CoverageUnclear: () =>
    withWebhooks(webhook => ({
      ...webhook,
      matchConditions: [{ name: 'odd', expression: 'true' }, ...conditionsOf(webhook)],
    })),
  SystemNamespaceCovered: () => ({
    ...withWebhooks(webhook => ({ ...webhook, namespaceSelector: {} })),
    namespaces: [],
  }),
  BlockedByOthers: () => stranger({ name: 'other', clientConfig: {}, rules, failurePolicy: 'Fail' }),
  BundleMissing: () => withWebhooks(webhook => ({ ...webhook, clientConfig: { service: { path: pathOf(webhook) } } })),
  CertificateWrong: () => ({ secret: secretOf(strange) }),
  CertificateExpiring: () => ({ now: NOW + 26 * 86_400_000, lease: 'denied', pods: 'denied' }),
  ReplicasMissing: () => ({ deployment: deployment(2, 1) }),
  ServiceMissing: () => ({ service: 'absent' }),
  SingleReplica: () => ({ deployment: deployment(1, 1) }),
  ReplicasTogether: () => ({ replicas: [replica('a'), replica('a')] }),
  LeaderMissing: () => ({ lease: lease('2026-11-18T04:58:00.000000Z') }),
  VersionsDiffer: () => ({ replicas: [replica('a', 'muster:0.1.0'), replica('b', 'muster:0.2.0')] }),
  KubernetesTooOld: () => ({ kubernetes: { major: 1, minor: 29 } }),
  BackendMissing: () => ({ config: { ...DEFAULT_CONFIGURATION, coScheduling: { ...coScheduling, backend: 'kai' } } }),
  KueueBeside: () => ({ kueueServed: true, kueueOnPods: 'its configuration has pod' }),
  KueueMissing: () => ({ config: { ...DEFAULT_CONFIGURATION, engine: 'kueue' } }),
  RightMissing: () => ({ missing: rightsIn(RULES).slice(0, 1) }),
  PolicyMissing: () => ({ bindings: ofKind('ValidatingAdmissionPolicyBinding').filter(isNot('muster-workload-size')) }),
  ExemptionTooWide: () => ({
    config: { ...DEFAULT_CONFIGURATION, guard: { ...guard, exemptGroups: ['system:authenticated'] } },
  }),
  FinalizerStray: () => ({ pods: [withoutLabel(managedPod({ gates: [] }))], workloads: [] }),
  GateForgotten: () => ({ pods: [withoutLabel(managedPod({ finalizers: [] }))], workloads: [] }),
  DeletionStuck: () => ({ pods: [managedPod({ deleting: 0, gates: [] })] }),
  LiftStuck: () => ({ workloads: [workloadOf([managedPod()], ADMITTED)] }),
  WorkloadWithoutPods: () => ({ pods: [] }),
  ClockSkew: () => ({ skewMs: 60_000, lease: lease('2026-11-18T05:00:50.000000Z') }),
}

const conditionsOf = (webhook: object): readonly object[] =>
  (webhook as { matchConditions?: readonly object[] }).matchConditions ?? []
const pathOf = (webhook: object): unknown =>
  (webhook as { clientConfig: { service?: { path?: string } } }).clientConfig.service?.path
const isNot = (name: string) => (object: KubeObject) => object.metadata.name !== name
const withoutLabel = (pod: ReturnType<typeof managedPod>) => ({ ...pod, metadata: { ...pod.metadata, labels: {} } })

describe('muster doctor', () => {
  it('finds nothing wrong with an installation by its own manifests', () => {
    expect(found({})).toEqual([])
    expect(renderDiagnosis(diagnose(sound, []), plain).split('\n')[0]).toBe('The installation is sound.')
  })

  it.each(Object.keys(CHECKS) as Code[])('finds %s, and nothing else, where that is the trouble', code => {
    expect(codes(TROUBLES[code]())).toEqual([code])
    const [finding] = found(TROUBLES[code]())
    expect(finding).toMatchObject({ severity: CHECKS[code].severity, remedy: CHECKS[code].remedy })
  })

  it('prints what docs/doctor.md shows', () => {
    const troubles = { ...sound, ...TROUBLES.ReplicasMissing(), replicas: [replica('a'), replica('a')] }
    const page = readFileSync(new URL('../../../docs/doctor.md', import.meta.url), 'utf8')
    // The first of its two outputs is that of a sound installation, which the cluster test compares.
    const shown = page.split('$ muster doctor\n')[2]?.split('```')[0]
    const text = renderDiagnosis(diagnose(troubles, []), plain)
    expect(shown).toBe(text.replace(/good until .*/, 'good until 2026-12-17T05:00:00.000Z'))
  })

  it('says nothing of what it may not see, and that it may not', () => {
    const denied = Object.fromEntries(
      [
        'mutating',
        'validating',
        'policies',
        'bindings',
        'secret',
        'deployment',
        'replicas',
        'lease',
        'namespaces',
        'pods',
        'workloads',
        'missing',
        'crd',
      ].map(key => [key, 'denied']),
    )
    expect(found(denied as Partial<Facts>)).toEqual([])
    expect(renderDiagnosis(diagnose({ ...sound, ...denied } as Facts, ['Secret x']), plain)).toContain(
      'Nothing is wrong with what could be looked at.',
    )
  })

  it('finds a Service that leads to nobody, by its port and by who stands behind it', () => {
    const behind = (ready: boolean) => [{ metadata: {}, endpoints: [{ conditions: { ready } }] }]
    expect(codes({ service: { metadata: {}, spec: { ports: [{ port: 8443 }] } } })).toEqual(['ServiceMissing'])
    expect(codes({ endpoints: [] })).toEqual(['ServiceMissing'])
    expect(codes({ endpoints: behind(false) })).toEqual(['ServiceMissing'])
    expect(codes({ endpoints: [...behind(false), ...behind(true)] })).toEqual([])
    // Nobody runs, so nobody can stand there: that is said already.
    expect(codes({ endpoints: [], deployment: deployment(2, 0) })).toEqual(['ReplicasMissing'])
    const url = (webhook: object) => ({ ...webhook, clientConfig: { url: 'https://localhost:8443/' } })
    const byUrl = { ...withWebhooks(url), validating: [{ metadata: { name: 'muster' }, webhooks: [] }] }
    expect(codes({ ...byUrl, service: 'absent' })).not.toContain('ServiceMissing')
  })

  it('does not take a Deployment that asks for nobody for one that has all', () => {
    expect(codes({ deployment: deployment(0, 0) })).toEqual(['ReplicasMissing'])
  })

  it('takes a replica that has ended, or is about to, for none: an evicted pod stays with its old image', () => {
    const evicted = { ...replica('c', 'muster:0.0.9'), status: { phase: 'Failed' } }
    const leaving = replica('d', 'muster:0.0.9')
    const deletionTimestamp = '2026-11-18T04:59:00Z'
    const gone = { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp } }
    expect(codes({ replicas: [replica('a'), replica('b'), evicted, gone] })).toEqual([])
    expect(codes({ replicas: [replica('a'), replica('a'), evicted] })).toEqual(['ReplicasTogether'])
  })

  it('leaves Workloads that others have made for Kueue to them, ahead of their pods or not', () => {
    const config = { ...DEFAULT_CONFIGURATION, engine: 'kueue' as const }
    const [own] = sound.workloads as readonly QueuedWorkload[]
    const ahead = { ...own, metadata: { name: 'ahead', namespace: 'ml', creationTimestamp: '2026-11-18T04:00:00Z' } }
    const kueue = { config, kueueServed: true, pods: [] }
    expect(codes({ ...kueue, workloads: [ahead as QueuedWorkload] })).toEqual([])
    const annotations = { 'muster.dev/pod': 'train' }
    const made = { ...ahead, metadata: { ...ahead.metadata, annotations } } as QueuedWorkload
    expect(codes({ ...kueue, workloads: [made] })).toEqual(['WorkloadWithoutPods'])
  })

  it('asks for the rights that the overlay in use gives, and for no others', () => {
    const named = (rules: readonly Rule[]) => rightsIn(rules).map(right => describeRights([right]))
    expect(rulesFor({ engine: 'builtin', ownsSecret: true })).toEqual(RULES)
    const served = named(rulesFor({ engine: 'builtin', ownsSecret: false }))
    expect(named(RULES).filter(right => !served.includes(right))).toEqual([
      ...['secrets muster-tls (update)', 'secrets (create)'],
    ])
    const file = readFileSync(new URL('../overlays/kueue/rbac.yaml', BASE), 'utf8')
    const [role] = parseAllDocuments(file).map(document => document.toJS() as KubeObject & Record<string, never>)
    expect(rulesFor({ engine: 'kueue', ownsSecret: true })).toEqual([...RULES, ...rulesOf(role)])
  })

  it('tells a leader whose clock is wrong from one that is gone', () => {
    const behind = lease('2026-11-18T04:50:00.000000Z', '2026-11-18T04:59:58.000000Z')
    expect(codes({ lease: behind })).toEqual(['ClockSkew'])
    expect(found({ lease: behind })[0]?.message).toContain('598 s behind')
  })

  it('says once that nothing is installed, and what was left behind all the same', () => {
    const nothing: Partial<Facts> = {
      ...{ mutating: [], validating: [], policies: [], bindings: [], workloads: [], pods: [] },
      ...{ crd: 'absent', deployment: 'absent', lease: 'absent', secret: 'absent', config: undefined },
      missing: rightsIn(RULES),
    }
    expect(found(nothing)).toMatchObject([{ code: 'NotInstalled', message: 'nothing of Muster is there' }])
    const stray = withoutLabel(managedPod({ gates: [] }))
    expect(codes({ ...nothing, pods: [stray] })).toEqual(['NotInstalled', 'FinalizerStray'])
  })

  it('finds who is stuck in Terminating by a finalizer that nobody takes off, with the label and without', () => {
    const stuck = managedPod({ deleting: 0, gates: [] })
    expect(codes({ pods: [stuck], workloads: [] })).toEqual(['DeletionStuck'])
    expect(codes({ pods: [withoutLabel(stuck)], workloads: [] })).toEqual(['FinalizerStray'])
  })

  it('knows a Job that waits from a Workload whose pods are gone', () => {
    const ofJob = workloadOf([managedPod()])
    const annotations = { ...ofJob.metadata.annotations, [WORKLOAD_JOB]: 'train' }
    const { ownerReferences: _, ...metadata } = ofJob.metadata
    expect(codes({ pods: [], workloads: [{ ...ofJob, metadata: { ...metadata, annotations } }] })).toEqual([])
  })

  it('has nothing against webhooks that look elsewhere, or that fail open', () => {
    const elsewhere = { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } }
    const webhook = { name: 'other', clientConfig: {}, rules }
    expect(codes(stranger({ ...webhook, failurePolicy: 'Fail', namespaceSelector: elsewhere }))).toEqual([])
    expect(codes(stranger({ ...webhook, failurePolicy: 'Ignore' }))).toEqual([])
  })

  it('takes a policy that only warns for none', () => {
    const warning = ofKind('ValidatingAdmissionPolicyBinding').map(binding =>
      isNot('muster-workload-size')(binding)
        ? binding
        : { ...binding, spec: { ...(binding.spec as unknown as object), validationActions: ['Warn'] } },
    )
    expect(found({ bindings: warning })).toMatchObject([
      { code: 'PolicyMissing', message: 'not bound with Deny: muster-workload-size' },
    ])
  })

  it('says by what they are for which rights are missing, and no more of them than somebody reads', () => {
    const messageFor = (count: number) => found({ missing: rightsIn(RULES).slice(0, count) })[0]?.message
    expect(messageFor(6)).toBe('it has no right to pods (get, list, watch, patch, delete); pods/finalizers (update)')
    expect(messageFor(1000)).toMatch(/^it has no right to pods \(.+ and \d+ more$/)
    expect(messageFor(1000)?.length).toBeLessThan(400)
  })

  it('does not call a certificate good that has expired', () => {
    const noteOn = (now: number) => diagnose({ ...sound, now }, []).notes.find(note => note.includes('the certificate'))
    expect(noteOn(NOW)).toMatch(/^the certificate is good until 2026-12-17/)
    expect(noteOn(NOW + 40 * 86_400_000)).toMatch(/^the certificate was good until 2026-12-17/)
  })

  it('judges the certificate by the name by which the API server calls it', () => {
    const service = { name: 'other', namespace: 'elsewhere' }
    const called = withWebhooks(webhook => {
      const { clientConfig } = webhook as { clientConfig: { caBundle?: string; service?: object } }
      return { ...webhook, clientConfig: { ...clientConfig, service: { ...clientConfig.service, ...service } } }
    })
    expect(codes(called)).toContain('CertificateWrong')
  })

  it('knows the rights and the policies of the manifests, all of them', () => {
    const given = [...ofKind('ClusterRole'), ...ofKind('Role')]
      .filter(({ metadata }) => metadata.name === 'muster')
      .flatMap(rulesOf)
      // What stands above pods of KAI, kind by kind: where one may not be read, what is below it counts.
      .filter(({ resources }) => !resources.includes('pytorchjobs'))
    expect(RULES).toEqual(given)
    const policies = ofKind('ValidatingAdmissionPolicyBinding')
      .filter(binding =>
        (binding.spec as unknown as { validationActions: string[] }).validationActions.includes('Deny'),
      )
      .map(({ metadata }) => metadata.name)
    expect(POLICIES).toEqual(policies.toSorted())
  })

  it('reads the cluster with reads and questions only, and counts each right', async () => {
    const api = new ReadingApi(cluster())
    const asked: string[] = []
    const sight = new Sight(api, systemClock)
    const questions = {
      version: '0.1.0',
      serverVersion: async () => ({ major: '1', minor: '37+' }),
      may: async (right: { verb: string }) => {
        asked.push(right.verb)
        return right.verb !== 'delete'
      },
      skewMs: () => 0,
    }
    const facts = await examine(sight, questions, undefined, NOW)
    expect(api.calls.every(call => /^(?:get|list|discover) /.test(call))).toBe(true)
    expect(asked).toHaveLength(rightsIn(RULES).length)
    expect(facts).toMatchObject({ kubernetes: { major: 1, minor: 37 }, kueueServed: false, secret: 'absent' })
    expect(facts.missing).toHaveLength(2)
    const bare = new ReadingApi(cluster().filter(([{ plural }]) => plural !== 'configmaps'))
    const { configErrors } = await examine(new Sight(bare, systemClock), questions, undefined, NOW)
    expect(configErrors).toEqual([expect.stringContaining('it is not there')])
    expect(facts.pods).toHaveLength(5)
  })
})
