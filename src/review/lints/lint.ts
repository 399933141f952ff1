import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import type { KubeObject, Pod } from '../../kube/vocabulary/objects.ts'
import type { World } from '../../webhooks/world.ts'
import { placeOfField } from '../positions.ts'
import type { Finding } from '../report.ts'
import type { Subject } from '../subjects.ts'
import { type Found, severityOf } from './catalog.ts'
import { effectFindings, isAboutNobody, podEffectFindings } from './effects.ts'
import { fieldFindings } from './fields.ts'
import { hiddenTemplates } from './hidden-templates.ts'
import { keyFindings } from './keys.ts'
import { kindFindings, localQueueFindings, nameFindings, renderFindings } from './kinds.ts'
import { hasTexts } from './metadata.ts'
import { ownerFindings, queueFindings, replicaFindings } from './queues.ts'
import type { Suppressions } from './suppression.ts'
import { valueFindings } from './workload-values.ts'

export interface Linted {
  readonly findings: readonly Finding[]
  /** How many were suppressed in the file itself. */
  readonly suppressed: number
}

/** What is known of an object beyond what stands in it. */
export interface Known {
  /** The word of its review. */
  readonly reason: string
  /** What the survey of all objects found. */
  readonly surveyed: readonly Found[]
  readonly suppressions: Suppressions
}

/**
 * Everything that lints have to say about one object: what it says by itself, and what is known of it. Only manifests are judged: a request that was once sent is as it is.
 */
export function lint(subject: Subject, known: Known, world: World): Linted {
  const { request, source, isReview } = subject
  const { reason, surveyed, suppressions } = known
  if (isReview || request.operation !== 'CREATE' || !isObject(request.object)) return { findings: [], suppressed: 0 }
  const { codes, found: bare } = suppressions
  const isMade = source.path !== undefined
  const own = [
    ...(isMade ? [] : writtenFindings(subject, request.object, world)),
    ...objectFindings(subject, request.object, reason, world),
    ...surveyed.filter(each => !isAboutNobody(each, reason)),
    ...(isMade ? [] : bare),
  ]
  const kept = own.filter(({ code }) => !codes.has(code))
  return { findings: kept.map(found => findingAt(subject, found)), suppressed: own.length - kept.length }
}

/** Of an object as somebody wrote it, its templates included. */
function writtenFindings({ request }: Subject, object: Fields, { config }: World): readonly Found[] {
  const { kind } = request
  return [
    ...kindFindings(kind.group, kind.version, kind.kind),
    ...renderFindings(kind.group, kind.kind),
    ...nameFindings(object, kind.group, kind.kind),
    ...localQueueFindings(object, kind.group, kind.kind),
    ...fieldFindings(object, kind, config),
    ...hiddenTemplates(object, kind, config),
    ...replicaFindings(object, kind, config),
    ...valueFindings(object, kind, config),
  ]
}

/** Of an object as the API server will get it, from whoever makes it. */
function objectFindings({ request }: Subject, object: Fields, reason: string, world: World): readonly Found[] {
  const { kind } = request
  const { metadata, spec } = object
  if (!isObject(metadata)) return []
  const keys = keyFindings(metadata, `${kind.group}/${kind.kind}`, world)
  if (!hasTexts(metadata)) return keys
  const isPod = kind.group === '' && kind.kind === 'Pod' && isObject(spec)
  const isOwned = reason === 'OwnerQueued'
  const queue = isOwned ? ownerFindings(object as unknown as KubeObject, world) : queueFindings(object, request, world)
  return [
    ...keys,
    ...queue,
    ...effectFindings(object as unknown as KubeObject, reason),
    ...(isPod ? podEffectFindings(object as unknown as Pod, reason, world.config) : []),
  ]
}

function findingAt(subject: Subject, found: Found): Finding {
  const { code, message, field } = found
  return { code, severity: severityOf(found), message, field, ...placeOfField(subject, field) }
}
