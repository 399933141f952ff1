import { NAMESPACE_NAME_LABEL, QUEUE_NAME } from '../kube/vocabulary/names.ts'
import { matchesSelector } from '../kube/vocabulary/selectors.ts'
import { type FieldError, forbidden, labelPath } from '../validation/field-error.ts'
import { type Marked, queueOf } from '../workload/pod-facts.ts'
import type { World } from './world.ts'

/** As many as a person reads before he asks somebody. */
const MOST_NAMES = 10

/**
 * Whose queue it is. The queues of the built-in engine have one name in the whole cluster, and a name that nobody has
 * listed is a queue without limits: so a queue may belong to some namespaces, and unlisted ones may be refused, which
 * makes an error of a name that is misspelt. With another engine the queues are that engine's.
 */
export function queueErrors(object: Marked, namespace: string, world: World): readonly FieldError[] {
  const { engine, queues, unlistedQueues } = world.config
  const name = queueOf(object)
  if (engine !== 'builtin' || name === '' || (queues.length === 0 && unlistedQueues === 'admit')) return []
  const listed = queues.find(queue => queue.name === name)
  if (listed === undefined && unlistedQueues === 'admit') return []
  if (listed !== undefined && listed.namespaces === undefined) return []

  const found = world.namespace(namespace)
  const labels = found === 'absent' ? { [NAMESPACE_NAME_LABEL]: namespace } : found.labels
  const open = queues.filter(({ namespaces }) => namespaces === undefined || matchesSelector(namespaces, labels))
  if (listed !== undefined && open.includes(listed)) return []
  const problem =
    listed === undefined ? `there is no queue "${name}"` : `queue "${name}" is not for namespace "${namespace}"`
  const names = open.slice(0, MOST_NAMES).map(queue => queue.name)
  const more = open.length > MOST_NAMES ? ` and ${open.length - MOST_NAMES} more` : ''
  const choice = names.length === 0 ? 'none is' : `${names.join(', ')}${more} ${open.length === 1 ? 'is' : 'are'}`
  return [forbidden(labelPath(QUEUE_NAME), `${problem}: of the listed queues, ${choice} open to this namespace`)]
}

/**
 * Limits are about requests. What a pod gets by resource claims nobody here counts, and who relies on the limits of a
 * queue learns it where claims are used.
 */
export function uncountedWarnings(object: Marked, templates: readonly ClaimingPods[], world: World): readonly string[] {
  const { engine, queues } = world.config
  const limits = engine === 'builtin' ? queues.find(({ name }) => name === queueOf(object))?.limits : undefined
  const claiming = templates.find(({ claims }) => claims)
  if (claiming === undefined || limits === undefined || Object.keys(limits).length === 0) return []
  const detail = 'what pods get by resource claims does not count: its limits are about requests'
  return [`${claiming.path}spec.resourceClaims: in queue "${queueOf(object)}" ${detail}`]
}

interface ClaimingPods {
  /** Where they lie, with the dot that leads into it. */
  readonly path: string
  readonly claims: boolean
}
