import { isObject } from '../../kube/vocabulary/fields.ts'
import { gangOf, isGang } from './gang.ts'
import type { JobView } from './job-view.ts'
import type { WrittenBlock } from './scheduling-spelling.ts'

/** The Job controller names the template of the PodGroup `<job>-pgt-0`, and that must be a DNS label. */
const MAX_JOB_NAME = 57

/** What Kubernetes accepts and then does not do. A warning has room for 256 characters. */
export function jobWarnings(job: JobView, block: WrittenBlock): readonly string[] {
  return [...nameWarnings(job), ...blockWarnings(job, block)]
}

/** A CronJob is the controller of its Jobs, and of a Job with a controller the Job controller makes no PodGroup. */
export function cronJobWarnings(job: JobView, block: WrittenBlock): readonly string[] {
  const ignored =
    `${block.paths.block}: Kubernetes 1.37 validates the scheduling of a CronJob's Jobs and then ignores it: ` +
    'it makes no PodGroup for a Job that a controller owns'
  return [ignored, ...blockWarnings(job, block)]
}

function nameWarnings({ name }: JobView): readonly string[] {
  const problem = name.includes('.') ? 'has a dot' : `is longer than ${MAX_JOB_NAME} characters`
  if (!name.includes('.') && name.length <= MAX_JOB_NAME) return []
  return [
    `metadata.name: the name of this Job ${problem}, so that it never gets its PodGroup and never starts: ` +
      `use at most ${MAX_JOB_NAME} characters and no dot`,
  ]
}

/** Whoever makes the objects. */
export function blockWarnings(job: JobView, block: WrittenBlock): readonly string[] {
  const { model, paths, kepPaths } = block
  const constraints = model.schedulingConstraints
  return [
    ...completionWarnings(job, block),
    ...(isObject(constraints) && constraints.topology !== undefined
      ? [dropped(paths.topology, 'TopologyAwareWorkloadScheduling')]
      : []),
    ...(model.resourceClaims === undefined ? [] : [dropped(paths.claims, 'DRAWorkloadResourceClaims')]),
    ...(kepPaths[0]?.includes('[') === false
      ? [`${kepPaths[0]}: a name of KEP-6089, which the API server drops: it would run this Job as basic`]
      : []),
  ]
}

const dropped = (path: string, gate: string): string =>
  `${path}: silently dropped from the PodGroup if the cluster's feature gate ${gate} is off`

function completionWarnings({ parallelism, completions }: JobView, { model, paths }: WrittenBlock): readonly string[] {
  if (completions === undefined || !isGang(model.schedulingPolicy)) return []
  const minCount = gangOf(model.schedulingPolicy)?.minCount
  if (typeof minCount === 'number') {
    if (minCount <= completions) return []
    return [`${paths.minCount}: ${minCount} pods can never be there at once, completions is ${completions}`]
  }
  if (minCount !== undefined || parallelism <= completions) return []
  return [
    `${paths.policy}.gang: minCount follows parallelism (${parallelism}), and so many pods can never be there at ` +
      `once: completions is ${completions}`,
  ]
}
