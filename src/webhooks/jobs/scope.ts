import type { ReviewReason } from '../../admission/reasons.ts'
import type { UserInfo } from '../../admission/review.ts'
import { type Denied, forbiddenRequest } from '../../admission/verdict.ts'
import type { Configuration } from '../../config/configuration.ts'
import { frameworkOf } from '../../kube/vocabulary/frameworks.ts'
import { DEFAULT_QUEUE } from '../../kube/vocabulary/names.ts'
import { asksForQueue, childOf } from '../../workload/job-facts.ts'
import { isForeign } from '../../workload/jobs/job-kind.ts'
import { type Marked, queueIn, queueOf } from '../../workload/pod-facts.ts'
import { existingNamespaceSelected, namespaceSelected } from '../namespace.ts'
import { findQueuedAncestor } from '../owners.ts'
import type { World } from '../world.ts'
import { JOBS, QUEUEABLE_FRAMEWORKS, type QueueableKind } from './kinds.ts'
import type { QueueableObject } from './shape.ts'

/** Whether a Job or JobSet waits in a queue of ours. `ignored` says why not, in one word. */
export type JobScope =
  | { readonly kind: 'ignored'; readonly reason: ReviewReason }
  /** It is its root that waits, `framework:name`. */
  | { readonly kind: 'child'; readonly root: string }
  /** The queue label that it has to have; empty: it waits until somebody names a queue. */
  | { readonly kind: 'ours'; readonly queue: string }

const ignored = (reason: ReviewReason): JobScope => ({ kind: 'ignored', reason })

/** Whether there is anything to queue but pods, as far as the configuration says. */
export function queuesJobs({ engine, integrations }: Configuration): boolean {
  return engine === 'builtin' && integrations.frameworks.some(name => QUEUEABLE_FRAMEWORKS.includes(name))
}

/** What the configuration and the engine say, and of namespaces only whether they are selected. */
export interface Scoping extends Pick<World, 'config' | 'holds'> {
  selects(namespace: string): boolean
}

type Framework = Pick<QueueableKind, 'framework'>

/** With Kueue as the engine it is Kueue that suspends and resumes, and its own webhooks that judge. */
export function queuesKind({ framework }: Framework, { config, holds }: Pick<Scoping, 'config' | 'holds'>): boolean {
  return config.engine === 'builtin' && holds.includes(framework) && config.integrations.frameworks.includes(framework)
}

/**
 * One that exists: webhooks and reconciler ask this, so that nothing is suspended which nobody looks at (Kueue #13374,
 * #7649). What is to wait has the label since its creation; a Job that its root queues has the stamp.
 */
export function jobScope(object: Marked, kind: Framework, namespace: string, scoping: Scoping): JobScope {
  if (!queuesKind(kind, scoping)) return ignored('KindNotQueued')
  const root = childOf(object)
  if (root !== undefined) return { kind: 'child', root }
  if (!asksForQueue(object)) return ignored('NoQueue')
  return scoping.selects(namespace) ? { kind: 'ours', queue: queueOf(object) } : ignored('NamespaceNotSelected')
}

/** The same question, as webhooks ask it: the reconciler knows already who runs an object. */
export function existingJobScope(
  object: QueueableObject,
  kind: QueueableKind,
  namespace: string,
  world: World,
): JobScope {
  if (isForeign(kind, object.spec.managedBy)) return ignored('ForeignController')
  return jobScope(object, kind, namespace, { ...world, selects: name => existingNamespaceSelected(name, world) })
}

/**
 * One that is being created: what it says of itself comes first, as with pods. Children of what is queued are left to
 * their root, if it is the root's controller that creates them; a CronJob waits for nothing, so its Jobs are roots.
 */
export function newJobScope(
  object: QueueableObject,
  kind: QueueableKind,
  namespace: string,
  user: UserInfo | undefined,
  world: World,
): JobScope | Denied {
  if (!queuesKind(kind, world)) return ignored('KindNotQueued')
  const queue = queueIn(labelsOf(object, kind)) || (world.hasDefaultQueue(namespace) ? DEFAULT_QUEUE : '')
  if (queue === '' && !world.config.manageJobsWithoutQueueName) return ignored('NoQueue')
  if (isForeign(kind, object.spec.managedBy)) return ignored('ForeignController')

  const selected = namespaceSelected(namespace, world)
  if (typeof selected !== 'boolean') return selected
  if (!selected) return ignored('NamespaceNotSelected')

  const ancestry = findQueuedAncestor(object, namespace, user, world)
  if (ancestry.kind === 'broken') return forbiddenRequest([ancestry.error])
  if (ancestry.kind === 'none') return { kind: 'ours', queue }
  const { owner } = ancestry
  return { kind: 'child', root: `${frameworkOf(owner)}:${owner.name}` }
}

/**
 * The API server copies the labels of the template onto a Job that has none, before any webhook sees it. What comes
 * from a file has not been there.
 */
function labelsOf({ metadata, spec }: QueueableObject, { kind }: QueueableKind): Marked['metadata']['labels'] {
  const isBare = Object.keys(metadata.labels ?? {}).length === 0
  return isBare && kind === JOBS.kind ? spec.template?.metadata?.labels : metadata.labels
}
