import { type PatchOperation, pointer } from '../../admission/patch.ts'
import type { AdmissionRequest } from '../../admission/review.ts'
import { allowed, patched, type Verdict } from '../../admission/verdict.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { SCHEDULING } from '../../kube/vocabulary/names.ts'
import type { KubeObject, StringMap } from '../../kube/vocabulary/objects.ts'
import { annotatedBlock, annotationPath, fieldPath, readAnnotated } from '../../validation/jobs/job-view.ts'
import { readBlock } from '../../validation/jobs/scheduling-spelling.ts'
import { sameTree } from '../../validation/jobs/scheduling-tree.ts'
import { dropsField } from '../../workload/grouped/maker.ts'
import type { World } from '../world.ts'
import { annotateTemplate } from './put.ts'
import { reviewJob } from './scheduling.ts'

type Kind = 'Job' | 'CronJob'

/**
 * An API server that does not know `spec.scheduling` of Jobs, or has it switched off, forgets the block without a word.
 * What it would forget is kept in the annotation. Afterwards nobody sees the field any more, so this is the last moment
 * to say what is wrong with it under the name that its author knows.
 */
export function moveBlock(request: AdmissionRequest, kind: Kind, world: World): Verdict {
  const template = templateIn(request.object, kind)
  const block = template === undefined ? undefined : blockIn(template)
  if (template === undefined || block === undefined || !dropsField(world.scheduling())) return allowed('Valid')
  const before = request.operation === 'UPDATE' ? templateIn(request.oldObject, kind) : undefined
  const wasSaid = before === undefined ? undefined : annotatedBlock(before)
  if (before !== undefined && wasSaid === undefined) return allowed('Valid', [cameLate(kind)])
  const refused = reviewJob(asWritten(request, kind), kind, world)
  if (refused.kind === 'denied') return refused
  const at = kind === 'Job' ? [] : ['spec', 'jobTemplate']
  const isKnown = wasSaid !== undefined && wasSaid === annotatedBlock(template) && saysTheSame(wasSaid, block)
  return patched('BlockKept', [...(isKnown ? [] : annotated(template, at, block)), removed(at)])
}

/** A Job as far as it is read here: its own, or the one that a CronJob makes. */
interface Template {
  readonly metadata?: { readonly annotations?: StringMap | null } | null
  readonly spec: Fields
}

function templateIn(object: unknown, kind: Kind): Template | undefined {
  const spec = isObject(object) ? object.spec : undefined
  const template = kind === 'Job' ? object : isObject(spec) ? spec.jobTemplate : undefined
  if (!isObject(template) || !isObject(template.spec)) return undefined
  const { metadata } = template
  const isPlain = metadata === undefined || metadata === null || isObject(metadata)
  return isPlain ? (template as unknown as Template) : undefined
}

function blockIn({ spec }: Template): unknown {
  return spec.scheduling === null ? undefined : spec.scheduling
}

const annotated = (template: Template, at: readonly string[], block: unknown): readonly PatchOperation[] =>
  annotateTemplate(template, at, { [SCHEDULING]: JSON.stringify(block) })

const removed = (at: readonly string[]): PatchOperation => ({
  op: 'remove',
  path: pointer(...at, 'spec', 'scheduling'),
})

/** Who applies his manifest again changes nothing, whichever way the block was written when it was kept. */
function saysTheSame(text: unknown, block: unknown): boolean {
  const read = readAnnotated(text, '')
  return 'value' in read && sameTree(readBlock(read.value, '').model, readBlock(block, '').model)
}

const cameLate = (kind: Kind): string => {
  const prefix = kind === 'Job' ? '' : 'spec.jobTemplate.'
  return (
    `${fieldPath({ prefix })}: this ${kind} was created without a scheduling block and gets none: ` +
    'the API server drops this one'
  )
}

/** The request as if the block had always stood in the field. */
function asWritten(request: AdmissionRequest, kind: Kind): AdmissionRequest {
  const { object, oldObject } = request
  return {
    ...request,
    object: change(object, kind, template => withBlock(template, blockIn(template))),
    oldObject: change(oldObject, kind, template => {
      const read = readAnnotated(annotatedBlock(template), annotationPath({ prefix: '' }))
      return withBlock(template, 'value' in read ? read.value : undefined)
    }),
  }
}

function withBlock(template: Template, block: unknown): Template {
  const { [SCHEDULING]: _kept, ...annotations } = template.metadata?.annotations ?? {}
  return {
    ...template,
    metadata: { ...template.metadata, annotations },
    spec: { ...template.spec, scheduling: block },
  }
}

function change<T extends KubeObject | null | undefined>(object: T, kind: Kind, edit: (job: Template) => Template): T {
  const template = templateIn(object, kind)
  if (template === undefined || !isObject(object)) return object
  if (kind === 'Job') return edit(template) as unknown as T
  return { ...object, spec: { ...(object.spec as Fields), jobTemplate: edit(template) } } as unknown as T
}
