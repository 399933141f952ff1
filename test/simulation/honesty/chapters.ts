import { beyond } from './chapters/beyond.ts'
import { collection, namespaceDeletion } from './chapters/controllers.ts'
import { creation } from './chapters/creation.ts'
import { deletion, gracefulDeletion, workloadDeletion } from './chapters/deletion.ts'
import { history } from './chapters/history.ts'
import { jobs } from './chapters/jobs.ts'
import { metadata, workloadMetadata } from './chapters/metadata.ts'
import { podSpec, podStatus } from './chapters/pod-spec.ts'
import { initialEvents, lists, watching, watchingWorkloads } from './chapters/reading.ts'
import { replacement } from './chapters/replacement.ts'
import { workloads } from './chapters/workloads.ts'
import type { Chapter } from './play.ts'

/** The whole script. Slow ones first: chapters are played side by side on the real server. */
export const CHAPTERS: readonly Chapter[] = [
  collection,
  namespaceDeletion,
  creation,
  metadata,
  workloadMetadata,
  podSpec,
  podStatus,
  workloads,
  jobs,
  replacement,
  deletion,
  gracefulDeletion,
  workloadDeletion,
  watching,
  watchingWorkloads,
  initialEvents,
  lists,
  beyond,
  history,
]
