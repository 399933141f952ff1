import type { Path } from '../../documents/place.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'

/** Pods that are made only when others run. Of one group with them, they wait for each other for ever. */
export interface Later {
  /** How many pods of the template come without waiting. */
  readonly atOnce: number
  /** The templates whose pods the others wait for. */
  readonly behind: readonly Fields[]
  /** Half a sentence: who makes them so, and what would be otherwise. */
  readonly why: string
  readonly remedy: string
}

/** Undefined: all pods of the template to which `steps` lead are made at once. */
export function madeLater(
  object: Fields,
  { group, kind }: { readonly group: string; readonly kind: string },
  steps: Path,
): Later | undefined {
  const spec = fieldsOf(object.spec)
  switch (`${group}/${kind}`) {
    case 'apps/StatefulSet':
      return statefulSet(spec)
    case 'jobset.x-k8s.io/JobSet':
      return jobSet(spec, steps[2])
    case 'leaderworkerset.x-k8s.io/LeaderWorkerSet':
      return leaderWorkerSet(spec, steps.at(-1))
    default:
      return undefined
  }
}

function statefulSet({ podManagementPolicy, template }: Fields): Later | undefined {
  if (podManagementPolicy === 'Parallel') return undefined
  return {
    atOnce: 1,
    behind: [fieldsOf(template)],
    why: 'a StatefulSet makes its pods one after the other, each when the one before is ready',
    remedy: 'write podManagementPolicy: Parallel, or let the first pods start alone with pod-group-fast-admission',
  }
}

/** `InOrder`: each of its Jobs when those before it are ready; `dependsOn`: when those that it names are. */
function jobSet({ startupPolicy, replicatedJobs }: Fields, index: unknown): Later | undefined {
  if (typeof index !== 'number' || !Array.isArray(replicatedJobs)) return undefined
  const jobs = replicatedJobs.map(fieldsOf)
  const inOrder = fieldsOf(startupPolicy).startupPolicyOrder === 'InOrder'
  const before = inOrder ? jobs.slice(0, index) : [...dependenciesOf(jobs[index] ?? {}, jobs)]
  if (before.length === 0) return undefined
  return {
    atOnce: 0,
    behind: before.map(({ template }) => fieldsOf(fieldsOf(fieldsOf(template).spec).template)),
    why: `the Jobs of a JobSet start one after the other (${inOrder ? 'startupPolicy' : 'dependsOn'})`,
    remedy: 'let the JobSet wait as a whole, with the queue label on itself, or give each of its Jobs a group',
  }
}

function dependenciesOf(job: Fields, jobs: readonly Fields[], found = new Set<Fields>()): ReadonlySet<Fields> {
  const named = Array.isArray(job.dependsOn) ? job.dependsOn.map(each => fieldsOf(each).name) : []
  for (const other of jobs) {
    if (!named.includes(other.name) || found.has(other)) continue
    found.add(other)
    dependenciesOf(other, jobs, found)
  }
  return found
}

/** Without a template of its own the leader is made from that of the workers. */
function leaderWorkerSet({ startupPolicy, replicas, leaderWorkerTemplate }: Fields, step: unknown): Later | undefined {
  if (startupPolicy !== 'LeaderReady' || step !== 'workerTemplate') return undefined
  const { leaderTemplate, workerTemplate } = fieldsOf(leaderWorkerTemplate)
  return {
    atOnce: isObject(leaderTemplate) ? 0 : typeof replicas === 'number' ? replicas : 1,
    behind: [fieldsOf(leaderTemplate ?? workerTemplate)],
    why: 'a LeaderWorkerSet makes its workers when their leader is ready (startupPolicy: LeaderReady)',
    remedy: 'write startupPolicy: LeaderCreated',
  }
}

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})
