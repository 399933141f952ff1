import type { Configuration } from '../../config/configuration.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { LIFT_MARKS } from '../../workload/pod-facts.ts'
import { pathText, podTemplatesIn } from '../templates.ts'
import type { Found } from './catalog.ts'

interface Kind {
  readonly group: string
  readonly kind: string
}

/**
 * Where the pods of a queued workload say already, and otherwise, what its admission would write on them. Nobody's word
 * is overwritten: they are admitted, and never start.
 */
export function conflictFindings(object: Fields, kind: Kind, queue: string, config: Configuration): readonly Found[] {
  const { engine, queues } = config
  const nodeLabels = queues.find(({ name }) => name === queue)?.nodeLabels ?? {}
  if (engine !== 'builtin') return []
  // What a pod says of the marks its webhook judges.
  if (kind.group === '' && kind.kind === 'Pod') return elsewhere(object.spec, 'spec', queue, nodeLabels)
  return podTemplatesIn(object, kind, config).flatMap(({ steps, template }) => {
    const at = pathText(steps)
    return [...elsewhere(template.spec, `${at}.spec`, queue, nodeLabels), ...marked(template.metadata, at)]
  })
}

function elsewhere(spec: unknown, at: string, queue: string, nodeLabels: Fields): readonly Found[] {
  const selector = isObject(spec) && isObject(spec.nodeSelector) ? spec.nodeSelector : {}
  return Object.entries(nodeLabels).flatMap(([key, value]): readonly Found[] => {
    const own = Object.hasOwn(selector, key) ? selector[key] : undefined
    if (typeof own !== 'string' || own === value) return []
    const message = `queue ${queue} has its pods run on nodes with ${key}=${value}, and these ask for ${key}=${own}: they never start`
    return [{ code: 'QueueElsewhere', message, field: `${at}.nodeSelector[${key}]` }]
  })
}

function marked(metadata: unknown, at: string): readonly Found[] {
  if (!isObject(metadata)) return []
  return LIFT_MARKS.flatMap(({ in: place, key, path }): readonly Found[] => {
    const map = metadata[place]
    if (!isObject(map) || !Object.hasOwn(map, key)) return []
    const message = `${key} is written when it is admitted, and what says it already never starts: remove it`
    return [{ code: 'KeyMisplaced', severity: 'error', message, field: `${at}.${path}` }]
  })
}
