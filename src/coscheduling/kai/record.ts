import { plainScalar } from '../../documents/scalars.ts'
import { parseApiVersion } from '../../kube/vocabulary/api-version.ts'
import type { Owner } from './objects.ts'

/** Text that Go's YAML would read back as a time. */
const TIME = /^\d{4}-\d\d?-\d\d?(?:$|[Tt ])/
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9./_-]*$/

/** The owner as KAI notes it on its PodGroups: YAML, its keys in this order, quoted where Go's writer quotes. */
export function topOwnerRecord({ name, uid, apiVersion, kind }: Pick<Owner, 'name' | 'uid' | 'apiVersion' | 'kind'>) {
  const { group, version } = parseApiVersion(apiVersion)
  return Object.entries({ name, uid, group, version, kind })
    .map(([key, value]) => `${key}: ${scalar(value)}\n`)
    .join('')
}

function scalar(text: string): string {
  const plain = PLAIN.test(text) && plainScalar(text) === text && !TIME.test(text)
  return plain ? text : JSON.stringify(text)
}
