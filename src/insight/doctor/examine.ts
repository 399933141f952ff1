import { resourcesIn, versionsIn } from '../../cluster/discovery.ts'
import { kueueSetup } from '../../cluster/kueue-configuration.ts'
import { discoverScheduling } from '../../cluster/scheduling-watch.ts'
import type { Configuration } from '../../config/configuration.ts'
import type { Resource } from '../../kube/vocabulary/api.ts'
import { isObject } from '../../kube/vocabulary/fields.ts'
import { KUEUE_GROUP } from '../../kube/vocabulary/kueue.ts'
import { DEFAULT_QUEUE, OFFLINE_IDENTITY, SERVICE_NAME, SYSTEM_NAMESPACE } from '../../kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../kube/vocabulary/objects.ts'
import { fields } from '../../kube/vocabulary/outline.ts'
import {
  LEASES,
  LOCAL_QUEUES,
  MUTATING_WEBHOOKS,
  NAMESPACES,
  PODS,
  SECRETS,
  VALIDATING_POLICIES,
  VALIDATING_POLICY_BINDINGS,
  VALIDATING_WEBHOOKS,
} from '../../kube/vocabulary/resources.ts'
import type {
  InstalledConfiguration,
  InstalledPolicy,
  InstalledPolicyBinding,
} from '../../kube/vocabulary/webhook-configurations.ts'
import { recordIn, type Secret, TLS_SECRET } from '../../tls/secret.ts'
import type { QueuedWorkload } from '../../workload/queued-workload.ts'
import { CONFIG_MAPS, CONFIGURATION_REF, type ConfigMap, configurationIn, readInstallation } from '../installation.ts'
import type { Sight } from '../sight.ts'
import {
  type Deployment,
  type EndpointSlice,
  type Facts,
  known,
  type Lease,
  type Replica,
  type Service,
} from './facts.ts'
import { type Right, type Rule, rightsIn, rulesFor } from './rights.ts'

const DEPLOYMENTS: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
}
const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
}

const SERVICES: Resource = {
  group: '',
  version: 'v1',
  plural: 'services',
  kind: 'Service',
  namespaced: true,
}
const ENDPOINT_SLICES: Resource = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
}

/** Of a pod what tells whether somebody looks after it. */
const MARKS = {
  metadata: fields('name', 'namespace', 'uid', 'labels', 'finalizers', 'creationTimestamp', 'deletionTimestamp'),
  spec: fields('schedulingGates'),
}

const OWN = { namespace: SYSTEM_NAMESPACE, name: 'muster' }

/** What has to be asked beside the objects themselves. */
export interface Questions {
  /** Of this command. */
  readonly version: string
  /** The API server's own, as `/version` answers. */
  serverVersion(): Promise<unknown>
  /** Whether Muster's own account has a right; undefined: the caller may not ask in its name. */
  may(right: Right): Promise<boolean | undefined>
  /** How far the API server's clock is ahead of ours, from what it has answered so far. */
  skewMs(): number | undefined
}

/** Reads an installation. Nothing is changed: objects are read, and questions of rights are asked. */
export async function examine(
  sight: Sight,
  questions: Questions,
  given: Configuration | undefined,
  now: number,
): Promise<Facts> {
  const configErrors = given === undefined ? await errorsIn(sight) : []
  const { config, engine } = await readInstallation(sight, given)
  const kueue = versionsIn(await sight.api.discover([])).get(KUEUE_GROUP) ?? []
  const [mutating, validating, policies, bindings, namespaces, queues, pods, workloads, replicas] = await Promise.all([
    sight.list<InstalledConfiguration>(MUTATING_WEBHOOKS, {}),
    sight.list<InstalledConfiguration>(VALIDATING_WEBHOOKS, {}),
    sight.list<InstalledPolicy>(VALIDATING_POLICIES, {}),
    sight.list<InstalledPolicyBinding>(VALIDATING_POLICY_BINDINGS, {}),
    sight.list<KubeObject>(NAMESPACES, { metadataOnly: true }),
    sight.list<KubeObject>(LOCAL_QUEUES, { fieldSelector: `metadata.name=${DEFAULT_QUEUE}`, metadataOnly: true }),
    sight.list<Pod>(PODS, { outline: MARKS }),
    sight.list<QueuedWorkload>(engine.workloads, {}, workload => engine.forCache(workload)),
    sight.list<Replica>(PODS, {
      namespace: SYSTEM_NAMESPACE,
      labelSelector: 'app.kubernetes.io/name=muster,app.kubernetes.io/component=server',
    }),
  ])
  const [crd, secret, deployment, lease, service, endpoints] = await Promise.all([
    sight.get<KubeObject>(CRDS, { name: 'workloads.muster.dev' }),
    sight.get<Secret>(SECRETS, { namespace: SYSTEM_NAMESPACE, name: TLS_SECRET }),
    sight.get<Deployment>(DEPLOYMENTS, OWN),
    sight.get<Lease>(LEASES, OWN),
    sight.get<Service>(SERVICES, { namespace: SYSTEM_NAMESPACE, name: SERVICE_NAME }),
    sight.list<EndpointSlice>(ENDPOINT_SLICES, {
      namespace: SYSTEM_NAMESPACE,
      labelSelector: `kubernetes.io/service-name=${SERVICE_NAME}`,
    }),
  ])
  const { signal } = new AbortController()
  const served = await discoverScheduling(sight.api, signal)
  const ownsSecret = typeof secret === 'string' || recordIn(secret).ours
  const rules = rulesFor({ engine: config?.engine ?? 'builtin', ownsSecret })
  const missing = await missingRights(sight, questions, rules)
  const kubernetes = parseVersion(await questions.serverVersion())
  return {
    ...{ now, config, configErrors, crd, mutating, validating, policies, bindings, secret, deployment, replicas },
    ...{ service, endpoints, lease, namespaces, pods, workloads, served, missing, kubernetes },
    version: questions.version,
    skewMs: questions.skewMs(),
    defaultQueues: known(queues).map(({ metadata }) => metadata.namespace ?? ''),
    kueueOnPods: (await kueueSetup(sight.api, signal)).podIntegration,
    kueueServed: await serves(sight, kueue, engine.workloads.plural),
  }
}

async function serves({ api }: Sight, versions: readonly string[], plural: string): Promise<boolean> {
  for (const version of versions) {
    if (resourcesIn(await api.discover([KUEUE_GROUP, version])).includes(plural)) return true
  }
  return false
}

/** Its pods mount it: those that run go on, and no other one starts. */
const ABSENT = `it is not there, and no pod of Muster starts without it (kubectl apply -k manifests/); where Muster runs by a file, name that with --config`

async function errorsIn(sight: Sight): Promise<readonly string[]> {
  const map = await sight.get<ConfigMap>(CONFIG_MAPS, CONFIGURATION_REF)
  if (map === 'denied') return []
  if (map === 'absent') return [ABSENT]
  const parsed = configurationIn(map)
  return 'errors' in parsed ? parsed.errors : []
}

/** As many at once as the client has connections. */
const AT_ONCE = 16

/** What Muster's account lacks. Each right is asked for by itself: a role may be given in many ways. */
async function missingRights(sight: Sight, questions: Questions, rules: readonly Rule[]): Promise<Facts['missing']> {
  const wanted = [...rightsIn(rules)]
  const missing: Right[] = []
  while (wanted.length > 0) {
    const some = wanted.splice(0, AT_ONCE)
    const answers = await Promise.all(some.map(right => questions.may(right)))
    if (answers.includes(undefined)) {
      sight.note(`the rights of ${OFFLINE_IDENTITY} (needs impersonate on serviceaccounts)`)
      return 'denied'
    }
    missing.push(...some.filter((_, index) => answers[index] === false))
  }
  return missing
}

function parseVersion(version: unknown): Facts['kubernetes'] {
  if (!isObject(version)) return undefined
  const [major, minor] = [version.major, version.minor].map(part => Number.parseInt(String(part), 10))
  return major === undefined || minor === undefined || Number.isNaN(major + minor) ? undefined : { major, minor }
}
