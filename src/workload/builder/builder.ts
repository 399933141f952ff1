import type { OwnerReference } from '../../kube/vocabulary/objects.ts'
import type { FieldError } from '../../validation/field-error.ts'
import type { AllowLists } from './allow.ts'
import { buildWorkload, type Identity } from './build.ts'
import { compositePodGroupFrom, compositeTemplates, podGroupFrom } from './groups.ts'
import { type Built, internalError, itemPath, type MaybeItem, type WorkloadItem } from './item.ts'
import type { CompositePodGroup, PodGroup, SchedulingWorkload } from './objects.ts'
import { validateTree } from './validate.ts'

export interface BuilderOptions extends Identity {
  /** Absent: nothing is allowed. */
  readonly allow?: AllowLists
  readonly skipBlocks?: boolean
}

/** One tree, or one Workload that exists, and everything that can be made from it. */
export interface WorkloadBuilder {
  validate(oldRoot?: WorkloadItem): readonly FieldError[]
  /** Compiled once: later calls return the same object, which is frozen for that reason. */
  buildWorkload(): Built<SchedulingWorkload>
  newPodGroup(name: string, templateName: string): Built<PodGroup>
  newCompositePodGroup(name: string, templateName: string): Built<CompositePodGroup>
}

const ALLOW_NOTHING: AllowLists = { policies: [], disruptionModes: [] }
const NO_PATH = itemPath(undefined)

export function createBuilder(root: MaybeItem, options: BuilderOptions): WorkloadBuilder {
  const { allow = ALLOW_NOTHING, skipBlocks, owner } = options
  let compiled: SchedulingWorkload | undefined
  let groups: Groups | undefined
  const materialize = (): Groups | undefined => {
    if (compiled !== undefined) groups ??= groupsOf(compiled, owner)
    return groups
  }
  return {
    validate: oldRoot => validateTree(root, { allow, skipBlocks, oldRoot }),
    buildWorkload() {
      if (compiled !== undefined) return { ok: compiled }
      const built = buildWorkload(root, options)
      if ('ok' in built) compiled = frozen(built.ok)
      return built
    },
    newPodGroup: (name, template) => materialize()?.podGroup(name, template) ?? noWorkload(),
    newCompositePodGroup: (name, template) => materialize()?.compositePodGroup(name, template) ?? noWorkload(),
  }
}

/**
 * For a controller that manages the groups of a Workload that another one wrote, as the Job controller does for Jobs of
 * a parent. The Workload is the truth then: it is neither compiled again nor validated.
 */
export function createBuilderFromWorkload(
  workload: SchedulingWorkload,
  { owner }: { readonly owner?: OwnerReference } = {},
): WorkloadBuilder {
  let groups: Groups | undefined
  const materialize = (): Groups => {
    groups ??= groupsOf(workload, owner)
    return groups
  }
  return {
    validate: () => [internalError(NO_PATH, 'cannot validate a builder constructed from an existing workload')],
    buildWorkload: () =>
      failed(
        'BuildWorkload is not available on a Builder created from an existing Workload: it materializes from the supplied Workload',
      ),
    newPodGroup: (name, template) => materialize().podGroup(name, template),
    newCompositePodGroup: (name, template) => materialize().compositePodGroup(name, template),
  }
}

interface Groups {
  podGroup(name: string, templateName: string): Built<PodGroup>
  compositePodGroup(name: string, templateName: string): Built<CompositePodGroup>
}

/** Templates are looked up by name. Those of pods count only at the top: below a group of groups they are its own. */
function groupsOf(workload: SchedulingWorkload, owner: OwnerReference | undefined): Groups {
  const owners = owner === undefined ? [] : [owner]
  const groups = new Map((workload.spec.podGroupTemplates ?? []).map(template => [template.name, template]))
  const composites = new Map(compositeTemplates(workload).map(template => [template.name, template]))
  const missing = <T>(kind: string, name: string, known: Iterable<string>): Built<T> => {
    const where = `workload ${JSON.stringify(workload.metadata.name)} (have [${[...known].join(' ')}])`
    return failed(`${kind} ${JSON.stringify(name)} not found in ${where}`)
  }
  return {
    podGroup(name, templateName) {
      const template = groups.get(templateName)
      if (template === undefined) return missing('podGroupTemplate', templateName, groups.keys())
      return { ok: podGroupFrom(workload, template, { name, owners }) }
    },
    compositePodGroup(name, templateName) {
      const template = composites.get(templateName)
      if (template === undefined) return missing('compositePodGroupTemplate', templateName, composites.keys())
      return { ok: compositePodGroupFrom(workload, template, { name, owners }) }
    },
  }
}

function failed<T>(problem: string): Built<T> {
  return { errors: [internalError(NO_PATH, problem)] }
}

function noWorkload<T>(): Built<T> {
  return failed('no Workload available: call BuildWorkload or use NewBuilderFromExistingWorkload first')
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const child of Object.values(value)) frozen(child)
    Object.freeze(value)
  }
  return value
}
