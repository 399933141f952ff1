import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import type { KubeObject } from '../../kube/vocabulary/objects.ts'
import type { GroupedObject } from '../../workload/grouped/grouped-object.ts'

/**
 * What has to be written so that the gangs in an object have the size that they are to have; undefined: nothing. All
 * else in it is left as it is: the API server lets nothing else change, and has dropped what it has no gate for.
 */
export function changedMinimum(
  known: KubeObject,
  wanted: KubeObject,
  object: GroupedObject | undefined,
): KubeObject | undefined {
  const [is, shall] = [specOf(known), specOf(wanted)]
  if (wanted.kind === 'PodGroup') {
    const schedulingPolicy = policyFor(is, shall, object)
    return schedulingPolicy && changeOf(wanted, { schedulingPolicy })
  }
  const [templates, targets] = [templatesIn(is), templatesIn(shall)]
  const changed = templates.map(template => {
    const target = targets.find(({ name }) => name === template.name)
    const schedulingPolicy = target && policyFor(template, target, object)
    return schedulingPolicy === undefined ? template : { ...template, schedulingPolicy }
  })
  const isSame = changed.every((template, index) => template === templates[index])
  return isSame ? undefined : changeOf(wanted, { podGroupTemplates: changed })
}

const changeOf = ({ apiVersion, kind, metadata }: KubeObject, spec: Fields): KubeObject =>
  ({ apiVersion, kind, metadata, spec }) as KubeObject

function policyFor(is: Fields, shall: Fields, object: GroupedObject | undefined): Fields | undefined {
  const [known, full] = [minCountIn(is), minCountIn(shall)]
  if (known === undefined || full === undefined) return undefined
  const minCount = sizeFor(known, full, object)
  return minCount === known ? undefined : { gang: { minCount } }
}

/**
 * A gang of a Job of which some pods have succeeded never has all of them again: one that has to be replaced would wait
 * for the others for ever. So its gang becomes as small as what is left when one lacks, and not with each that succeeds:
 * that would be two writes for each of them, and change nothing.
 */
function sizeFor(known: number, full: number, object: GroupedObject | undefined): number {
  const least = Math.max(1, Math.min(full, object?.remaining ?? full))
  if (known > full || known < least) return full
  return object?.lacks === true || object?.suspended === true ? least : known
}

function minCountIn({ schedulingPolicy }: Fields): number | undefined {
  const gang = isObject(schedulingPolicy) ? schedulingPolicy.gang : undefined
  const minCount = isObject(gang) ? gang.minCount : undefined
  return typeof minCount === 'number' ? minCount : undefined
}

export function specOf(object: KubeObject): Fields {
  const { spec } = object as { readonly spec?: unknown }
  return isObject(spec) ? spec : {}
}

const templatesIn = ({ podGroupTemplates }: Fields): readonly Fields[] =>
  Array.isArray(podGroupTemplates) ? podGroupTemplates.filter(isObject) : []
