import type { ListOptions, ObjectList, Resource } from '../../kube/vocabulary/api.ts'
import type { KubeObject, Pod } from '../../kube/vocabulary/objects.ts'
import { fields, type Outline } from '../../kube/vocabulary/outline.ts'
import { EVENTS, PODS } from '../../kube/vocabulary/resources.ts'
import { POD_OUTLINE, podForCache } from '../../reconciler/cache-contents.ts'
import { uidOf } from '../../workload/pod-facts.ts'
import { explain } from '../explain/explain.ts'
import type { Subject } from '../explain/explanation.ts'
import { type Found, workloadIn } from '../explain/facts.ts'
import { gather } from '../explain/gather.ts'
import type { Installation } from '../installation.ts'
import type { ReadOnlyApi, Sight } from '../sight.ts'
import { SHOWN_PODS, type Story, storyOf, type ToldEvent } from './story.ts'

/** Events are read object by object: of a large group those of the first pods, which differ little from the others'. */
const ASKED_PODS = 20
const EVENTS_EACH = 100
/** How many answers are waited for at once. */
const AT_ONCE = 6

const EVENT_OUTLINE: Outline = {
  metadata: fields('name', 'namespace', 'uid', 'creationTimestamp'),
  ...fields('type', 'reason', 'note', 'eventTime', 'reportingController', 'series', 'deprecatedLastTimestamp'),
  ...fields('deprecatedCount', 'deprecatedSource'),
  regarding: fields('kind', 'name', 'uid'),
}

/** By which the pods of what waits as a whole are found: neither kind says so anywhere else. */
const OWNER_LABELS: Readonly<Record<string, string>> = {
  job: 'batch.kubernetes.io/job-name',
  jobset: 'jobset.sigs.k8s.io/jobset-name',
}

/** Reads a story: what `muster explain` reads, and the Events and pods besides. */
export async function gatherStory(
  sight: Sight,
  installation: Installation,
  subject: Subject,
  now: string,
): Promise<Story> {
  const facts = await gather(sight, installation, subject, now)
  const { found } = facts
  const pods = await podsOf(sight, facts.through ?? subject, found)
  const asked = pods.slice(0, ASKED_PODS)
  const workload = workloadIn(found)
  const job = found.kind === 'job' ? found.unit.job?.metadata.uid : undefined
  const uids = [workload?.metadata.uid, job, ...asked.map(uidOf)].filter(uid => uid !== undefined && uid !== '')
  const events: ToldEvent[] = []
  for (let at = 0; at < uids.length; at += AT_ONCE) {
    const pages = uids.slice(at, at + AT_ONCE).map(uid => {
      const query = { namespace: subject.namespace, fieldSelector: `regarding.uid=${uid}`, outline: EVENT_OUTLINE }
      return sight.first<ToldEvent>(EVENTS, query, EVENTS_EACH)
    })
    for (const page of await Promise.all(pages)) events.push(...page)
  }
  const explanation = explain({ ...facts, unseen: sight.unseen }, now)
  return storyOf({ subject, explanation, workload, pods, podsInAll: pods.length, events, eventsOf: asked.length })
}

async function podsOf(sight: Sight, { kind, namespace, name }: Subject, found: Found): Promise<readonly Pod[]> {
  if (found.kind === 'pods') return found.unit.pods
  const label = OWNER_LABELS[kind]
  if (label === undefined || found.kind === 'none') return []
  const query = { namespace, labelSelector: `${label}=${name}`, outline: POD_OUTLINE }
  const pods = await sight.first<Pod>(PODS, query, SHOWN_PODS)
  return pods.map(pod => podForCache(pod))
}

/** The same cluster, but for one kind of which everything is in a cache already. */
export function overCache(
  api: ReadOnlyApi,
  resource: Resource,
  cached: () => Iterable<KubeObject> | undefined,
): ReadOnlyApi {
  const list = async <T extends KubeObject>(asked: Resource, query: ListOptions): Promise<ObjectList<T>> => {
    const isWhole = asked === resource && [query.namespace, query.labelSelector, query.fieldSelector].every(isAbsent)
    const items = isWhole ? cached() : undefined
    if (items === undefined) return await api.list<T>(asked, query)
    return { metadata: {}, items: [...items] as readonly KubeObject[] as readonly T[] }
  }
  return { get: (...call) => api.get(...call), discover: (...call) => api.discover(...call), list }
}

const isAbsent = (value: unknown): boolean => value === undefined
