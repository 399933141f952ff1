import type { Configuration } from '../../config/configuration.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { podTemplatePaths } from '../template-paths.ts'
import { pathText } from '../templates.ts'
import type { Found } from './catalog.ts'
import { PREFIXES } from './known-keys.ts'

/** Nobody writes a larger one by hand; a definition of a kind may be as large, and holds no pods. */
const MAX_VALUES = 5_000

/** Pod templates that ask for something in a kind of which nobody knows that it makes pods: they are not reviewed. */
export function hiddenTemplates(
  object: Fields,
  kind: { readonly group: string; readonly kind: string },
  config: Configuration,
): readonly Found[] {
  // Kubernetes' own groups have no dot, or end with its name: their kinds are known.
  if (!kind.group.includes('.') || podTemplatePaths(kind, config).length > 0) return []
  const path = templateIn(object)
  if (path === undefined) return []
  const name = `${kind.group}/${kind.kind}`
  const message = `a ${kind.kind} seems to have a pod template here, which is not reviewed: name it in the configuration, review.templates: [{kind: ${name}, paths: [${path.map(generic).join('.')}]}]`
  return [{ code: 'TemplateNotReviewed', message, field: pathText(path) }]
}

/** Without the indexes of a list, as `review.templates` has it. */
const generic = (step: string | number): string => (typeof step === 'number' ? '[]' : step)

type Waiting = readonly [value: unknown, path: readonly (string | number)[]]

function templateIn(object: Fields): readonly (string | number)[] | undefined {
  const waiting: Waiting[] = [[object.spec, ['spec']]]
  for (let count = 0; count < MAX_VALUES; count++) {
    const next = waiting.pop()
    if (next === undefined) return undefined
    const [value, path] = next
    if (Array.isArray(value)) for (const [index, item] of value.entries()) waiting.push([item, [...path, index]])
    else if (isObject(value)) {
      if (isAskingTemplate(value)) return path
      for (const key of Object.keys(value)) waiting.push([value[key], [...path, key]])
    }
  }
  return undefined
}

function isAskingTemplate({ metadata, spec }: Fields): boolean {
  if (!isObject(metadata) || !isObject(spec) || !Array.isArray(spec.containers)) return false
  return [metadata.labels, metadata.annotations].some(
    map => isObject(map) && Object.keys(map).some(key => PREFIXES.some(prefix => key.startsWith(prefix))),
  )
}
