import type { UserInfo } from '../../admission/review.ts'
import type { Configuration } from '../../config/configuration.ts'
import { type FieldError, forbidden } from '../../validation/field-error.ts'
import { gangOf, gangSize, isGang, isImplicitGang } from '../../validation/jobs/gang.ts'
import { blockOf, type JobView } from '../../validation/jobs/job-view.ts'
import { infersGangs } from '../../workload/grouped/maker.ts'
import { createsFor } from '../creators.ts'
import type { World } from '../world.ts'

/**
 * KEP-5547: the parallelism of a gang does not change, up or down, running or suspended. Kubernetes 1.36 had this as an
 * admission plugin that looked for live PodGroups, and so let changes pass just after a start; 1.37 has nothing. Here
 * the Job itself says whether it is a gang. `gangChanges: deny` makes no exception for a Job that has never started:
 * at its first sync, suspended or not, its PodGroup has been made already.
 */
export function parallelismErrors(
  before: JobView,
  after: JobView,
  user: UserInfo | undefined,
  world: Pick<World, 'config' | 'scheduling'>,
): readonly FieldError[] {
  const { config } = world
  const { gangChanges } = config.jobs.parallelism
  if (gangChanges === 'allow' || before.parallelism === after.parallelism) return []
  if (after.numberErrors.length > 0 || isRoots(before, after, user, config)) return []
  const gang = gangIn(before, infersGangs(world.scheduling(), config) ? config.jobs.parallelism.implicitGang : 'none')
  if (gang === undefined) return []
  const detail =
    `cannot change parallelism for Job ${JSON.stringify(before.name)} from ${before.parallelism} to ` +
    `${after.parallelism}: its pods are scheduled as one gang (${gang}). Create a new Job with the parallelism you ` +
    'need, or one with the policy `basic`, whose parallelism may change'
  return [forbidden(`${after.prefix}spec.parallelism`, detail)]
}

/**
 * Its root decides what its gang is: of a Job with a controller, the Job controller makes no PodGroup. But anybody can
 * write a controller on a Job whose PodGroup is there, and take it off again; so it is the root that must ask.
 */
function isRoots(
  { controller: was }: JobView,
  { controller: is }: JobView,
  user: UserInfo | undefined,
  config: Configuration,
): boolean {
  if (was === undefined || is === undefined || was.uid !== is.uid) return false
  const { apiVersion, kind } = is
  return typeof apiVersion === 'string' && typeof kind === 'string' && createsFor({ apiVersion, kind }, user, config)
}

/** How the Job says that it is a gang; undefined when it is none. */
function gangIn(job: JobView, implicitGang: Configuration['jobs']['parallelism']['implicitGang']): string | undefined {
  const block = blockOf(job)
  if (block !== undefined && isGang(block.model.schedulingPolicy)) {
    const minCount = gangSize(gangOf(block.model.schedulingPolicy), job.parallelism)
    return `${block.paths.policy}.gang with minCount ${minCount}`
  }
  const explicit = block?.model.schedulingPolicy !== undefined
  if (implicitGang === 'none' || explicit || !isImplicitGang(job)) return undefined
  const why =
    implicitGang === 'auto'
      ? 'as the Job controller of this cluster has it'
      : 'jobs.parallelism.implicitGang is indexed'
  return `Indexed with parallelism ${job.parallelism}, ${why}`
}
