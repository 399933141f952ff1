import { labelKeyProblems } from '../kube/vocabulary/formats.ts'
import {
  PODSET_GROUP,
  PREFERRED_TOPOLOGY,
  REQUIRED_TOPOLOGY,
  SLICE_CONSTRAINTS,
  SLICE_SIZE,
  SLICE_TOPOLOGY,
  UNCONSTRAINED_TOPOLOGY,
} from '../kube/vocabulary/names.ts'
import type { StringMap } from '../kube/vocabulary/objects.ts'
import { annotationPath, type FieldError, forbidden, invalid, required } from '../validation/field-error.ts'
import { isGoBoolean, isUint64, parseInt32 } from '../validation/numbers.ts'
import { podSetGroupIn } from '../workload/group.ts'
import { topologyIn } from '../workload/topology.ts'

const MAX_LAYERS = 3
/** Three layers with the longest keys need a tenth of it; what is longer is not worth the parsing. */
const MAX_LAYERS_LENGTH = 16 * 1024

const notTogether = (key: string): string => `may not be set when '${key}' is specified`

/**
 * Kueue's topology requests: what Kueue would refuse is refused here, too. Of a pod, or of a template of pods, which lies
 * at `prefix` in its object.
 */
export function topologyErrors(annotations: StringMap | null | undefined, prefix = ''): readonly FieldError[] {
  if (annotations === undefined || annotations === null) return []
  const errors = requestErrors(annotations)
  return prefix === '' ? errors : errors.map(error => ({ ...error, field: `${prefix}${error.field}` }))
}

/** A slice is a part of the podSet, and so is the outermost of several. Of what is no size the other rules speak. */
export function sliceBoundErrors(
  annotations: StringMap | null | undefined,
  pods: number,
  prefix: string,
): readonly FieldError[] {
  const { sliceSize: size, sliceConstraints } = topologyIn(annotations)
  const parsed = size === undefined ? undefined : parseInt32(size)
  const outermost = sliceConstraints === undefined ? undefined : parseLayers(sliceConstraints)?.[0]?.size
  const detail = `must not be greater than pod set count ${pods}`
  const errors: FieldError[] = []
  if (parsed !== undefined && 'value' in parsed && parsed.value > pods) {
    errors.push(invalid(`${prefix}${annotationPath(SLICE_SIZE)}`, size, detail))
  }
  if (outermost !== undefined && outermost > pods) {
    errors.push(invalid(`${prefix}${annotationPath(SLICE_CONSTRAINTS)}`, outermost, detail))
  }
  return errors
}

function requestErrors(annotations: StringMap): readonly FieldError[] {
  const errors: FieldError[] = []
  const exclusive = [REQUIRED_TOPOLOGY, PREFERRED_TOPOLOGY, UNCONSTRAINED_TOPOLOGY]
  if (exclusive.filter(key => annotations[key] !== undefined).length > 1) {
    const names = exclusive.map(key => `"${key}"`).join(', ')
    errors.push(invalid('metadata.annotations', null, `must not contain more than one topology annotation: [${names}]`))
  }
  for (const key of [REQUIRED_TOPOLOGY, PREFERRED_TOPOLOGY, SLICE_TOPOLOGY]) {
    const value = annotations[key]
    if (value !== undefined)
      errors.push(...labelKeyProblems(value).map(problem => invalid(annotationPath(key), value, problem)))
  }
  errors.push(...podSetGroupErrors(annotations), ...unconstrainedErrors(annotations), ...sliceSizeErrors(annotations))
  errors.push(...constraintsErrors(annotations))
  return errors
}

function podSetGroupErrors(annotations: StringMap): readonly FieldError[] {
  const name = podSetGroupIn(annotations)
  if (name === undefined) return []
  const errors: FieldError[] = []
  if (isUint64(name)) errors.push(invalid(annotationPath(PODSET_GROUP), name, 'must not be a number'))
  for (const key of [SLICE_SIZE, SLICE_TOPOLOGY]) {
    if (annotations[key] !== undefined) errors.push(forbidden(annotationPath(PODSET_GROUP), notTogether(key)))
  }
  if ([PREFERRED_TOPOLOGY, REQUIRED_TOPOLOGY].every(key => annotations[key] === undefined)) {
    const detail = `may not be set when neither '${PREFERRED_TOPOLOGY}' nor '${REQUIRED_TOPOLOGY}' is specified`
    errors.push(forbidden(annotationPath(PODSET_GROUP), detail))
  }
  return errors
}

function unconstrainedErrors(annotations: StringMap): readonly FieldError[] {
  const value = topologyIn(annotations).unconstrained
  if (value === undefined || isGoBoolean(value)) return []
  return [invalid(annotationPath(UNCONSTRAINED_TOPOLOGY), value, 'must be a boolean value: "true" or "false"')]
}

function sliceSizeErrors(annotations: StringMap): readonly FieldError[] {
  const { sliceSize: size, sliceTopology } = topologyIn(annotations)
  const hasTopology = sliceTopology !== undefined
  if (size === undefined) {
    return hasTopology
      ? [required(annotationPath(SLICE_SIZE), `must be set when '${SLICE_TOPOLOGY}' is specified`)]
      : []
  }
  const errors: FieldError[] = []
  const parsed = parseInt32(size)
  if ('problem' in parsed) errors.push(invalid(annotationPath(SLICE_SIZE), size, 'must be a numeric value'))
  else if (parsed.value < 1)
    errors.push(invalid(annotationPath(SLICE_SIZE), size, 'must be greater than or equal to 1'))
  if (!hasTopology) {
    errors.push(forbidden(annotationPath(SLICE_SIZE), `may not be set when '${SLICE_TOPOLOGY}' is not specified`))
  }
  return errors
}

interface Layer {
  readonly topology: string
  readonly size: number
}

function constraintsErrors(annotations: StringMap): readonly FieldError[] {
  const text = topologyIn(annotations).sliceConstraints
  if (text === undefined) return []
  const path = annotationPath(SLICE_CONSTRAINTS)
  const errors = [SLICE_TOPOLOGY, SLICE_SIZE]
    .filter(key => annotations[key] !== undefined)
    .map(key => forbidden(path, notTogether(key)))
  if (podSetGroupIn(annotations) !== undefined) {
    errors.push(forbidden(annotationPath(PODSET_GROUP), notTogether(SLICE_CONSTRAINTS)))
  }
  const layers = parseLayers(text)
  if (layers === undefined) {
    const detail = 'must be a valid JSON array: [{"topology": "example.com/block", "size": 4}]'
    return [...errors, invalid(path, text, detail)]
  }
  if (layers.length === 0 || layers.length > MAX_LAYERS) {
    const detail = `topology constraints must contain between 1 and ${MAX_LAYERS} entries`
    return [...errors, invalid(path, text, detail)]
  }
  return [...errors, ...layerErrors(layers, path), ...duplicateErrors(layers, path), ...divisionErrors(layers, path)]
}

/** As Go reads it into a list of structs: `null` is an empty list, an absent field is its zero value. */
function parseLayers(text: string): readonly Layer[] | undefined {
  if (text.length > MAX_LAYERS_LENGTH) return undefined
  let parsed: unknown
  try {
    parsed = parseExactly(text, (_key, value, { source }) => (typeof value === 'number' ? int32Of(source) : value))
  } catch {
    return undefined
  }
  if (parsed === null) return []
  if (!Array.isArray(parsed)) return undefined
  const layers: Layer[] = []
  for (const item of parsed) {
    if (typeof item !== 'object' || Array.isArray(item)) return undefined
    const { topology, size } = foldedKeys(item ?? {})
    if (topology != null && typeof topology !== 'string') return undefined
    if (size != null && typeof size !== 'number') return undefined
    layers.push({ topology: topology ?? '', size: size ?? 0 })
  }
  return layers
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

/** What the language has and the compiler's library does not know yet: the digits of a number, as they are written. */
const parseExactly = JSON.parse as (text: string, reviver: Reviver) => unknown

/** Go takes no `4.0` and no `1e1` for a whole number. Everything else is no size, and is left as what it is not. */
function int32Of(source = ''): number | boolean {
  const parsed = parseInt32(source)
  return 'value' in parsed && parsed.value
}

/** Go does not mind the case of a key, and of two that mean the same it takes the last. */
function foldedKeys(item: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(item).map(([key, value]) => [key.toLowerCase(), value]))
}

function layerErrors(layers: readonly Layer[], path: string): readonly FieldError[] {
  return layers.flatMap(({ topology, size }, index) => {
    const errors = labelKeyProblems(topology).map(problem => invalid(`${path}[${index}].topology`, topology, problem))
    if (size < 1) errors.push(invalid(`${path}[${index}].size`, size, 'must be greater than or equal to 1'))
    return errors
  })
}

function duplicateErrors(layers: readonly Layer[], path: string): readonly FieldError[] {
  return layers.flatMap(({ topology }, index): FieldError[] => {
    const first = layers.findIndex(layer => layer.topology === topology)
    if (first === index) return []
    const detail = `${topology} (also at index ${first})`
    return [{ field: `${path}[${index}].topology`, type: 'Duplicate', detail, value: topology }]
  })
}

function divisionErrors(layers: readonly Layer[], path: string): readonly FieldError[] {
  return layers.flatMap(({ size }, index) => {
    const parent = layers[index - 1]
    if (parent === undefined || size <= 0 || parent.size % size === 0) return []
    return [invalid(`${path}[${index}].size`, size, `must evenly divide the parent layer size ${parent.size}`)]
  })
}
