import { REVIEW_REASONS } from '../../admission/reasons.ts'
import * as names from '../../kube/vocabulary/names.ts'
import { LINTS } from '../lints/catalog.ts'
import type { Result } from '../report.ts'

/** Reasons that no manifest and no readable review leads to. */
const OUT_OF_REACH: readonly string[] = ['InternalError', 'NotACreation', 'NotAJob', 'NotAPod', 'NotAWorkload']

/** Keys and fields of which webhooks say that they are wrong. */
const FIELDS: readonly string[] = [
  ...[names.QUEUE_NAME, names.MANAGED, names.GROUP_NAME, names.GROUP_ROLE, names.MAX_EXEC_TIME].map(
    key => `metadata.labels[${key}]`,
  ),
  ...[
    names.GROUP_TOTAL_COUNT,
    names.GROUP_COUNT,
    names.GROUP_ROLES,
    names.GROUP_ROLE_COUNT,
    names.GROUP_SETS,
    names.ROLE_HASH,
    names.ELASTIC_JOB,
    names.SCHEDULING,
  ].map(key => `metadata.annotations[${key}]`),
  'metadata.finalizers',
  'metadata.ownerReferences',
  'spec.schedulingGates',
  'spec.scheduling',
  'spec.parallelism',
  'spec.suspend',
]

/** What can be tested: every reason of a result, every field that can be wrong, every lint. */
export const RULES: readonly string[] = [
  ...REVIEW_REASONS.filter(reason => !OUT_OF_REACH.includes(reason)).map(reason => `reason ${reason}`),
  ...FIELDS.map(field => `error ${field}`),
  ...LINTS.map(({ code }) => `lint ${code}`),
]

/** Which rules the cases have touched. */
export class Coverage {
  readonly #touched = new Set<string>()

  add({ reason, errors, findings }: Result): void {
    this.#touched.add(`reason ${reason}`)
    for (const { code } of findings) this.#touched.add(`lint ${code}`)
    for (const { field } of errors) {
      const known = FIELDS.find(each => field === each || field.startsWith(`${each}.`) || field.startsWith(`${each}[`))
      if (known !== undefined) this.#touched.add(`error ${known}`)
    }
  }

  get untouched(): readonly string[] {
    return RULES.filter(rule => !this.#touched.has(rule))
  }

  /** Of all rules, in whole percent. */
  get percent(): number {
    return Math.floor((100 * (RULES.length - this.untouched.length)) / RULES.length)
  }
}
