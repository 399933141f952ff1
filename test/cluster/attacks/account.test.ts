import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MANAGED, QUEUE_NAME } from '../../../src/kube/vocabulary/names.ts'
import { queuedPod } from '../support/manifests.ts'
import { eventually } from '../support/wait.ts'
import { ADMIN, Battlefield, patch, RED, strategic, THIEF } from './support.ts'

/** Whoever has Muster's token may do what Muster does, and nothing else that its verbs would allow. */
describe("the thief of Muster's token", () => {
  let field: Battlefield

  beforeAll(async () => {
    field = await Battlefield.open('account')
    await field.waitingPod('waits')
    await field.runningPod('runs')
    const plain = queuedPod({ namespace: RED, name: 'plain' }) as { metadata: object }
    await field.passes(ADMIN, ['create', '-f', '-'], { ...plain, metadata: { name: 'plain', namespace: RED } })
    // Muster lifts gates on its own here; the thief must have the field to himself.
    await field.muster.stop()
  })

  afterAll(async () => {
    await field?.close()
  })

  const image = { spec: { containers: [{ name: 'main', image: 'registry.example/evil:1' }] } }

  it.each([
    ['puts no other image into a queued pod', 'waits', image, 'Muster changes gates, nodeSelector and tolerations'],
    ['puts no other image into a running pod', 'runs', image, 'Muster changes gates, nodeSelector and tolerations'],
    ['touches no pod that is not queued', 'plain', image, 'Muster writes only pods that are queued'],
    [
      'does not queue a pod by itself',
      'plain',
      { metadata: { labels: { [MANAGED]: 'true' } } },
      'Muster writes only pods that are queued',
    ],
    [
      'ends no pod by a deadline',
      'runs',
      { spec: { activeDeadlineSeconds: 1 } },
      'Muster changes gates, nodeSelector and tolerations',
    ],
    [
      'writes no label of others',
      'waits',
      { metadata: { labels: { app: 'payments' } } },
      'Muster writes labels of kueue.x-k8s.io and muster.dev',
    ],
    [
      'writes no annotation of others',
      'waits',
      { metadata: { annotations: { 'example.com/inject': 'true' } } },
      'Muster writes annotations of kueue.x-k8s.io and muster.dev',
    ],
    [
      'gives pods no owners',
      'waits',
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'y' }] } },
      'Muster writes no owners, and no finalizers but its own',
    ],
    [
      'holds pods by no finalizer of others',
      'runs',
      { metadata: { finalizers: ['example.com/stuck'] } },
      'Muster writes no owners, and no finalizers but its own',
    ],
  ])('%s', async (_, pod, change, text) => {
    expect(await field.refused(THIEF, strategic('pod', pod, change))).toContain(text)
  })

  it('sends no running pod elsewhere', async () => {
    const operations = [{ op: 'add', path: '/spec/tolerations/-', value: { operator: 'Exists' } }]
    const args = ['patch', 'pod', 'runs', '--type=json', '-p', JSON.stringify(operations)]
    expect(await field.refused(THIEF, args)).toContain('Muster gives a place to pods that wait behind its gate')
  })

  it('lifts no gate of others', async () => {
    await field.muster.start()
    await field.waitingPod('held', { gates: ['example.com/held'] })
    await field.muster.stop()
    const gates = { spec: { schedulingGates: [{ $patch: 'delete', name: 'example.com/held' }] } }
    expect(await field.refused(THIEF, strategic('pod', 'held', gates))).toContain('Muster lifts no gate but its own')
  })

  it('deletes no pod that is not queued', async () => {
    expect(await field.refused(THIEF, ['delete', 'pod', 'plain'])).toContain('Muster writes only pods that are queued')
  })

  it.each([
    [
      'sends nobody the reviews of other objects',
      [{ op: 'add', path: '/webhooks/0/rules/0/resources/-', value: 'secrets' }],
    ],
    [
      'does not redirect them',
      [{ op: 'replace', path: '/webhooks/0/clientConfig/url', value: 'https://evil.example/' }],
    ],
    ['does not switch them off', [{ op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Ignore' }]],
    ['does not take their conditions away', [{ op: 'remove', path: '/webhooks/0/matchConditions' }]],
    ['does not empty them', [{ op: 'replace', path: '/webhooks', value: [] }]],
    ['does not make them wait', [{ op: 'replace', path: '/webhooks/0/timeoutSeconds', value: 30 }]],
  ])('in the webhook configurations: %s', async (_, operations) => {
    for (const kind of ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration']) {
      const args = ['patch', kind, 'muster', '--type=json', '-p', JSON.stringify(operations)]
      expect(await field.refused(THIEF, args)).toContain('webhooks: Muster writes caBundle, and nothing else')
    }
  })

  it('makes no Secret but that of Muster, and no Lease', async () => {
    const annotations = { 'kubernetes.io/service-account.name': 'muster' }
    const token = {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/service-account-token',
      metadata: { name: 'token', namespace: 'muster-system', annotations },
    }
    const text = 'Muster writes its Secret muster-tls and its Lease muster'
    const create = ['create', '--validate=false', '-f', '-']
    expect(await field.refused(THIEF, create, token, 'muster-system')).toContain(text)
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'other' }, spec: {} }
    expect(await field.refused(THIEF, create, lease, 'muster-system')).toContain(text)
  })

  describe('on Jobs', () => {
    const job = (name: string, queue?: string) => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, namespace: RED, labels: { app: 'train', ...(queue && { [QUEUE_NAME]: queue }) } },
      spec: {
        suspend: true,
        parallelism: 2,
        completions: 4,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'train:1' }] } },
      },
    })

    beforeAll(async () => {
      await field.muster.start()
      for (const made of [job('batch', 'team-red'), job('unqueued')]) {
        await field.passes(ADMIN, ['create', '-f', '-'], made)
      }
      await field.muster.stop()
      const annotations = { 'muster.dev/stopping': 'true' }
      await field.passes(THIEF, strategic('job', 'batch', { metadata: { annotations }, spec: { suspend: true } }))
      await eventually('the Job controller has stopped it', async () => {
        const { stdout } = await field.plane.kubectl(['get', 'job', 'batch', '-n', RED, '-o', 'json'])
        const { status = {} } = JSON.parse(stdout) as { status?: { active?: number; startTime?: string } }
        return status.active === undefined && status.startTime === undefined
      })
    })

    it.each([
      [
        'touches none that is in no queue',
        'unqueued',
        { spec: { suspend: false } },
        'Muster writes only Jobs and JobSets',
      ],
      [
        'changes no deadline',
        'batch',
        { spec: { activeDeadlineSeconds: 1 } },
        'Muster changes suspend, the number of pods',
      ],
      [
        'does not delete them by their age',
        'batch',
        { spec: { ttlSecondsAfterFinished: 0 } },
        'Muster changes suspend',
      ],
      [
        'makes their pods no larger',
        'batch',
        { spec: { template: { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '9' } } }] } } } },
        'spec.template.spec: Muster changes nodeSelector and tolerations',
      ],
      ['writes no label', 'batch', { metadata: { labels: { [QUEUE_NAME]: 'other' } } }, 'Muster writes no labels'],
      [
        'writes no annotation of others',
        'batch',
        { metadata: { annotations: { x: 'y' } } },
        'annotations of muster.dev',
      ],
      [
        'holds them by no finalizer',
        'batch',
        { metadata: { finalizers: ['example.com/stuck'] } },
        'Muster writes no labels',
      ],
    ])('%s', async (_, name, change, text) => {
      expect(await field.refused(THIEF, strategic('job', name, change))).toContain(text)
    })

    it('does what Muster does', async () => {
      const place = { nodeSelector: { pool: 'a' }, tolerations: [{ operator: 'Exists' }] }
      const start = { suspend: false, parallelism: 1, template: { metadata: { labels: { a: 'b' } }, spec: place } }
      await field.passes(THIEF, strategic('job', 'batch', { spec: start }))
    })
  })

  describe('with a role too many', () => {
    beforeAll(async () => {
      const role = ['create', 'clusterrolebinding', 'too-many', '--clusterrole=cluster-admin']
      await field.plane.kubectl([...role, '--serviceaccount=muster-system:muster'])
    })

    const NO_SUBRESOURCE = 'Muster binds no pods, evicts none and opens no shell in them'
    const raw = (path: string) => ['create', '--raw', `/api/v1/namespaces/${RED}/${path}`, '-f', '-']

    it('creates no pod', async () => {
      const pod = queuedPod({ namespace: RED, name: 'evil' })
      expect(await field.refused(THIEF, ['create', '-f', '-'], { ...pod, metadata: { name: 'evil' } })).toContain(
        'Muster writes only pods that are queued or wait for their group, and creates none',
      )
    })

    it('ends no pod by its status', async () => {
      const change = patch('pod', 'runs', { status: { phase: 'Failed' } }, '--subresource=status')
      expect(await field.refused(THIEF, change)).toMatch(/muster-account-subresources|muster-pod-status/)
      const condition = (type: string) => patch('pod', 'runs', conditions(type), '--subresource=status')
      const conditions = (type: string) => ({ status: { conditions: [{ type, status: 'True', reason: 'Mine' }] } })
      expect(await field.refused(THIEF, condition('Ready'))).toContain('but the condition TerminationTarget')
    })

    it('writes no status of Jobs, but for the start of one that is suspended', async () => {
      const target = { status: { conditions: [{ type: 'FailureTarget', status: 'True' }] } }
      const write = (change: object) => patch('job', 'batch', change, '--subresource=status')
      expect(await field.refused(THIEF, write(target))).toContain('Muster takes the startTime of suspended Jobs away')
      await field.passes(THIEF, patch('job', 'batch', { spec: { suspend: true } }))
      await field.passes(THIEF, write({ status: { startTime: null } }))
    })

    it('neither creates nor deletes Jobs', async () => {
      const text = 'neither creates nor deletes any'
      const spec = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'x' }] } } }
      const made = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'evil' }, spec }
      expect(await field.refused(THIEF, ['create', '-f', '-'], made)).toContain(text)
      expect(await field.refused(THIEF, ['delete', 'job', 'batch'])).toContain(text)
    })

    it('evicts none, binds none, opens no shell', async () => {
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'runs', namespace: RED } }
      expect(await field.refused(THIEF, raw('pods/runs/eviction'), eviction)).toContain(NO_SUBRESOURCE)
      const target = { apiVersion: 'v1', kind: 'Node', name: 'node-0' }
      const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'plain' }, target }
      expect(await field.refused(THIEF, raw('pods/plain/binding'), binding)).toContain(NO_SUBRESOURCE)
      expect(await field.refused(THIEF, raw('bindings'), binding)).toContain(NO_SUBRESOURCE)
      expect(await field.refused(THIEF, ['attach', 'runs'])).toContain(NO_SUBRESOURCE)
    })

    it('makes and deletes no webhook configuration', async () => {
      const object = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' }
      const create = ['create', '-f', '-']
      const text = 'Muster changes its own two webhook configurations'
      expect(await field.refused(THIEF, create, { ...object, metadata: { name: 'evil' } })).toContain(text)
      expect(await field.refused(THIEF, ['delete', 'mutatingwebhookconfiguration', 'muster'])).toContain(text)
    })
  })

  it('while Muster lifts, marks, places and lets go as ever', async () => {
    await field.muster.start()
    const pod = await field.runningPod('twin')
    expect(pod.metadata.labels).toMatchObject({ 'kueue.x-k8s.io/podset': 'main' })
    await field.passes(ADMIN, ['delete', 'pod', 'twin', '--wait=false'])
    await field.isGone('twin')
  })
})
