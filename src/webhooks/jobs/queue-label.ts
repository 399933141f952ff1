import type { AdmissionRequest } from '../../admission/review.ts'
import { allowed, type Verdict } from '../../admission/verdict.ts'
import { isObject } from '../../kube/vocabulary/fields.ts'
import { frameworkOf } from '../../kube/vocabulary/frameworks.ts'
import { QUEUE_NAME } from '../../kube/vocabulary/names.ts'
import { labelPath } from '../../validation/field-error.ts'
import { queueIn } from '../../workload/pod-facts.ts'
import { unlessBreakGlass } from '../exemption.ts'
import { isCalledFor, LARGE_BODY, type Rule, type Webhook } from '../webhook.ts'
import type { World } from '../world.ts'
import { CRON_JOBS, JOB_SETS, JOBS } from './jobs.ts'

/**
 * `/validate/queue-labels`: a queue label on an object that nothing here queues holds nothing back, and whoever wrote
 * it believes that it does. What a controller creates is not told: nobody reads the answer.
 */
export function reviewQueueLabel(request: AdmissionRequest, world: World): Verdict {
  if (!isCalledFor({ rules: RULES }, request)) return allowed('NotOurs')
  const { kind, labels, path, template } = labelled(request)
  if (queueIn(labels) === '' || isHeld(kind, world)) return allowed('Valid')
  return allowed('NotQueued', [
    `${path}: Muster queues no ${kind}s here, so this label holds nothing back; pods wait that have it themselves, ` +
      `from ${template}`,
  ])
}

const POD_LABELS = 'template.metadata.labels'

/** Where Kueue reads the queue of an object: a CronJob has none, its Jobs get theirs from their template. */
function labelled({ kind: { kind }, object }: AdmissionRequest) {
  const isCron = kind === CRON_JOBS.kind
  const spec = isObject(object) ? object.spec : undefined
  const holder = isCron ? (isObject(spec) ? spec.jobTemplate : undefined) : object
  const metadata = isObject(holder) && isObject(holder.metadata) ? holder.metadata : {}
  const owned = Array.isArray(metadata.ownerReferences) && metadata.ownerReferences.some(isController)
  return {
    kind: isCron ? JOBS.kind : kind,
    labels: owned || !isStrings(metadata.labels) ? {} : metadata.labels,
    path: `${isCron ? 'spec.jobTemplate.' : ''}${labelPath(QUEUE_NAME)}`,
    template: TEMPLATES[kind] ?? '',
  }
}

const TEMPLATES: Readonly<Record<string, string>> = {
  [JOBS.kind]: `spec.${POD_LABELS}`,
  [CRON_JOBS.kind]: `spec.jobTemplate.spec.${POD_LABELS}`,
  [JOB_SETS.kind]: `spec.replicatedJobs[].template.spec.${POD_LABELS}`,
}

const isController = (reference: unknown): boolean => isObject(reference) && reference.controller === true

function isStrings(labels: unknown): labels is Readonly<Record<string, string>> {
  return isObject(labels) && Object.values(labels).every(value => typeof value === 'string')
}

function isHeld(kind: string, { config, holds }: World): boolean {
  const { group } = kind === JOB_SETS.kind ? JOB_SETS : JOBS
  const framework = frameworkOf({ apiVersion: `${group}/v1`, kind }) ?? ''
  return holds.includes(framework) && config.integrations.frameworks.includes(framework)
}

const UNSEEN = 'nobody is told that nothing queues them'

const RULES: readonly Rule[] = [JOBS, CRON_JOBS, JOB_SETS].map(of => ({ of, operations: ['CREATE'], unseen: UNSEEN }))

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
