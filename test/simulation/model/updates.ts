import type { ObjectRef, Patch, Resource } from '../../../src/kube/vocabulary/api.ts'
import { KAI_POD_GROUPS } from '../../../src/kube/vocabulary/kai.ts'
import { JOB_SETS, JOBS, LEASES, POD_GROUPS, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { type FieldError, invalid } from '../../../src/validation/field-error.ts'
import { jobUpdateProblem, withJobDefaults, withSelector } from './job-rules.ts'
import { jobSetUpdateProblem } from './job-set-rules.ts'
import { metadataProblem, withServerFields } from './metadata-rules.ts'
import { jsonPatch, mergePatch, strategicPatch } from './patches.ts'
import { podUpdateProblem, tidyPod } from './pod-rules.ts'
import * as refuse from './refusals.ts'
import type { Stored } from './server.ts'
import { isWorkload, withWorkloadDefaults, workloadUpdateProblem } from './workload-rules.ts'

const isCustom = (resource: Resource): boolean =>
  isWorkload(resource) || resource === JOB_SETS || resource === KAI_POD_GROUPS

/** Strategic merge needs the Go type, which a custom resource has not. Nobody here applies. */
export function checkPatchType(resource: Resource, { type }: Patch): void {
  if (type === 'apply' || (type === 'strategic' && isCustom(resource))) throw refuse.unsupportedPatch(type)
}

export function patched(before: Stored, { type, body }: Patch): Stored {
  if (type === 'strategic') return strategicPatch(before, body) as Stored
  return (type === 'merge' ? mergePatch(before, body) : jsonPatch(before, body)) as Stored
}

export function checkPlace(ref: ObjectRef, { metadata }: Stored): void {
  if (metadata.name !== ref.name || metadata.namespace !== ref.namespace) {
    throw refuse.badRequest('the name and the namespace of the object do not match those of the URL')
  }
}

/** Pods and namespaces can be updated without a version, whatever it is; the others cannot. */
export function checkVersion(resource: Resource, before: Stored, wanted: Stored, ref: ObjectRef): void {
  const { resourceVersion } = wanted.metadata
  if (resourceVersion && resourceVersion !== before.metadata.resourceVersion) throw refuse.conflict(ref)
  if (!resourceVersion && (isCustom(resource) || resource === LEASES)) {
    throw refuse.invalid(resource, ref.name, invalid('metadata.resourceVersion', 0, 'must be specified for an update'))
  }
}

/** The object as it would be: a request reaches the metadata and the spec, or the status. */
export function prepared(resource: Resource, before: Stored, wanted: Stored, subresource: string | undefined): Stored {
  const { status: given, ...rest } = wanted
  const { status: had, ...kept } = before
  if (subresource !== 'status') {
    const metadata = withServerFields(before.metadata, wanted.metadata)
    return completed(resource, { ...rest, metadata, ...(had !== undefined && { status: had }) })
  }
  const status = given === undefined ? {} : { status: given }
  // The status of a custom resource is its status and nothing else: not even a wrong uid is looked at.
  if (resource !== PODS && resource !== JOBS) return { ...kept, ...status }
  const { ownerReferences: _, ...reached } = wanted.metadata
  const { ownerReferences } = before.metadata
  const metadata = withServerFields(before.metadata, { ...reached, ...(ownerReferences && { ownerReferences }) })
  return { ...kept, metadata, ...status }
}

export function completed(resource: Resource, object: Stored): Stored {
  if (isWorkload(resource)) return withWorkloadDefaults(object)
  if (resource === JOBS) return withJobDefaults(object)
  return resource === PODS ? tidyPod(object) : object
}

/** What admission is shown: the object with its defaults. */
export function defaulted(resource: Resource, object: Stored): Stored {
  return resource === JOBS ? withJobDefaults(object) : object
}

/** What a new object gets that depends on its uid. */
export function begun(resource: Resource, object: Stored): Stored {
  if (resource === PODS) return { ...object, status: { phase: 'Pending' } }
  if (resource === POD_GROUPS.v1beta1) return withProtection(object)
  return resource === JOBS ? withSelector(object) : object
}

/** The admission plugin PodGroupProtection. */
function withProtection(object: Stored): Stored {
  const { metadata } = object
  return { ...object, metadata: { ...metadata, finalizers: ['scheduling.k8s.io/podgroup-protection'] } }
}

export function updateProblem(resource: Resource, before: Stored, after: Stored): FieldError | undefined {
  const problem = metadataProblem(resource, before, after)
  if (problem !== undefined) return problem
  if (isWorkload(resource)) return workloadUpdateProblem(before, after)
  if (resource === JOBS) return jobUpdateProblem(before, after)
  if (resource === JOB_SETS) return jobSetUpdateProblem(before, after)
  return resource === PODS ? podUpdateProblem(before, after) : undefined
}
