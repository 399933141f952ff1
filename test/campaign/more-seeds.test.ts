import { describe, it } from 'vitest'
import { expectEveryPromiseKept } from '../simulation/runs/expect-kept.ts'
import type { Subject } from '../simulation/schedule/generate.ts'

/** What `test/simulation` begins with, gone on with: too long for those who wait for their tests. */
const CAMPAIGNS: readonly (readonly [string, Subject, readonly number[]])[] = [
  ['pods and groups', {}, [151, 201, 251, 301, 351]],
  ['an engine that decides in another process', { engine: 'external' }, [51, 101, 151]],
  ['Kueue as the engine', { engine: 'kueue' }, [51, 101]],
  ['Jobs among pods', { jobs: true }, [51, 101]],
  ['JobSets among pods', { sets: true }, [51]],
  ['groups that kube-scheduler places', { gangs: true }, [31, 81, 131]],
  ['Jobs that Muster groups', { gangs: true, jobs: true }, [21]],
  ['pods that KAI places', { kai: true }, [41]],
  ['limits that change', { limits: true }, [26]],
  ['limits that change under Jobs', { limits: true, jobs: true }, [21]],
]

describe.each(CAMPAIGNS)('every promise of the reconciler holds: %s', (_what, subject, blocks) => {
  it.each(blocks)('in the 50 runs from seed %i', from => expectEveryPromiseKept(from, 50, subject))
})
