import { isComposite, type MaybeItem, type WorkloadItem } from './item.ts'

/**
 * What is wrong with the shape of a tree, or nothing. It is looked at before anything is resolved: callbacks of a tree
 * that cannot be built are never run. The first error, in the order of the tree, is the one reported.
 */
export function treeProblem(root: MaybeItem): string | undefined {
  return nodeProblem(root, new Set())
}

function nodeProblem(item: MaybeItem, seen: Set<string>): string | undefined {
  if (item === null || item === undefined) return 'workload item cannot be nil'
  if (item.name === '') return 'workload item name cannot be empty'
  if (seen.has(item.name)) {
    const name = JSON.stringify(item.name)
    return `duplicate workload item name ${name}: template names must be unique across the Workload`
  }
  seen.add(item.name)
  const own = inputProblem(item)
  if (own !== undefined) return own
  for (const child of item.children ?? []) {
    const problem = nodeProblem(child, seen)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** A node of one kind with blocks of the other would lose them silently. */
function inputProblem(item: WorkloadItem): string | undefined {
  const { policy, constraints, disruptionMode, resourceClaims } = item.input ?? {}
  const blocks = { policy, constraints, disruptionMode }
  const entries = Object.entries(blocks)
  const name = JSON.stringify(item.name)
  if (isComposite(item)) {
    const [wrong] = entries.find(([, block]) => block?.group !== undefined) ?? []
    if (wrong !== undefined) return `composite workload item ${name} sets leaf building block: ${wrong}`
    const hasClaims = (resourceClaims?.group ?? []).length > 0
    return hasClaims ? `composite workload item ${name} sets leaf building block: resourceClaims` : undefined
  }
  const [wrong] = entries.find(([, block]) => block?.composite !== undefined) ?? []
  return wrong === undefined ? undefined : `leaf workload item ${name} sets composite building block: ${wrong}`
}
