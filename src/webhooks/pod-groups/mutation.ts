import { type PatchOperation, pointer } from '../../admission/patch.ts'
import { allowed, patched, type Verdict } from '../../admission/verdict.ts'
import { KAI_POD_GROUP, KAI_SUBGROUP } from '../../kube/vocabulary/kai.ts'
import { POD_GROUP } from '../../kube/vocabulary/names.ts'
import type { Pod, StringMap } from '../../kube/vocabulary/objects.ts'
import { annotationMark, awaitsPodGroup, labelMark, type Mark, podGroupMarkOf } from '../../workload/pod-facts.ts'
import type { World } from '../world.ts'
import { whyNotHeld } from './scope.ts'

/** How KAI knows to which PodGroup, and to which part of it, a pod belongs. */
export const LINKS: readonly Mark[] = [annotationMark(KAI_POD_GROUP), labelMark(KAI_SUBGROUP)]

/**
 * A pod that names a group of Kubernetes and is placed by KAI waits behind our gate until that group is there and has a
 * PodGroup of KAI. A link that it brings along is dropped: it would be in a gang before anybody has looked.
 */
export function holdPod(pod: Pod, namespace: string, world: World): Verdict {
  const why = whyNotHeld(pod, namespace, world)
  if (why !== undefined) return allowed(why)
  const patch: PatchOperation[] = []
  if (podGroupMarkOf(pod) !== 'reference') set(patch, pod.metadata.labels, 'labels', POD_GROUP, 'reference')
  if (!awaitsPodGroup(pod)) addGate(patch, pod)
  for (const link of LINKS) if (link.of(pod) !== undefined) patch.push({ op: 'remove', path: pathOf(link) })
  return patch.length === 0 ? allowed('AlreadyHeld') : patched('HeldForPodGroup', patch)
}

/**
 * KAI's own pod-grouper writes a link of its own on every pod that has an owner, again and again, and knows nothing of
 * the groups that Kubernetes has. It is told that it was written, and nothing has changed: refused, it would try for
 * ever, and overwritten afterwards, each would undo what the other did.
 */
export function restoreLinks(before: Pod, after: Pod): Verdict {
  const bent = LINKS.filter(link => link.of(before) !== link.of(after))
  if (bent.length === 0) return allowed('LinkUntouched')
  const patch = bent.map((link): PatchOperation => {
    const [path, value] = [pathOf(link), link.of(before)]
    if (value === undefined) return { op: 'remove', path }
    if (after.metadata[link.in] == null)
      return { op: 'add', path: pointer('metadata', link.in), value: { [link.key]: value } }
    return { op: link.of(after) === undefined ? 'add' : 'replace', path, value }
  })
  const warnings = bent.map(
    ({ path }) => `${path}: Muster keeps it for the group that the pod names; it stays as it was`,
  )
  return patched('LinkRestored', patch, warnings)
}

const pathOf = (mark: Mark): string => pointer('metadata', mark.in, mark.key)

function set(
  patch: PatchOperation[],
  existing: StringMap | null | undefined,
  field: string,
  key: string,
  value: string,
): void {
  if (existing == null) patch.push({ op: 'add', path: pointer('metadata', field), value: { [key]: value } })
  else
    patch.push({ op: Object.hasOwn(existing, key) ? 'replace' : 'add', path: pointer('metadata', field, key), value })
}

function addGate(patch: PatchOperation[], { spec }: Pod): void {
  const gate = { name: POD_GROUP }
  if (spec.schedulingGates == null) patch.push({ op: 'add', path: '/spec/schedulingGates', value: [gate] })
  else patch.push({ op: 'add', path: '/spec/schedulingGates/-', value: gate })
}
