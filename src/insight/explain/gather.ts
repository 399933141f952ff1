import { coSchedulers } from '../../cluster/co-schedulers.ts'
import { discoverScheduling } from '../../cluster/scheduling-watch.ts'
import { EVENT_SOURCE } from '../../kube/coordination/events.ts'
import { NAMESPACE_NAME_LABEL } from '../../kube/vocabulary/names.ts'
import type { KubeObject, Pod, StringMap } from '../../kube/vocabulary/objects.ts'
import { EVENTS, NAMESPACES } from '../../kube/vocabulary/resources.ts'
import { matchesSelector } from '../../kube/vocabulary/selectors.ts'
import { NOBODY, objectKey, type Placement } from '../../reconciler/co-scheduler.ts'
import type { Engine } from '../../reconciler/engine.ts'
import type { QueuedWorkload } from '../../workload/queued-workload.ts'
import { REASONS } from '../../workload/reasons.ts'
import type { Installation } from '../installation.ts'
import type { Sight } from '../sight.ts'
import { needsQueue } from './explain.ts'
import type { Subject } from './explanation.ts'
import { type Facts, type Found, type Told, workloadIn } from './facts.ts'
import { type Finding, find } from './find.ts'

/** Reads what an explanation is made of: the subject itself first, and of the rest only what it needs. */
export async function gather(sight: Sight, installation: Installation, subject: Subject, now: string): Promise<Facts> {
  const { config } = installation
  const { namespace } = subject
  const namespaceLabels = await labelsOf(sight, namespace)
  const selects = () =>
    config === undefined || matchesSelector(config.integrations.podOptions.namespaceSelector, namespaceLabels)
  const { found, through, engine } = await findWith(sight, installation, selects, subject)
  const told = await lastWord(sight, namespace, found)
  const known: Facts = {
    ...{ subject, engine, config, found, namespaceLabels },
    ...(through && { through }),
    placement: await placementOf(sight, engine, found),
    ...(told && { told }),
    unseen: [],
  }
  const workloads = needsQueue(known, now)
    ? await sight.list<QueuedWorkload>(engine.workloads, {}, workload => engine.forCache(workload))
    : 'denied'
  return { ...known, ...(workloads !== 'denied' && { workloads }), unseen: sight.unseen }
}

/** By the engine in use. Where nobody here can tell which one is, the one that has a Workload for it. */
async function findWith(
  sight: Sight,
  { engine, other }: Installation,
  selects: () => boolean,
  subject: Subject,
): Promise<Finding & { readonly engine: Engine }> {
  if (other === undefined) return { ...(await find({ sight, engine, selects }, subject)), engine }
  const [first, second] = await Promise.allSettled(
    [engine, other].map(async each => ({ ...(await find({ sight, engine: each, selects }, subject)), engine: each })),
  )
  if (second?.status === 'fulfilled' && workloadIn(second.value.found) !== undefined) return second.value
  if (first?.status === 'fulfilled') return first.value
  throw first?.reason
}

async function labelsOf(sight: Sight, name: string): Promise<StringMap> {
  const namespace = await sight.get<KubeObject>(NAMESPACES, { name })
  const labels = typeof namespace === 'object' ? namespace.metadata.labels : {}
  return { ...labels, [NAMESPACE_NAME_LABEL]: name }
}

interface ToldEvent extends KubeObject {
  readonly reason?: string
  readonly note?: string
  readonly eventTime?: string | null
  readonly reportingController?: string
}

async function lastWord(sight: Sight, namespace: string, found: Found): Promise<Told | undefined> {
  const uid = spokenOf(found)
  if (uid === undefined) return undefined
  const events = await sight.list<ToldEvent>(EVENTS, { namespace, fieldSelector: `regarding.uid=${uid}` })
  const told = (events === 'denied' ? [] : events).flatMap(event => {
    const reason = REASONS.find(known => known === event.reason)
    const since = event.eventTime ?? event.metadata.creationTimestamp ?? ''
    if (reason === undefined || event.reportingController !== EVENT_SOURCE) return []
    return [{ reason, message: event.note ?? '', since: since.replace(/\.\d+Z$/, 'Z') }]
  })
  return told.toSorted((a, b) => (a.since < b.since ? 1 : -1))[0]
}

/** The object that Muster's Events are about. */
export function spokenOf(found: Found): string | undefined {
  if (found.kind === 'pods') return (found.pod?.pod ?? found.unit.pods[0])?.metadata.uid
  return found.kind === 'job' ? found.unit.job?.metadata.uid : undefined
}

/** More than a group has gangs. */
const MOST_OBJECTS = 32

/** What its scheduler has of a unit that is admitted and not placed yet; nobody else is asked about that. */
async function placementOf(sight: Sight, engine: Facts['engine'], found: Found): Promise<Placement> {
  const workload = workloadIn(found)
  if (found.kind !== 'pods' || workload === undefined || engine.read(workload).kind !== 'admitted') return NOBODY
  const unplaced = found.unit.pods.filter(pod => pod.spec.nodeName === undefined)
  const schedulers = coSchedulers()
  const wanted = wantedBy(unplaced, schedulers)
  if (wanted.size === 0) return NOBODY
  const served = await discoverScheduling(sight.api, new AbortController().signal)
  const objects = new Map<string, KubeObject>()
  for (const { resource } of schedulers.flatMap(({ kinds }) => kinds)) {
    if (resource.group === 'scheduling.k8s.io' && resource.version !== served.kubernetes?.version) continue
    for (const key of wanted) {
      const [, , namespace = '', name = ''] = key.split('/')
      if (objectKey(resource, namespace, name) !== key || namespace === '') continue
      const object = await sight.get<KubeObject>(resource, { namespace, name })
      if (typeof object === 'object') objects.set(key, object)
    }
  }
  return {
    schedulers,
    known: {
      served,
      find: (resource, namespace, name) => objects.get(objectKey(resource, namespace, name)),
      named: (resource, name) =>
        [...objects].flatMap(([key, object]) =>
          object.metadata.name === name && key === objectKey(resource, object.metadata.namespace ?? '', name)
            ? [object]
            : [],
        ),
    },
  }
}

function wantedBy(pods: readonly Pod[], schedulers: Placement['schedulers']): ReadonlySet<string> {
  const keys = new Set<string>()
  for (const pod of pods) {
    for (const scheduler of schedulers) for (const key of scheduler.objectsOf(pod)) keys.add(key)
    if (keys.size > MOST_OBJECTS) break
  }
  return keys
}
