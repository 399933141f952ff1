import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type CoverageFacts, compareCoverage } from '../../../src/cluster/coverage.ts'
import { type Configuration, DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { NOTHING_SERVED } from '../../../src/kube/vocabulary/served-scheduling.ts'
import type {
  InstalledConfiguration,
  InstalledPolicy,
  InstalledPolicyBinding,
  InstalledWebhook,
} from '../../../src/kube/vocabulary/webhook-configurations.ts'
import { WEBHOOKS } from '../../../src/webhooks/all.ts'
import { resourceIn } from '../../../src/webhooks/webhook.ts'

const manifests = parseAllDocuments(readFileSync('manifests/base/webhooks.yaml', 'utf8')).map(
  document => document.toJS() as InstalledConfiguration,
)
const shipped = (kind: string): InstalledConfiguration => {
  const found = manifests.find(manifest => manifest.kind === kind)
  if (found === undefined) throw new Error(`no ${kind} in the manifests`)
  return found
}

const [shippedPolicy, shippedBinding] = parseAllDocuments(
  readFileSync('manifests/base/policy-pod-status.yaml', 'utf8'),
).map(document => document.toJS()) as [InstalledPolicy, InstalledPolicyBinding]

const namespace = (name: string, labels: Record<string, string> = {}) => ({
  name,
  labels: { 'kubernetes.io/metadata.name': name, ...labels },
})

function facts(change: Partial<CoverageFacts> = {}): CoverageFacts {
  return {
    config: DEFAULT_CONFIGURATION,
    mutating: shipped('MutatingWebhookConfiguration'),
    validating: shipped('ValidatingWebhookConfiguration'),
    namespaces: [namespace('kube-system'), namespace('muster-system'), namespace('ml', { team: 'a' })],
    namespacesWithDefaultQueue: [],
    served: { ...NOTHING_SERVED, kai: true },
    statusPolicy: { policy: shippedPolicy, binding: shippedBinding },
    ...change,
  }
}

/** The shipped validating configuration, with each of its entries kept, changed or left out. */
function validatingWith(change: (entry: InstalledWebhook) => InstalledWebhook | undefined): InstalledConfiguration {
  const configuration = shipped('ValidatingWebhookConfiguration')
  return { ...configuration, webhooks: (configuration.webhooks ?? []).flatMap(entry => change(entry) ?? []) }
}

/** Without the rules that name the resource. */
const withoutRule =
  (resource: string) =>
  (entry: InstalledWebhook): InstalledWebhook => ({
    ...entry,
    rules: (entry.rules ?? []).map(rule => ({
      ...rule,
      resources: rule.resources?.filter(name => name !== resource) ?? [],
    })),
  })

/** The shipped mutating configuration with its webhook changed. */
function changed(change: Partial<InstalledWebhook>, name = 'pods.muster.dev'): InstalledConfiguration {
  const configuration = shipped('MutatingWebhookConfiguration')
  const webhooks = configuration.webhooks?.map(entry => (entry.name === name ? { ...entry, ...change } : entry)) ?? []
  return { ...configuration, webhooks }
}

const texts = (change: Partial<CoverageFacts>) =>
  compareCoverage(facts(change)).map(({ kind, text }) => `${kind}: ${text}`)

describe('the coverage of the installed webhook configuration', () => {
  it('has no gap when the manifests and the default configuration are used', () => {
    expect(compareCoverage(facts())).toEqual([])
  })

  it('lacks everything when the configuration is not there', () => {
    expect(texts({ mutating: undefined })).toEqual([
      'slips: all pods: mutating configuration muster has no webhook for /mutate/pods',
      'slips: all jobs, jobsets, cronjobs: mutating configuration muster has no webhook for /mutate/jobs',
      'slips: all pods: mutating configuration muster has no webhook for /mutate/pod-groups',
    ])
  })

  it('lacks nothing for KAI where there is no KAI, or Muster leaves it alone', () => {
    const withoutKai = ({ webhooks = [], ...rest }: InstalledConfiguration) => ({
      ...rest,
      webhooks: webhooks.filter(({ name }) => !name.startsWith('pod-groups.')),
    })
    const change = {
      mutating: withoutKai(shipped('MutatingWebhookConfiguration')),
      validating: withoutKai(shipped('ValidatingWebhookConfiguration')),
    }
    expect(texts({ ...change, served: NOTHING_SERVED })).toEqual([])
    const coScheduling = { ...DEFAULT_CONFIGURATION.coScheduling, backend: 'none' as const }
    expect(texts({ ...change, config: { ...DEFAULT_CONFIGURATION, coScheduling } })).toEqual([])
    expect(texts(change)).toHaveLength(2)
  })

  it("notices when KAI's scheduler has another name in the conditions", () => {
    const { coScheduling } = DEFAULT_CONFIGURATION
    const kai = { ...coScheduling.kai, schedulerName: 'kai-two' }
    const config = { ...DEFAULT_CONFIGURATION, coScheduling: { ...coScheduling, kai } }
    expect(texts({ config })).toEqual([
      'slips: pods of kai-two: coScheduling.kai.schedulerName, but condition names-a-group-or-changes-its-link of ' +
        'webhook pod-groups.muster.dev names another scheduler',
      'slips: pods of kai-two: coScheduling.kai.schedulerName, but condition waits-for-a-group of ' +
        'webhook pod-groups.validate.muster.dev names another scheduler',
    ])
  })

  // Where a webhook that only warns is not called, nothing gets past Muster.
  const JUDGING = WEBHOOKS.filter(({ advisory }) => !advisory)

  it.each(JUDGING)('notices when there is no entry for $path', ({ path, mutating, rules }) => {
    const kind = mutating ? 'mutating' : 'validating'
    const configuration = shipped(mutating ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration')
    const webhooks = configuration.webhooks?.filter(({ clientConfig }) => clientConfig.service?.path !== path) ?? []
    const [found, ...more] = texts({ [kind]: { ...configuration, webhooks } })
    expect(more).toEqual([])
    expect(found).toContain(`${kind} configuration muster has no webhook for ${path}`)
    for (const { of } of rules) expect(found).toContain(of.resource)
  })

  const isJudging = ({ clientConfig }: InstalledWebhook): boolean =>
    JUDGING.some(({ path }) => path === clientConfig.service?.path)
  const everyRule = JUDGING.flatMap(webhook => webhook.rules.map(rule => ({ webhook, rule, name: resourceIn(rule) })))

  it.each(everyRule)(
    'notices when nobody sends $name to $webhook.path, and says what slips',
    ({ webhook, rule, name }) => {
      const kind = webhook.mutating ? 'mutating' : 'validating'
      const configuration = facts()[kind]
      const webhooks = configuration?.webhooks?.map(entry =>
        entry.clientConfig.service?.path === webhook.path ? withoutRule(name)(entry) : entry,
      )
      const [found, ...more] = texts({ [kind]: { ...configuration, webhooks } })
      expect(more).toEqual([])
      expect(found).toContain(`slips: ${rule.operations.join(', ')} of ${name}: no rule of`)
      expect(found).toContain(`names that, so ${rule.unseen}`)
    },
  )

  it('notices when a whole entry for one kind of Job is gone', () => {
    const validating = validatingWith(entry => (entry.name === 'jobsets.validate.muster.dev' ? undefined : entry))
    expect(texts({ validating })).toEqual([
      'slips: CREATE, UPDATE of jobsets: no rule of webhooks jobs.validate.muster.dev, cronjobs.validate.muster.dev ' +
        'names that, so nobody judges how their Jobs ask to be scheduled',
      'slips: UPDATE of jobsets/status: no rule of webhooks jobs.validate.muster.dev, cronjobs.validate.muster.dev ' +
        'names that, so anyone may say that they have ended',
    ])
  })

  it('does not mind where nobody is warned', () => {
    expect(JUDGING).not.toHaveLength(WEBHOOKS.length)
    const { webhooks = [] } = shipped('ValidatingWebhookConfiguration')
    const validating = { ...shipped('ValidatingWebhookConfiguration'), webhooks: webhooks.filter(isJudging) }
    expect(validating.webhooks).not.toHaveLength(webhooks.length)
    expect(texts({ validating })).toEqual([])
  })

  it('names the kinds of the entry that lets them through', () => {
    const validating = validatingWith(entry =>
      entry.name === 'cronjobs.validate.muster.dev' ? { ...entry, failurePolicy: 'Ignore' } : entry,
    )
    expect(texts({ validating })).toEqual([
      'slips: all cronjobs while Muster is away: failurePolicy of webhook cronjobs.validate.muster.dev is Ignore',
    ])
  })

  it('reads the wildcards of rules as the API server does', () => {
    const rewritten = (resources: readonly string[]) =>
      validatingWith(entry =>
        entry.name === 'pods.validate.muster.dev'
          ? { ...entry, rules: [{ apiGroups: ['*'], operations: ['*'], resources }] }
          : entry,
      )
    for (const all of [['*/*'], ['pods/*'], ['*', '*/resize', '*/status']]) {
      expect(texts({ validating: rewritten(all) }), all.join()).toEqual([])
    }
    const missing = texts({ validating: rewritten(['*']) }).map(text => text.split(':')[1])
    expect(missing).toEqual([' UPDATE of pods/resize', ' UPDATE of pods/status'])
    expect(texts({ validating: rewritten(['*/resize', '*/status']) })[0]).toContain('CREATE, UPDATE of pods: no rule')
  })

  it('asks for no pods where pods are not enabled, but for Jobs all the same', () => {
    const integrations = { ...DEFAULT_CONFIGURATION.integrations, frameworks: ['batch/job'] }
    const config: Configuration = { ...DEFAULT_CONFIGURATION, integrations }
    const served = NOTHING_SERVED
    expect(texts({ config, served, mutating: undefined, validating: undefined })).toEqual([
      'slips: all jobs, jobsets, cronjobs: mutating configuration muster has no webhook for /mutate/jobs',
      'slips: all jobs, cronjobs, jobsets: validating configuration muster has no webhook for /validate/jobs',
      'slips: all workloads: validating configuration muster has no webhook for /validate/workloads',
    ])
  })

  it('asks for no Jobs where Kueue queues them and nobody groups them', () => {
    const coScheduling = { ...DEFAULT_CONFIGURATION.coScheduling, jobs: 'never' } as const
    const config: Configuration = { ...DEFAULT_CONFIGURATION, engine: 'kueue', coScheduling }
    const { webhooks = [] } = shipped('MutatingWebhookConfiguration')
    expect(
      texts({
        config,
        served: NOTHING_SERVED,
        mutating: { ...shipped('MutatingWebhookConfiguration'), webhooks: webhooks.slice(0, 1) },
      }),
    ).toEqual([])
  })

  it('misses pods and Jobs without the label when every one is to be managed', () => {
    const config: Configuration = { ...DEFAULT_CONFIGURATION, manageJobsWithoutQueueName: true }
    const found = texts({ config })
    expect(found).toHaveLength(3)
    expect(found[2]).toContain('jobs, jobsets without kueue.x-k8s.io/queue-name: manageJobsWithoutQueueName is true')
    expect(found[0]).toContain('pods without kueue.x-k8s.io/queue-name: manageJobsWithoutQueueName is true')
    expect(found[0]).toContain('kubectl apply -k manifests/overlays/all-pods')
  })

  it('misses pods without the label where a default queue exists, and names the namespaces', () => {
    expect(texts({ namespacesWithDefaultQueue: ['ml'] })[0]).toContain(
      'in namespace ml: a LocalQueue named default exists',
    )
  })

  it('says that reviews are made for nothing when the label condition is gone without need', () => {
    expect(texts({ mutating: changed({ matchConditions: [] }) })).toEqual([
      'wasted: pods without kueue.x-k8s.io/queue-name: webhook pods.muster.dev has no condition on the label; kubectl apply -k manifests/',
    ])
  })

  it('compares namespace selectors by what they select', () => {
    const sameInOtherWords = {
      matchExpressions: [
        { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['muster-system', 'kube-system', 'unborn'] },
      ],
    }
    expect(texts({ mutating: changed({ namespaceSelector: sameInOtherWords }) })).toEqual([])
    expect(texts({ mutating: changed({ namespaceSelector: { matchLabels: { team: 'b' } } }) })).toEqual([
      'slips: pods in namespace ml: namespaceSelector of webhook pods.muster.dev',
    ])
    expect(texts({ mutating: changed({ namespaceSelector: {} }) })).toEqual([
      'wasted: pods in namespaces kube-system, muster-system: namespaceSelector of webhook pods.muster.dev',
    ])
  })

  it.each([
    [{ failurePolicy: 'Ignore' }, 'all pods while Muster is away'],
    [{ objectSelector: { matchLabels: { a: 'b' } } }, 'has an objectSelector'],
    [{ rules: [] }, 'CREATE of pods: no rule'],
  ])('sees what %j lets through', (change, text) => {
    expect(texts({ mutating: changed(change) }).join()).toContain(text)
  })

  it('does not guess what an unknown condition keeps out', () => {
    const conditions = shipped('MutatingWebhookConfiguration').webhooks?.[0]?.matchConditions ?? []
    const mutating = changed({
      matchConditions: [...conditions, { name: 'mine', expression: 'object.spec.hostNetwork' }],
    })
    expect(texts({ mutating })).toEqual([
      "unclear: condition mine of webhook pods.muster.dev is not one of Muster's manifests",
    ])
  })
})

describe('the policy on the status of queued pods', () => {
  const NOT_INSTALLED =
    'slips: forged ends of pods, which free quota while the pods run: ValidatingAdmissionPolicy muster-pod-status is ' +
    'not installed and bound with Deny; kubectl apply -k manifests/, on Kubernetes 1.30 or later'

  const statusWriters = (...users: readonly string[]): Configuration => ({
    ...DEFAULT_CONFIGURATION,
    guard: { ...DEFAULT_CONFIGURATION.guard, statusWriters: users },
  })

  function listing(expression: string): CoverageFacts['statusPolicy'] {
    const matchConditions = (shippedPolicy.spec?.matchConditions ?? []).map(condition =>
      condition.name === 'not-a-status-writer' ? { ...condition, expression } : condition,
    )
    return { policy: { ...shippedPolicy, spec: { matchConditions } }, binding: shippedBinding }
  }

  it('is not judged before it is known whether it is there', () => {
    expect(texts({ statusPolicy: undefined })).toEqual([])
  })

  it.each([
    ['is not there', { policy: undefined, binding: shippedBinding }],
    ['is not bound', { policy: shippedPolicy, binding: undefined }],
    [
      'only warns',
      {
        policy: shippedPolicy,
        binding: { ...shippedBinding, spec: { ...shippedBinding.spec, validationActions: [] } },
      },
    ],
    ['is not the one that is bound', { policy: shippedPolicy, binding: { ...shippedBinding, spec: {} } }],
  ])('is missed when it %s', (_, statusPolicy) => {
    expect(texts({ statusPolicy })).toEqual([NOT_INSTALLED])
  })

  it('lists whom the configuration lists, in whatever order and quotes', () => {
    const statusPolicy = listing(`!(request.userInfo.username in\n  ["kwok", 'system:serviceaccount:a:b'])`)
    expect(texts({ config: statusWriters('system:serviceaccount:a:b', 'kwok'), statusPolicy })).toEqual([])
  })

  it('is told apart from the configuration by name', () => {
    const statusPolicy = listing("!(request.userInfo.username in ['kwok', 'other'])")
    expect(texts({ config: statusWriters('kwok', 'mine'), statusPolicy })).toEqual([
      'slips: status of queued pods from other: listed in policy muster-pod-status, but not in guard.statusWriters',
      'blocked: status of queued pods from mine: listed in guard.statusWriters, but not in policy muster-pod-status',
    ])
  })

  it.each(['true', "!(request.userInfo.username in ['a' + 'b'])", "!(request.userInfo.username in ['a',])"])(
    'is not guessed at when its list is %s',
    expression => {
      expect(texts({ statusPolicy: listing(expression) })).toEqual([
        'unclear: condition not-a-status-writer of policy muster-pod-status is not a list of users',
      ])
    },
  )

  it('does not matter where pods are not queued', () => {
    const integrations = { ...DEFAULT_CONFIGURATION.integrations, frameworks: ['batch/job'] }
    const config: Configuration = { ...DEFAULT_CONFIGURATION, integrations }
    expect(texts({ config, statusPolicy: { policy: undefined, binding: undefined } })).toEqual([])
  })
})
