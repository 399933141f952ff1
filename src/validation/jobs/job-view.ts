import { readYamlOrJson } from '../../documents/yaml-or-json.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { SCHEDULING } from '../../kube/vocabulary/names.ts'
import { type FieldError, forbidden, invalid, required } from '../field-error.ts'
import { readBlock, type WrittenBlock } from './scheduling-spelling.ts'

/** What the rules read of a Job, or of the Job that a CronJob or JobSet will make. */
export interface JobView {
  /** Before every path: `spec.jobTemplate.` for a CronJob, nothing for a Job. */
  readonly prefix: string
  readonly name: string
  readonly parallelism: number
  readonly completions: number | undefined
  readonly indexed: boolean
  readonly controller: { readonly uid: unknown; readonly kind: unknown; readonly apiVersion: unknown } | undefined
  /** The block in `spec.scheduling`. */
  readonly field: WrittenBlock | undefined
  /** The block in the annotation, or the error that keeps it from being one. */
  readonly annotation: WrittenBlock | FieldError | undefined
  /** Of the annotation, as it stands there. */
  readonly text: string | undefined
  /** Numbers that are none. They matter only next to a block: without one, they are the API server's to judge. */
  readonly numberErrors: readonly FieldError[]
}

/** A block needs a few hundred characters. As JSON it has no other bound. */
const MAX_ANNOTATION = 16_384

export const fieldPath = ({ prefix }: { readonly prefix: string }): string => `${prefix}spec.scheduling`
export const annotationPath = ({ prefix }: { readonly prefix: string }): string =>
  `${prefix}metadata.annotations[${SCHEDULING}]`

/** The annotation of a Job, or of a template of Jobs, as it stands there. */
export function annotatedBlock(template: unknown): unknown {
  const metadata = isObject(template) ? template.metadata : undefined
  const annotations = isObject(metadata) ? metadata.annotations : undefined
  return isObject(annotations) && Object.hasOwn(annotations, SCHEDULING) ? annotations[SCHEDULING] : undefined
}

/** `template` has the metadata and the spec of a Job; `name` is the name of the object that people know. */
export function viewJob(template: unknown, prefix: string, name: string): JobView | readonly FieldError[] {
  if (!isObject(template))
    return [required(prefix === '' ? 'object' : prefix.slice(0, -1), 'the request carries no Job')]
  const { metadata = {}, spec } = template
  if (!isObject(spec)) return [required(`${prefix}spec`, 'a Job has a spec')]
  const { ownerReferences } = isObject(metadata) ? metadata : {}
  const numberErrors: FieldError[] = []
  const text = annotatedBlock(template)
  return {
    prefix,
    name,
    parallelism: numberOf(spec.parallelism, `${prefix}spec.parallelism`, numberErrors) ?? 1,
    completions: numberOf(spec.completions, `${prefix}spec.completions`, numberErrors),
    indexed: spec.completionMode === 'Indexed',
    controller: controllerOf(ownerReferences),
    field: spec.scheduling == null ? undefined : readBlock(spec.scheduling, `${prefix}spec.scheduling`),
    annotation: text == null ? undefined : readAnnotation(text, annotationPath({ prefix })),
    text: typeof text === 'string' ? text : undefined,
    numberErrors,
  }
}

export const isBlock = (found: WrittenBlock | FieldError | undefined): found is WrittenBlock =>
  found !== undefined && 'model' in found

export const hasBlock = (job: JobView | undefined): boolean => job?.field !== undefined || job?.annotation !== undefined

/** The block that counts. With two of them the review fails anyway. */
export const blockOf = ({ field, annotation }: JobView): WrittenBlock | undefined =>
  field ?? (isBlock(annotation) ? annotation : undefined)

/** What is wrong with how a block is written, whatever it says. */
export function writingErrors(job: JobView): readonly FieldError[] {
  const { field, annotation } = job
  const errors: FieldError[] = [...(field?.errors ?? [])]
  if (isBlock(annotation)) errors.push(...annotation.errors)
  else if (annotation !== undefined) errors.push(annotation)
  if (field !== undefined && annotation !== undefined) {
    const detail = `${fieldPath(job)} says the same thing: a Job has one scheduling block, remove the annotation`
    errors.push(forbidden(annotationPath(job), detail))
  }
  return errors
}

/** The spec of the pods that a Job makes, wherever it is missing an empty one. */
export function podSpecOf(jobSpec: unknown): Fields {
  const template = isObject(jobSpec) && isObject(jobSpec.template) ? jobSpec.template : {}
  return isObject(template.spec) ? template.spec : {}
}

function readAnnotation(text: unknown, path: string): WrittenBlock | FieldError {
  const read = readAnnotated(text, path)
  return 'problem' in read ? read.problem : readBlock(read.value, path)
}

/** The text of an annotation as what it stands for. */
export function readAnnotated(
  text: unknown,
  path: string,
): { readonly value: unknown } | { readonly problem: FieldError } {
  if (typeof text !== 'string') {
    return { problem: invalid(path, text, 'must be a string: write the block as text, after "|" or in quotes') }
  }
  if (text.length > MAX_ANNOTATION) {
    const detail = `may not be more than ${MAX_ANNOTATION} characters`
    return { problem: { field: path, type: 'TooLong', detail } }
  }
  const read = readYamlOrJson(text)
  return 'problem' in read ? { problem: invalid(path, text, read.problem) } : { value: read.value }
}

function numberOf(value: unknown, path: string, errors: FieldError[]): number | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'number' && Number.isInteger(value)) return value
  errors.push(invalid(path, value, 'must be a whole number, without quotes'))
  return undefined
}

function controllerOf(references: unknown): JobView['controller'] {
  const found = Array.isArray(references)
    ? references.find((reference): reference is Fields => isObject(reference) && reference.controller === true)
    : undefined
  return found && { uid: found.uid, kind: found.kind, apiVersion: found.apiVersion }
}
