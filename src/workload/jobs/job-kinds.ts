import type { Resource } from '../../kube/vocabulary/api.ts'
import type { Outline } from '../../kube/vocabulary/outline.ts'
import { BATCH_JOB } from './batch-job.ts'
import type { JobKind } from './job-kind.ts'
import { JOB_SET } from './job-set.ts'

export const JOB_KINDS: readonly JobKind[] = [BATCH_JOB, JOB_SET]

/** All that Muster itself queues. */
export const OWN_FRAMEWORKS: readonly string[] = ['pod', ...JOB_KINDS.map(({ framework }) => framework)]

export const jobKindOf = (word: string): JobKind | undefined => JOB_KINDS.find(kind => kind.word === word)
export const frameworkKind = (framework: string): JobKind | undefined =>
  JOB_KINDS.find(kind => kind.framework === framework)
export const jobOutline = (resource: Resource): Outline | undefined =>
  JOB_KINDS.find(kind => kind.resource === resource)?.outline
