import { versionsIn } from '../cluster/discovery.ts'
import { kueueSetup } from '../cluster/kueue-configuration.ts'
import { discoverScheduling } from '../cluster/scheduling-watch.ts'
import { WORKLOADS } from '../engines/builtin/workloads.ts'
import type { Sight } from '../insight/sight.ts'
import { ApiError, type ListOptions, type Resource } from '../kube/vocabulary/api.ts'
import { KAI_POD_GROUPS } from '../kube/vocabulary/kai.ts'
import { KUEUE_GROUP, KUEUE_KINDS, KUEUE_VERSIONS } from '../kube/vocabulary/kueue.ts'
import { SYSTEM_NAMESPACE } from '../kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../kube/vocabulary/objects.ts'
import { fields, type Outline } from '../kube/vocabulary/outline.ts'
import {
  COMPOSITE_POD_GROUPS,
  NAMESPACES,
  POD_GROUPS,
  PODS,
  SCHEDULING_WORKLOADS,
} from '../kube/vocabulary/resources.ts'
import { GROUPING_ANNOTATIONS, GROUPING_LABELS } from '../workload/grouped/job-to-group.ts'
import { QUEUED_MARKS } from '../workload/job-facts.ts'
import { JOB_KINDS } from '../workload/jobs/job-kinds.ts'
import { type Mark, POD_MARKS } from '../workload/pod-facts.ts'
import { CRDS, customKind, NARROW_KINDS, type OwnKind, WIDE_KINDS } from './kinds.ts'
import type { Job, Of, Remains, SchedulingObject } from './remains.ts'

const keysOf = (marks: readonly Mark[], place: Mark['in']): readonly string[] =>
  marks.flatMap(mark => (mark.in === place ? [mark.key] : []))

const METADATA = {
  ...fields('name', 'namespace', 'uid', 'resourceVersion', 'deletionTimestamp', 'finalizers'),
  ownerReferences: fields('apiVersion', 'kind', 'name', 'uid', 'controller'),
}

/** Of every pod of the cluster that much is read, and no more. */
const POD: Outline = {
  metadata: {
    ...METADATA,
    labels: fields(...keysOf(POD_MARKS, 'labels')),
    annotations: fields(...keysOf(POD_MARKS, 'annotations')),
  },
  spec: fields('schedulingGates', 'schedulingGroup'),
  status: fields('phase'),
}

const JOB: Outline = {
  metadata: {
    ...METADATA,
    labels: fields(...GROUPING_LABELS),
    annotations: fields(...keysOf(QUEUED_MARKS, 'annotations'), ...GROUPING_ANNOTATIONS),
  },
  spec: { ...fields('suspend'), template: { spec: fields('schedulingGroup') } },
  status: { conditions: fields('type', 'status') },
}

const SCHEDULING: Outline = {
  metadata: { ...METADATA, annotations: true },
  spec: fields('schedulingPolicy', 'minMember'),
}

interface Definition extends KubeObject {
  readonly spec: {
    readonly group: string
    readonly scope: string
    readonly names: { readonly plural: string; readonly kind: string }
    readonly versions: readonly { readonly name: string; readonly served: boolean }[]
  }
}

const DEFINITION: Outline = {
  metadata: fields('name'),
  spec: { ...fields('group', 'scope'), names: fields('plural', 'kind'), versions: fields('name', 'served') },
}

/** The kinds of CustomResourceDefinitions of which there may be something in a namespace. */
const customKinds = (definitions: readonly Definition[]): readonly OwnKind[] =>
  definitions.flatMap(({ spec: { group, scope, names, versions } }) => {
    const version = versions.find(({ served }) => served)?.name
    return scope === 'Namespaced' && version !== undefined
      ? [customKind({ group, version, ...names, namespaced: true })]
      : []
  })

/**
 * Of kinds of others, in Muster's namespace. Where they cannot be listed there is one: an API server asks a conversion
 * webhook that is away only for objects that are there.
 */
async function orSome(listed: Promise<readonly KubeObject[]>): Promise<readonly KubeObject[]> {
  try {
    return await listed
  } catch (error) {
    if (error instanceof ApiError && error.status >= 500) return [{ metadata: { name: '*' } }]
    throw error
  }
}

/** Looks at all that Muster may have left anywhere. What the caller may not read is noted by `sight`. */
export async function survey(sight: Sight): Promise<Remains> {
  const list = async <T extends KubeObject>(resource: Resource, query: ListOptions = {}): Promise<readonly T[]> => {
    const listed = await sight.list<T>(resource, query)
    return listed === 'denied' ? [] : listed
  }
  const { signal } = new AbortController()
  const { kubernetes, kai } = await discoverScheduling(sight.api, signal)
  const version = kubernetes?.podGroups && kubernetes.version !== 'v1alpha1' ? kubernetes.version : undefined
  const kueue = versionsIn(await sight.api.discover([])).get(KUEUE_GROUP) ?? []
  const kueueVersion = KUEUE_VERSIONS.find(each => kueue.includes(each))
  const kinds = (all: readonly OwnKind[], query: ListOptions) =>
    Promise.all(
      all.map(async kind => ({ ...kind, objects: await list(kind.resource, { ...query, metadataOnly: true }) })),
    )
  const scheduling = async (resource: Resource): Promise<Of<SchedulingObject>> => ({
    resource,
    objects: await list<SchedulingObject>(resource, { outline: SCHEDULING }),
  })
  const custom = async () => {
    const query = { namespace: SYSTEM_NAMESPACE, metadataOnly: true }
    const found = customKinds(await list<Definition>(CRDS, { outline: DEFINITION }))
    return Promise.all(found.map(async kind => ({ ...kind, objects: await orSome(list(kind.resource, query)) })))
  }
  const namespace = await sight.get<KubeObject>(NAMESPACES, { name: SYSTEM_NAMESPACE })
  const kueueSetUp = kueueVersion && (await kueueSetup(sight.api, signal))
  return {
    wide: await kinds(WIDE_KINDS, {}),
    narrow: [...(await kinds(NARROW_KINDS, { namespace: SYSTEM_NAMESPACE })), ...(await custom())],
    namespace: typeof namespace === 'object' ? namespace : undefined,
    pods: await list<Pod>(PODS, { outline: POD }),
    jobs: await Promise.all(
      JOB_KINDS.map(async kind => ({ kind, objects: await list<Job>(kind.resource, { outline: JOB }) })),
    ),
    workloads: { resource: WORKLOADS, objects: await list(WORKLOADS, { metadataOnly: true }) },
    kueueWorkloads: kueueVersion && {
      resource: KUEUE_KINDS[kueueVersion].workloads,
      objects: await list(KUEUE_KINDS[kueueVersion].workloads, { metadataOnly: true }),
    },
    kueueQueuesPods: kueueSetUp?.podIntegration !== undefined,
    podGroupVersion: version,
    podGroups: version === undefined ? [] : (await scheduling(POD_GROUPS[version])).objects,
    around:
      version === undefined
        ? []
        : [
            await scheduling(SCHEDULING_WORKLOADS[version]),
            ...(kubernetes?.composites ? [await scheduling(COMPOSITE_POD_GROUPS)] : []),
          ],
    kaiPodGroups: kai ? (await scheduling(KAI_POD_GROUPS)).objects : [],
  }
}
