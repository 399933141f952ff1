import type { AdmissionRequest } from '../../admission/review.ts'
import { allowed, type Verdict } from '../../admission/verdict.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { frameworkOf } from '../../kube/vocabulary/frameworks.ts'
import { QUEUE_NAME } from '../../kube/vocabulary/names.ts'
import { labelPath } from '../../validation/field-error.ts'
import { queueIn } from '../../workload/pod-facts.ts'
import { unlessBreakGlass } from '../exemption.ts'
import { isCalledFor, LARGE_BODY, type Rule, type ServedKind, type Webhook } from '../webhook.ts'
import type { World } from '../world.ts'
import { CRON_JOBS, JOB_SETS, JOBS } from './kinds.ts'

/**
 * `/validate/queue-labels`: a queue label on an object that nothing here queues holds nothing back, and whoever wrote
 * it believes that it does. What a controller creates is not told: nobody reads the answer.
 */
export function reviewQueueLabel(request: AdmissionRequest, world: World): Verdict {
  if (!isCalledFor({ rules: RULES }, request)) return allowed('NotOurs')
  const warnings = placesOf(request).flatMap(place => placeWarnings(place, world))
  return warnings.length === 0 ? allowed('Valid') : allowed('NotQueued', warnings)
}

/** The same of a kind for which Muster has no webhook at all: the API server does not ask, but whoever reviews a file may. */
export function unseenLabelWarnings({ operation, kind: { kind }, object }: AdmissionRequest): readonly string[] {
  const metadata = fieldsOf(fieldsOf(object).metadata)
  if (operation !== 'CREATE' || isOwned(metadata) || queueAmong(metadata.labels) === '') return []
  return [nothingWaits('', kind, 'pods wait that have it themselves, and as a whole it needs Kueue')]
}

const nothingWaits = (path: string, kind: string, better: string): string =>
  `${path}${labelPath(QUEUE_NAME)}: Muster queues no ${kind}s here, so this label holds nothing back; ${better}`

/** Where somebody may write a queue label, for which kind it is read there, and where it would be read. */
interface Place {
  readonly of: ServedKind
  readonly metadata: Fields
  readonly path: string
  /** The labels that do hold something back, and what they do: half a sentence. */
  readonly better: string
  readonly betterLabels?: unknown
}

const POD_LABELS = 'template.metadata.labels'
const fromTemplate = (path: string): string => `pods wait that have it themselves, from ${path}`

/** A CronJob waits for nothing: its Jobs do, and get their labels from their template. */
function placesOf({ resource, object }: AdmissionRequest): readonly Place[] {
  const of = KINDS.find(kind => kind.group === resource.group && kind.resource === resource.resource) ?? JOBS
  const { metadata, spec } = fieldsOf(object)
  const own = { of, metadata: fieldsOf(metadata), path: '' }
  if (of === CRON_JOBS) {
    const template = fieldsOf(fieldsOf(spec).jobTemplate)
    const path = 'spec.jobTemplate.'
    const jobs = { metadata: fieldsOf(template.metadata), path }
    return [
      { ...own, better: `its Jobs wait that have it, from ${path}metadata.labels`, betterLabels: jobs.metadata.labels },
      { ...jobs, of: JOBS, better: fromTemplate(`${path}spec.${POD_LABELS}`) },
    ]
  }
  if (of === JOB_SETS) return [{ ...own, better: fromTemplate(`spec.replicatedJobs[].template.spec.${POD_LABELS}`) }]
  const better = fromTemplate(`spec.${POD_LABELS}`)
  if (of === JOBS) return [{ ...own, better }]
  const betterLabels = fieldsOf(fieldsOf(fieldsOf(spec).template).metadata).labels
  return [{ ...own, better, betterLabels }]
}

function placeWarnings({ of, metadata, path, better, betterLabels }: Place, world: World): readonly string[] {
  const isTold = isOwned(metadata) || queueAmong(betterLabels) !== '' || isHeld(of, world)
  return isTold || queueAmong(metadata.labels) === '' ? [] : [nothingWaits(path, of.kind, better)]
}

const isOwned = ({ ownerReferences }: Fields): boolean =>
  Array.isArray(ownerReferences) && ownerReferences.some(isController)

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})

const queueAmong = (labels: unknown): string => (isStrings(labels) ? queueIn(labels) : '')

const isController = (reference: unknown): boolean => isObject(reference) && reference.controller === true

function isStrings(labels: unknown): labels is Readonly<Record<string, string>> {
  return isObject(labels) && Object.values(labels).every(value => typeof value === 'string')
}

function isHeld({ group, version, kind }: ServedKind, { config, holds }: World): boolean {
  const framework = frameworkOf({ apiVersion: `${group}/${version}`, kind }) ?? ''
  return holds.includes(framework) && config.integrations.frameworks.includes(framework)
}

const UNSEEN = 'nobody is told that nothing queues them'

const DEPLOYMENTS = { group: 'apps', version: 'v1', kind: 'Deployment', resource: 'deployments' } as const
const STATEFUL_SETS = { group: 'apps', version: 'v1', kind: 'StatefulSet', resource: 'statefulsets' } as const
const KINDS: readonly ServedKind[] = [JOBS, CRON_JOBS, JOB_SETS, DEPLOYMENTS, STATEFUL_SETS]

const RULES: readonly Rule[] = KINDS.map(of => ({ of, operations: ['CREATE'], unseen: UNSEEN }))

export const QUEUE_LABEL_WEBHOOKS: readonly Webhook[] = [
  {
    name: 'validate-queue-labels',
    path: '/validate/queue-labels',
    mutating: false,
    rules: RULES,
    advisory: true,
    threadAbove: LARGE_BODY,
    review: unlessBreakGlass(reviewQueueLabel),
  },
]
