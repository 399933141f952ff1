import type { Resource } from '../../../src/kube/vocabulary/api.ts'
import type { ObjectMeta, OwnerReference } from '../../../src/kube/vocabulary/objects.ts'
import { type FieldError, forbidden, invalid, required } from '../../../src/validation/field-error.ts'
import { equal } from './patches.ts'
import type { Stored } from './server.ts'

/** Stored as absent when there is nothing in them, so that taking nothing away is no change. */
const COLLECTIONS: ReadonlySet<string> = new Set(['labels', 'annotations', 'finalizers', 'ownerReferences'])
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion'])

const IMMUTABLE = 'field is immutable'

/** What a client may say about a new object; the rest is the server's. */
export function newborn(metadata: ObjectMeta): ObjectMeta {
  const { uid: _, deletionTimestamp: __, deletionGracePeriodSeconds: ___, ...own } = metadata
  return tidy(own)
}

/** An update never changes who an object is, when it began and when it ends. An absent uid is no claim. */
export function withServerFields(before: ObjectMeta, wanted: ObjectMeta): ObjectMeta {
  const { resourceVersion, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = before
  const marks = deletionTimestamp == null ? {} : { deletionTimestamp, deletionGracePeriodSeconds }
  const uid = wanted.uid || before.uid
  return tidy({ ...wanted, ...(uid && { uid }), resourceVersion, creationTimestamp, ...marks } as ObjectMeta)
}

function tidy(metadata: ObjectMeta): ObjectMeta {
  const { ownerReferences } = metadata
  const owners = ownerReferences ? { ownerReferences: withoutTwins(ownerReferences) } : {}
  return Object.fromEntries(
    Object.entries({ ...metadata, ...owners }).filter(
      ([key, value]) => !COLLECTIONS.has(key) || (value && Object.keys(value).length > 0),
    ),
  )
}

function withoutTwins(owners: readonly OwnerReference[]): readonly OwnerReference[] {
  return owners.filter((owner, index) => owners.findIndex(other => equal(owner, other)) === index)
}

/** What is wrong with the metadata; `before` is the object that it would replace. */
export function metadataProblem(resource: Resource, before: Stored | undefined, after: Stored): FieldError | undefined {
  return formProblem(resource, after.metadata) ?? (before && changeProblem(before.metadata, after.metadata))
}

function formProblem({ group }: Resource, metadata: ObjectMeta): FieldError | undefined {
  const { name, finalizers, ownerReferences } = metadata
  if (!name) return required('metadata.name', 'name or generateName is required')
  // Only the kinds of the core group ask for names with a domain.
  const unqualified = finalizers?.findIndex(item => !item.includes('/') && !STANDARD_FINALIZERS.has(item)) ?? -1
  if (group === '' && unqualified >= 0) {
    const problem = 'name is neither a standard finalizer name nor is it fully qualified'
    return invalid(`metadata.finalizers[${unqualified}]`, finalizers?.[unqualified], problem)
  }
  const anonymous = ownerReferences?.findIndex(owner => !owner.uid) ?? -1
  if (anonymous >= 0) return required(`metadata.ownerReferences[${anonymous}].uid`, 'uid must not be empty')
  if ((ownerReferences ?? []).filter(owner => owner.controller).length > 1) {
    return invalid('metadata.ownerReferences', ownerReferences, 'Only one reference can have Controller set to true')
  }
  return undefined
}

function changeProblem(before: ObjectMeta, after: ObjectMeta): FieldError | undefined {
  if (after.uid !== before.uid) return invalid('metadata.uid', after.uid, IMMUTABLE)
  if (before.deletionTimestamp == null) {
    return after.deletionTimestamp == null
      ? undefined
      : invalid('metadata.deletionTimestamp', after.deletionTimestamp, IMMUTABLE)
  }
  const added = after.finalizers?.filter(name => !before.finalizers?.includes(name)) ?? []
  const problem = `no new finalizers can be added if the object is being deleted, found new finalizers ${added}`
  return added.length === 0 ? undefined : forbidden('metadata.finalizers', problem)
}
