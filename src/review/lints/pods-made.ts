import type { Path } from '../../documents/place.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { podsOf } from '../../workload/jobs/batch-job.ts'
import { countIn } from '../../workload/jobs/templates.ts'

/** Kinds that make as many pods of their template as `spec.replicas` says. */
const BY_REPLICAS: readonly string[] = [
  '/ReplicationController',
  'apps/Deployment',
  'apps/ReplicaSet',
  'apps/StatefulSet',
  'argoproj.io/Rollout',
]

/** More pods of one template are not counted one by one. */
const MAX_PODS = 1_000

/**
 * How many pods are made at once of the template to which `steps` lead. Undefined where only another's controller
 * knows, as with a DaemonSet, whose pods are as many as there are nodes.
 */
export function podsMadeOf(
  object: Fields,
  { group, kind }: { readonly group: string; readonly kind: string },
  steps: Path,
): number | undefined {
  const count = countFor(`${group}/${kind}`, fieldsOf(object.spec), steps)
  return count === undefined || count > MAX_PODS ? undefined : count
}

/** How many of its pods shall run all the time. */
export function replicasOf(
  object: Fields,
  { group, kind }: { readonly group: string; readonly kind: string },
): number | undefined {
  return BY_REPLICAS.includes(`${group}/${kind}`) ? (countIn(fieldsOf(object.spec).replicas) ?? 1) : undefined
}

function countFor(kind: string, spec: Fields, steps: Path): number | undefined {
  if (BY_REPLICAS.includes(kind)) return countIn(spec.replicas) ?? 1
  if (kind === 'batch/Job') return podsOf(spec)
  if (kind === 'batch/CronJob') return podsOf(fieldsOf(fieldsOf(spec.jobTemplate).spec))
  if (kind === 'leaderworkerset.x-k8s.io/LeaderWorkerSet') return workersOf(spec, steps.at(-1) === 'leaderTemplate')
  // spec.replicatedJobs[index].template.spec.template
  const index = steps[2]
  if (kind !== 'jobset.x-k8s.io/JobSet' || typeof index !== 'number') return undefined
  const { replicas, template } = fieldsOf(Array.isArray(spec.replicatedJobs) ? spec.replicatedJobs[index] : undefined)
  return (countIn(replicas) ?? 1) * podsOf(fieldsOf(fieldsOf(template).spec))
}

/** The size of each of its groups is with the leader, which may have a template of its own. */
function workersOf({ replicas, leaderWorkerTemplate }: Fields, isLeader: boolean): number {
  const { size, leaderTemplate } = fieldsOf(leaderWorkerTemplate)
  const workers = (countIn(size) ?? 1) - (isObject(leaderTemplate) ? 1 : 0)
  return (countIn(replicas) ?? 1) * (isLeader ? 1 : workers)
}

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})
