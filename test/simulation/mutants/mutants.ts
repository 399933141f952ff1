import { DECISIONS_BUGS } from './bugs/decisions.ts'
import { GANGS_BUGS } from './bugs/gangs.ts'
import { JOBS_BUGS } from './bugs/jobs.ts'
import { KAI_BUGS } from './bugs/kai.ts'
import { KUEUE_BUGS } from './bugs/kueue.ts'
import { LIMITS_BUGS } from './bugs/limits.ts'
import { WRITES_BUGS } from './bugs/writes.ts'
import type { Mutant } from './mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  ...WRITES_BUGS,
  ...DECISIONS_BUGS,
  ...JOBS_BUGS,
  ...GANGS_BUGS,
  ...KAI_BUGS,
  ...KUEUE_BUGS,
  ...LIMITS_BUGS,
]
