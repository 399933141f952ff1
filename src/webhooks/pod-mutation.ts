import { type PatchOperation, pointer } from '../admission/patch.ts'
import { allowed, forbiddenRequest, invalidObject, patched, type Verdict } from '../admission/verdict.ts'
import type { Pod } from '../kube/objects.ts'
import { ADMISSION_GATE, MANAGED, QUEUE_NAME, ROLE_HASH } from '../names.ts'
import { forbidden, invalid } from '../validation/field-error.ts'
import { roleHash } from '../workload/role-hash.ts'
import { annotationOf, annotationPath, hasOurFinalizer, isGated, isMarkedManaged, queueOf } from './pod-facts.ts'
import { podScope } from './pod-scope.ts'
import type { World } from './world.ts'

/** KEP-976: a pod that is subject to queueing waits behind our gate until its workload is admitted. */
export function gatePod(pod: Pod, namespace: string, world: World): Verdict {
  const scope = podScope(pod, namespace, world)
  if (scope.kind === 'denied' || scope.kind === 'needs') return scope
  if (scope.kind === 'ignored') return allowed(scope.reason)
  if (pod.spec.nodeName) return cannotBeGated(pod, scope.defaultQueue)

  const role = stampRole(pod)
  if ('denied' in role) return role.denied
  const labels: Record<string, string> = scope.defaultQueue ? { [QUEUE_NAME]: 'default' } : {}
  if (!isMarkedManaged(pod)) labels[MANAGED] = 'true'
  const patch = [
    ...setKeys(pod.metadata.labels, labels, 'labels'),
    ...(hasOurFinalizer(pod) ? [] : append(pod.metadata.finalizers, MANAGED, '/metadata/finalizers')),
    ...setKeys(pod.metadata.annotations, role.annotations, 'annotations'),
    ...(isGated(pod) ? [] : append(pod.spec.schedulingGates, { name: ADMISSION_GATE }, '/spec/schedulingGates')),
  ]
  return patch.length === 0 ? allowed('AlreadyGated') : patched('Gated', patch)
}

/** The API server would refuse the gated pod with a text that names neither the queue nor the remedy. */
function cannotBeGated(pod: Pod, defaultQueue: boolean): Verdict {
  const queue = defaultQueue ? 'default' : queueOf(pod)
  const wait = queue === '' ? 'pods in this namespace wait for admission' : `the pod waits in queue "${queue}"`
  const detail =
    `cannot be set until all schedulingGates have been cleared: ${wait} before it gets a node. ` +
    `Remove spec.nodeName and choose the node with spec.nodeSelector {kubernetes.io/hostname: ${pod.spec.nodeName}}, ` +
    'or let the pod run outside the queues'
  return forbiddenRequest([forbidden('spec.nodeName', detail)])
}

type Role = { readonly annotations: Record<string, string> } | { readonly denied: Verdict }

const OUR_HASH = /^[0-9a-f]{8}$/

/**
 * The role hash is computed here and nowhere else. A pod that already carries all our marks is here for the second
 * time, because another webhook changed it after us (`reinvocationPolicy: IfNeeded`): its hash is brought up to date.
 * A hash on a pod that has not been here is a claim; a false one would put a large pod into the podSet of small ones.
 * A preset that isn't a hash at all stays in place, where Kueue leaves it, and the validator refuses it.
 */
function stampRole(pod: Pod): Role {
  const preset = annotationOf(pod, ROLE_HASH)
  if (preset !== undefined && preset !== '' && !OUR_HASH.test(preset)) return { annotations: {} }
  const computed = roleHash(pod.spec)
  if (preset === computed) return { annotations: {} }
  const ours = !preset || (isMarkedManaged(pod) && hasOurFinalizer(pod) && isGated(pod))
  if (ours) return { annotations: { [ROLE_HASH]: computed } }
  return { denied: invalidObject([invalid(annotationPath(ROLE_HASH), preset, wrongRoleHash(computed))]) }
}

export function wrongRoleHash(computed: string): string {
  return `is not the role of this pod, which is ${computed}; remove the annotation: Muster computes it`
}

function setKeys(
  existing: Readonly<Record<string, string>> | null | undefined,
  wanted: Readonly<Record<string, string>>,
  field: 'labels' | 'annotations',
): readonly PatchOperation[] {
  const keys = Object.keys(wanted)
  if (keys.length === 0) return []
  if (existing === undefined || existing === null) {
    return [{ op: 'add', path: `/metadata/${field}`, value: wanted }]
  }
  return keys.map(key => ({
    op: Object.hasOwn(existing, key) ? 'replace' : 'add',
    path: pointer('metadata', field, key),
    value: wanted[key],
  }))
}

function append(
  existing: readonly unknown[] | null | undefined,
  item: unknown,
  path: string,
): readonly PatchOperation[] {
  if (existing === undefined || existing === null) return [{ op: 'add', path, value: [item] }]
  return [{ op: 'add', path: `${path}/-`, value: item }]
}
