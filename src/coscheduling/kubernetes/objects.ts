import { parseApiVersion } from '../../kube/vocabulary/api-version.ts'
import { controllerOf, type KubeObject, type OwnerReference } from '../../kube/vocabulary/objects.ts'
import type { PodGroupVersion } from '../../kube/vocabulary/resources.ts'
import type { Admission } from '../../reconciler/co-scheduler.ts'
import { buildWorkload } from '../../workload/builder/build.ts'
import { compositePodGroupFrom, compositeTemplates, podGroupFrom } from '../../workload/builder/groups.ts'
import type { SchedulingConfig, WorkloadItem } from '../../workload/builder/item.ts'
import { podGroupName } from '../../workload/builder/names.ts'
import type {
  CompositePodGroupTemplate,
  NamedMeta,
  PodGroup,
  SchedulingWorkload,
} from '../../workload/builder/objects.ts'
import { asServed, type KubernetesVersion } from '../../workload/builder/versions.ts'
import { asWorkload } from '../../workload/mappers/parent.ts'
import { ALL, type Expected, type Gang, type Gangs, schedulingWorkloadName } from './gangs.ts'
import { areAlike, commonTopology, type Terms } from './terms.ts'

const RELEASES: Readonly<Record<PodGroupVersion, KubernetesVersion>> = { v1beta1: '1.37', v1alpha2: '1.36' }

/**
 * The Workload in the queue is the owner, and it goes with the group's last pod: so do these, by the garbage collector,
 * with or without Muster.
 */
function ownerOf({ workload, workloads }: Admission): OwnerReference {
  const { name = '', uid = '' } = workload.metadata
  return { apiVersion: `${workloads.group}/${workloads.version}`, kind: workloads.kind, name, uid, controller: true }
}

/**
 * Whether it was made for a group of this name. Not by the uid: when a group is made anew under its old name, the pods
 * name the old PodGroup, and Kubernetes keeps that for as long as a pod names it. So it serves the new one. Of what
 * Kubernetes does not keep (`isLeaving`) the new group waits for its own.
 */
export function isOurs({ metadata }: KubeObject, { workload, workloads }: Admission): boolean {
  const owner = controllerOf(metadata.ownerReferences)
  return (
    owner !== undefined &&
    owner.kind === workloads.kind &&
    parseApiVersion(owner.apiVersion).group === workloads.group &&
    owner.name === workload.metadata.name
  )
}

/** For this very Workload, and not for one of its name before it. */
export const isMadeFor = ({ metadata }: KubeObject, { workload }: Admission): boolean =>
  controllerOf(metadata.ownerReferences)?.uid === workload.metadata.uid

/**
 * Whether it is on its way out: nothing keeps it for the pods that name it, as a PodGroup of Kubernetes is kept, so the
 * garbage collector may take it in the moment in which the gates fall.
 */
export const isLeaving = (object: KubeObject, admission: Admission): boolean =>
  object.metadata.deletionTimestamp != null || !isMadeFor(object, admission)

/** Whose it is, for the people who have to settle it. */
export function describeOwner({ metadata }: KubeObject): string {
  const owner = controllerOf(metadata.ownerReferences)
  return owner === undefined ? 'has no owner' : `belongs to ${owner.kind} ${owner.name}`
}

/** The template of the group of groups above a driver and its workers. */
const ROOT = 'group'

/** Where an object is made for: what is served, and whether the PodGroups of the unit are under a group of groups. */
export interface Target {
  readonly version: PodGroupVersion
  readonly composites: boolean
}

/**
 * The Workload with a template for each PodGroup, also of those that are announced: none can be added later, and 1.36
 * takes no PodGroup whose template is missing. Where groups of groups are served, those of a driver and of its workers
 * are under one. It is `basic`: as a gang of groups it would hold the driver until there are workers, which the driver
 * makes.
 */
export function wantedWorkload(admission: Admission, { gangs, expected }: Gangs, target: Target): KubeObject {
  const terms = gangs.map(gang => gang.terms)
  const alike = areAlike(terms)
  // All templates of a Workload have one priority, or none.
  const priority = alike ? priorityOf(terms[0]) : {}
  const leaves = gangs.map(gang => ({ ...leafOf(gang), priority }))
  const isMissing = expected !== undefined && gangs.every(({ template }) => template !== expected.template)
  const all = [...leaves, ...(isMissing ? [{ ...leafOf(expected), priority }] : [])].map(itemOf)
  const [only] = all
  if (only === undefined) throw new Error('a Workload has at least one gang')
  const root = expected === undefined && all.length === 1 ? only : rootOf(all, terms, priority)
  return served(built(admission, root), { ...target, composites: target.composites && alike })
}

const rootOf = (children: readonly WorkloadItem[], terms: readonly Terms[], priority: Priority): WorkloadItem => ({
  name: ROOT,
  defaults: { policy: { basic: {} }, ...priority, ...constraintsOf(commonTopology(terms)) },
  children,
})

/** The group of groups in a Workload that has one, by its template. */
export function rootIn(workload: KubeObject): CompositePodGroupTemplate | undefined {
  const known = asWorkload({ ...workload })
  return known && compositeTemplates(known).find(({ name }) => name === ROOT)
}

/** Of the Workload that it is in. */
export const compositeName = (workload: string): string => podGroupName(workload, ROOT)

/** `root`: its template; without one it is for a PodGroup that is under it all the same. */
export function wantedComposite(
  admission: Admission,
  root: CompositePodGroupTemplate | undefined,
  { terms }: Gang,
): KubeObject {
  const workload = { metadata: nameOf(admission) } as SchedulingWorkload
  const options = { name: compositeName(schedulingWorkloadName(admission)), owners: [ownerOf(admission)] }
  const bare = { name: ROOT, schedulingPolicy: { basic: {} }, ...priorityOf(terms) }
  return compositePodGroupFrom(workload, root ?? bare, options)
}

/** Whether a gang may be placed under the group of groups of its Workload, beside those that are. */
export function joins({ terms }: Gang, gangs: readonly Gang[], root: CompositePodGroupTemplate): boolean {
  if (!areAlike(gangs.map(gang => gang.terms)) || terms.priorityClass !== (root.priorityClassName ?? '')) return false
  const [topology] = root.schedulingConstraints?.topology ?? []
  return topology === undefined || commonTopology([terms, ...gangs.map(gang => gang.terms)]) === topology.key
}

/** `root`: the group of groups that it is placed under. */
export function wantedPodGroup(
  admission: Admission,
  gang: Gang,
  {
    workload,
    root,
    version,
  }: Pick<Target, 'version'> & {
    readonly workload: KubeObject
    readonly root: CompositePodGroupTemplate | undefined
  },
): KubeObject {
  const isNearAlready = root?.schedulingConstraints !== undefined
  const item = itemOf({
    ...leafOf(gang),
    name: templateIn(workload, gang.template),
    priority: priorityOf(gang.terms),
    topology: isNearAlready ? undefined : gang.terms.topology,
  })
  const own = built(admission, item)
  const [template] = own.spec.podGroupTemplates ?? []
  if (template === undefined) throw new Error('a PodGroup has a template')
  const options = {
    name: gang.podGroup,
    owners: [ownerOf(admission)],
    ...(root !== undefined && { parent: compositeName(schedulingWorkloadName(admission)) }),
  }
  return served(podGroupFrom(own, template, options), { version, composites: root !== undefined })
}

/** One that is not there, because somebody else announces the group than did at first, is as that of all the others. */
function templateIn(workload: KubeObject, name: string): string {
  const known = asWorkload({ ...workload })
  const nested = known ? compositeTemplates(known).flatMap(each => each.podGroupTemplates ?? []) : []
  const names = [...(known?.spec.podGroupTemplates ?? []), ...nested].map(template => template.name)
  return names.includes(name) || !names.includes(ALL) ? name : ALL
}

type Priority = Pick<SchedulingConfig, 'priorityClassName'>

interface Leaf extends Pick<Gang, 'minCount'> {
  readonly name: string
  readonly topology: string | undefined
  readonly priority: Priority
}

const leafOf = ({ template, minCount, terms }: Expected & Partial<Pick<Gang, 'terms'>>): Omit<Leaf, 'priority'> => ({
  name: template,
  minCount,
  topology: terms?.topology,
})

const itemOf = ({ name, minCount, topology, priority }: Leaf): WorkloadItem => ({
  name,
  defaults: {
    policy: minCount === undefined ? { basic: {} } : { gang: { minCount } },
    ...priority,
    ...constraintsOf(topology),
  },
})

const priorityOf = (terms: Terms | undefined): Priority =>
  terms === undefined || terms.priorityClass === '' ? {} : { priorityClassName: terms.priorityClass }

const constraintsOf = (key: string | undefined): Pick<SchedulingConfig, 'constraints'> =>
  key === undefined ? {} : { constraints: { topology: [{ key }] } }

const nameOf = (admission: Admission): NamedMeta => ({
  name: schedulingWorkloadName(admission),
  namespace: admission.unit.namespace,
})

/** The tree is ours: what cannot be built from it is a mistake in this file. */
function built(admission: Admission, root: WorkloadItem): SchedulingWorkload {
  const { name, namespace } = nameOf(admission)
  const workload = buildWorkload(root, {
    name,
    ...(namespace !== undefined && { namespace }),
    owner: ownerOf(admission),
  })
  if ('ok' in workload) return workload.ok
  throw new Error(workload.errors.map(({ detail }) => detail).join('; '))
}

function served(object: SchedulingWorkload | PodGroup, { version, composites }: Target): KubeObject {
  const [only] = asServed([object], { version: RELEASES[version], composites })
  if (only === undefined) throw new Error(`no ${object.kind} in ${version}`)
  return only
}
