import { parseApiVersion } from '../../kube/vocabulary/api-version.ts'
import type { OwnerReference } from '../../kube/vocabulary/objects.ts'
import { CompileError, compileTree } from './compile.ts'
import { type Built, internalError, itemPath, type MaybeItem } from './item.ts'
import { SCHEDULING_BETA, type SchedulingWorkload, type WorkloadSpec } from './objects.ts'
import { treeProblem } from './tree.ts'

export interface Identity {
  readonly name: string
  readonly namespace?: string
  /** The controller's object, which the Workload is for and goes away with. */
  readonly owner?: OwnerReference
}

/**
 * The Workload of a tree. Allow-lists and what goes together are for `validateTree`: here a tree is compiled as it is,
 * and only what cannot be written down at all is an error.
 */
export function buildWorkload(root: MaybeItem, { name, namespace, owner }: Identity): Built<SchedulingWorkload> {
  const fail = (problem: string): Built<SchedulingWorkload> => ({ errors: [internalError(itemPath(root), problem)] })
  const spec = compiled(root)
  if (typeof spec === 'string') return fail(spec)
  if (owner === undefined) return fail('a Workload must be owned by its controller for garbage collection')
  const { group, version } = parseApiVersion(owner.apiVersion)
  if (version.includes('/')) {
    const problem = `unexpected GroupVersion string: ${owner.apiVersion}`
    return fail(`invalid owner apiVersion ${JSON.stringify(owner.apiVersion)}: ${problem}`)
  }
  const apiGroup = group === '' ? {} : { apiGroup: group }
  const workload: SchedulingWorkload = {
    apiVersion: SCHEDULING_BETA,
    kind: 'Workload',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), ownerReferences: [{ ...owner }] },
    spec: { controllerRef: { ...apiGroup, kind: owner.kind, name: owner.name }, ...spec },
  }
  return { ok: workload }
}

function compiled(root: MaybeItem): WorkloadSpec | string {
  const problem = treeProblem(root)
  if (problem !== undefined || root === null || root === undefined) return problem ?? ''
  try {
    return compileTree(root)
  } catch (error) {
    if (error instanceof CompileError) return error.message
    throw error
  }
}
