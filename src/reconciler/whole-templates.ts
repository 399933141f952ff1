import { ApiError, type KubeApi } from '../kube/vocabulary/api.ts'
import { ADMISSION_GATED_BY } from '../kube/vocabulary/names.ts'
import type { Container, KubeObject, Pod, StringMap } from '../kube/vocabulary/objects.ts'
import { PODS } from '../kube/vocabulary/resources.ts'
import type { Model } from '../workload/actions.ts'
import { MAX_WORKLOAD_BYTES } from '../workload/compose.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'

/** Kueue's annotations for whoever provides capacity. */
const PROVISIONING = 'provreq.kueue.x-k8s.io/'

/**
 * The Workload with the pods themselves as its templates, where the cache has only what admission reads of them: another
 * program goes by the rest. Undefined: a pod is not there any more, or all of them are too much for one object, and what
 * admission reads has to be enough.
 */
export async function withWholeTemplates(
  wanted: KubeObject,
  models: readonly Model[],
  api: Pick<KubeApi, 'get'>,
): Promise<KubeObject | undefined> {
  const found = new Map<string, Pod>()
  for (const { podSet, pod } of models) {
    const known = await orNothing(api.get<Pod>(PODS, { namespace: pod.namespace, name: pod.name }))
    if (known?.metadata.uid !== pod.uid) return undefined
    found.set(podSet, known)
  }
  const { metadata, spec, ...workload } = wanted as QueuedWorkload
  const podSets = spec.podSets.map(podSet => {
    const pod = found.get(podSet.name)
    return pod === undefined ? podSet : { ...podSet, template: { spec: withoutDoubles(pod.spec) } }
  })
  const [first] = found.values()
  const annotations = { ...metadata.annotations, ...(first && handedOn(first)) }
  const whole = { ...workload, metadata: { ...metadata, annotations }, spec: { ...spec, podSets } }
  return Buffer.byteLength(JSON.stringify(whole)) > MAX_WORKLOAD_BYTES ? undefined : whole
}

function handedOn({ metadata }: Pod): StringMap {
  return Object.fromEntries(
    Object.entries(metadata.annotations ?? {}).filter(
      ([key]) => key === ADMISSION_GATED_BY || key.startsWith(PROVISIONING),
    ),
  )
}

/** A pod may set a variable twice, and the last one counts; in a Workload each has its name once. */
function withoutDoubles(spec: Pod['spec']): Pod['spec'] {
  const { containers, initContainers } = spec
  return {
    ...spec,
    ...(containers && { containers: containers.map(oncePerName) }),
    ...(initContainers && { initContainers: initContainers.map(oncePerName) }),
  }
}

interface Variables {
  readonly env?: readonly { readonly name: string }[] | null
}

function oncePerName(container: Container & Variables): Container {
  if (!container.env) return container
  return {
    ...container,
    env: [...new Map(container.env.map(variable => [variable.name, variable])).values()],
  } as Container
}

async function orNothing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}
