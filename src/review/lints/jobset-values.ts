import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import type { Found } from './catalog.ts'
import { HOST } from './host-names.ts'
import { invalid, isPlaceholder, missing, show } from './values.ts'

/**
 * What the webhook of JobSet says of the Jobs of one together, and what it lets pass though it never starts: in which
 * order they come, whose success counts, and what their pods are called.
 */
export function jobSetValues(spec: Fields, set: string): readonly Found[] {
  const { replicatedJobs, startupPolicy, successPolicy } = spec
  const jobs: readonly Fields[] = (Array.isArray(replicatedJobs) ? replicatedJobs : []).map(each =>
    isObject(each) ? each : {},
  )
  const inOrder = isObject(startupPolicy) && startupPolicy.startupPolicyOrder === 'InOrder'
  const names = jobs.map(({ name }) => name)
  return [
    ...jobs.flatMap((job, index) => [
      ...dependencies(job, names.slice(0, index), `spec.replicatedJobs[${index}]`, inOrder),
      ...podName(job, set, `spec.replicatedJobs[${index}].name`),
    ]),
    ...targets(successPolicy, names),
  ]
}

function dependencies(
  { name, dependsOn }: Fields,
  before: readonly unknown[],
  at: string,
  inOrder: boolean,
): readonly Found[] {
  if (!Array.isArray(dependsOn)) return []
  if (inOrder) return [invalid(`${at}.dependsOn`, 'startupPolicy InOrder and dependsOn exclude each other')]
  return dependsOn.flatMap((each: unknown, index): readonly Found[] => {
    const { name: other, status } = isObject(each) ? each : {}
    const field = `${at}.dependsOn[${index}]`
    return [
      ...dependency(other, name, before, `${field}.name`),
      ...(status === undefined || status === null
        ? [missing(`${field}.status`, 'a dependency says for what it waits: Ready or Complete')]
        : status === 'Ready' || status === 'Complete' || isPlaceholder(show(status))
          ? []
          : [invalid(`${field}.status`, `status is Ready or Complete, not ${show(status)}`)]),
    ]
  })
}

function dependency(other: unknown, own: unknown, before: readonly unknown[], field: string): readonly Found[] {
  if (typeof other !== 'string' || other === '')
    return [missing(field, 'a dependency has the name of another of its Jobs')]
  if (isPlaceholder(other) || before.includes(other)) return []
  if (other === own) return [invalid(field, `${show(own)} waits for itself: it never starts`)]
  return [invalid(field, `there is no ${show(other)} among the Jobs before it: it would never start`)]
}

function targets(policy: unknown, names: readonly unknown[]): readonly Found[] {
  const named = isObject(policy) && Array.isArray(policy.targetReplicatedJobs) ? policy.targetReplicatedJobs : []
  return named.flatMap((name: unknown, index): readonly Found[] => {
    if (names.includes(name) || isPlaceholder(show(name))) return []
    const field = `spec.successPolicy.targetReplicatedJobs[${index}]`
    return [invalid(field, `there is no ${show(name)} among its Jobs`)]
  })
}

/** The pods of an Indexed Job, which those of a JobSet are unless they say otherwise, have names with both indexes. */
function podName({ name, replicas, template }: Fields, set: string, field: string): readonly Found[] {
  const spec = isObject(template) && isObject(template.spec) ? template.spec : {}
  const { completionMode, completions } = spec
  const isIndexed = completionMode === undefined || completionMode === null || completionMode === 'Indexed'
  if (!isIndexed || typeof name !== 'string' || isPlaceholder(name) || set === '') return []
  if (!Number.isInteger(completions) || !Number.isInteger(replicas ?? 1)) return []
  const job = `${set}-${name}-${Math.max(Number(replicas ?? 1) - 1, 0)}`
  const pod = `${job}-${Math.max(Number(completions) - 1, 0)}-abcde`
  // Of the name of the Job itself others speak.
  if (!HOST.test(job) || HOST.test(pod)) return []
  return [
    invalid(field, `a pod of it would be called ${show(pod)}, which is longer than the 63 characters that it may have`),
  ]
}
