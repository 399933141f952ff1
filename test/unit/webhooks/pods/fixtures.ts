import type { AdmissionRequest, Operation, UserInfo } from '../../../../src/admission/review.ts'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import { type Configuration, DEFAULT_CONFIGURATION } from '../../../../src/config/configuration.ts'
import type {
  KubeObject,
  LabelSelector,
  OwnerReference,
  Pod,
  StringMap,
} from '../../../../src/kube/vocabulary/objects.ts'
import { AskingWorld } from '../../../../src/server/asking-world.ts'
import type { FieldError } from '../../../../src/validation/field-error.ts'
import { localWorld } from '../../../../src/webhooks/local-world.ts'
import type { Found, World } from '../../../../src/webhooks/world.ts'

export const K = 'kueue.x-k8s.io/'

export interface WorldOptions {
  readonly frameworks?: readonly string[]
  readonly manageAll?: boolean
  readonly namespaceSelector?: LabelSelector
  readonly podSelector?: LabelSelector
  readonly defaultQueue?: boolean
  readonly namespaceLabels?: Found<StringMap>
  readonly objects?: readonly KubeObject[]
  readonly exemptUsers?: readonly string[]
  readonly exemptGroups?: readonly string[]
  readonly engine?: Configuration['engine']
  readonly controllers?: Configuration['guard']['controllers']
}

export function worldOf(options: WorldOptions = {}): World {
  const { podOptions } = DEFAULT_CONFIGURATION.integrations
  const config: Configuration = {
    ...DEFAULT_CONFIGURATION,
    engine: options.engine ?? 'builtin',
    manageJobsWithoutQueueName: options.manageAll ?? false,
    integrations: {
      frameworks: options.frameworks ?? DEFAULT_CONFIGURATION.integrations.frameworks,
      podOptions: {
        namespaceSelector: options.namespaceSelector ?? podOptions.namespaceSelector,
        podSelector: options.podSelector ?? podOptions.podSelector,
      },
    },
    guard: {
      ...DEFAULT_CONFIGURATION.guard,
      exemptUsers: options.exemptUsers ?? [],
      exemptGroups: options.exemptGroups ?? [],
      controllers: options.controllers ?? DEFAULT_CONFIGURATION.guard.controllers,
    },
  }
  return {
    ...localWorld(config),
    namespace: name => {
      const labels = options.namespaceLabels ?? { 'kubernetes.io/metadata.name': name }
      return labels === 'absent' ? labels : { uid: `uid-of-${name}`, labels }
    },
    owner: (_namespace, reference) => {
      const match = options.objects?.find(
        ({ apiVersion, kind, metadata }) =>
          apiVersion === reference.apiVersion && kind === reference.kind && metadata.name === reference.name,
      )
      if (match === undefined) return 'absent'
      const { uid = '', labels, ownerReferences } = match.metadata
      return { uid, labels: labels ?? {}, ownerReferences: ownerReferences ?? [] }
    },
    hasDefaultQueue: () => options.defaultQueue ?? false,
  }
}

/** Kueue's behaviour: it queues all kinds of the list, and anybody may name an owner. */
export function likeKueue(frameworks: readonly string[]): Pick<WorldOptions, 'engine' | 'controllers' | 'frameworks'> {
  return { engine: 'kueue', frameworks, controllers: Object.fromEntries(frameworks.map(name => [name, ['*']])) }
}

/** The same world as a server has it whose caches have not seen any namespace, or any owner. */
export function askingWorld(world: World, unseen: 'namespace' | 'owner'): AskingWorld {
  return new AskingWorld({ ...world, [unseen]: () => 'unknown' })
}

export interface PodOptions {
  readonly labels?: StringMap
  readonly annotations?: StringMap
  readonly finalizers?: readonly string[]
  readonly owners?: readonly OwnerReference[]
  readonly gates?: readonly string[]
  readonly deletionTimestamp?: string
  readonly phase?: string
  readonly spec?: Readonly<Record<string, unknown>>
}

/** A pod with only what the test names; keys without a prefix get Kueue's. */
export function podOf(options: PodOptions = {}): Pod {
  const { gates } = options
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'trainer',
      namespace: 'team-a',
      ...(options.labels && { labels: prefixed(options.labels) }),
      ...(options.annotations && { annotations: prefixed(options.annotations) }),
      ...(options.finalizers && { finalizers: options.finalizers }),
      ...(options.owners && { ownerReferences: options.owners }),
      ...(options.deletionTimestamp && { deletionTimestamp: options.deletionTimestamp }),
    },
    spec: {
      containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }],
      ...(gates && { schedulingGates: gates.map(name => ({ name })) }),
      ...options.spec,
    },
    ...(options.phase && { status: { phase: options.phase } }),
  }
}

function prefixed(map: StringMap): StringMap {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key.includes('/') ? key : K + key, value]))
}

export const GATE = `${K}admission`
export const MANAGED = `${K}managed`

/** A pod as our mutator leaves it: role dc85db45 is one container with one cpu. */
export function queuedPod(options: PodOptions = {}): Pod {
  return podOf({
    ...options,
    labels: { 'queue-name': 'q', managed: 'true', ...options.labels },
    annotations: { 'role-hash': 'dc85db45', ...options.annotations },
    finalizers: options.finalizers ?? [MANAGED],
    gates: options.gates ?? [GATE],
  })
}

export interface RequestOptions {
  readonly operation?: Operation
  readonly old?: Pod
  readonly user?: UserInfo
  readonly subResource?: string
  readonly namespace?: string
}

export function requestOf(object: Pod, options: RequestOptions = {}): AdmissionRequest {
  return {
    uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    operation: options.operation ?? (options.old === undefined ? 'CREATE' : 'UPDATE'),
    namespace: options.namespace ?? object.metadata.namespace ?? 'team-a',
    name: object.metadata.name ?? '',
    object,
    oldObject: options.old ?? null,
    ...(options.user && { userInfo: options.user }),
    ...(options.subResource && { subResource: options.subResource }),
  }
}

export const controller = (apiVersion: string, kind: string, name: string, uid = name): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
  controller: true,
})

export function ownerObject(
  reference: OwnerReference,
  options: { readonly queue?: string; readonly owner?: OwnerReference; readonly uid?: string } = {},
): KubeObject {
  const { apiVersion, kind, name, uid } = reference
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace: 'team-a',
      uid: options.uid ?? uid,
      ...(options.queue !== undefined && { labels: { [`${K}queue-name`]: options.queue } }),
      ...(options.owner && { ownerReferences: [options.owner] }),
    },
  }
}

export function errorsOf(verdict: Verdict): readonly FieldError[] {
  return verdict.kind === 'denied' ? verdict.errors : []
}

/** `Type field` of every error: what a table of rules compares. */
export const brief = (verdict: Verdict): readonly string[] => errorsOf(verdict).map(e => `${e.type} ${e.field}`)
