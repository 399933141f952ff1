import type { ApiError } from '../../../src/kube/vocabulary/api.ts'

import { EVENTS, JOBS, PODS } from '../../../src/kube/vocabulary/resources.ts'

import { asPod, asWorkload, gatesOf, phaseOf } from '../facts.ts'
import { asJob, type Job } from '../model/job-rules.ts'
import type { ModelServer, Stored } from '../model/server.ts'
import type { Request } from '../network/wire.ts'

const WIDTH = 200

/** Somebody who writes down what happens in a run. */
export interface Chronicle {
  add(who: string, text: string): void
  request(who: string, request: Request, error?: ApiError): void
  follow(server: ModelServer, muster: string): void
  toString(): string
}

/** What happened, in the order in which it happened, for a person who wants to know why. */
export class Timeline implements Chronicle {
  readonly #now: () => number
  readonly #lines: string[] = []

  constructor(now: () => number) {
    this.#now = now
  }

  add(who: string, text: string): void {
    this.#lines.push(`${(this.#now() / 1000).toFixed(3).padStart(9)}  ${who.padEnd(14)} ${text}`.slice(0, WIDTH))
  }

  request(who: string, { verb, resource, namespace, name, subresource, body }: Request, error?: ApiError): void {
    const what = `${verb} ${resource.plural}${subresource ? `/${subresource}` : ''} ${namespace}/${name}`
    const outcome = error === undefined ? 'ok' : `${error.status} ${error.message.slice(0, 60)}`
    const detail = resource === EVENTS ? noteOf(body) : verb === 'patch' ? JSON.stringify(body).slice(0, 110) : ''
    this.add(who, `${what} -> ${outcome} ${detail}`)
  }

  follow(server: ModelServer, muster: string): void {
    server.subscribe(({ resource, type, after, who }) => {
      if (resource !== PODS && resource !== JOBS && resource !== server.workloads) return
      const { namespace, name, uid } = after.metadata
      const actor = who === muster ? '  = api' : who.replace(/^system:/, '')
      this.add(
        actor.slice(0, 14),
        `${type} ${resource.kind} ${namespace}/${name} (${uid}) ${stateOf(resource.kind, after)}`,
      )
    })
  }

  toString(): string {
    return this.#lines.join('\n')
  }
}

function noteOf(body: unknown): string {
  const { reason, note } = body as { reason?: string; note?: string }
  return `${reason}: ${note}`
}

function stateOf(kind: string, object: Stored): string {
  const { finalizers, deletionTimestamp, deletionGracePeriodSeconds } = object.metadata
  const short = (names: readonly string[]) => names.map(name => name.replace(/^.*\//, '')).join(',') || 'none'
  const deleting = deletionTimestamp == null ? '' : ` DELETING grace ${deletionGracePeriodSeconds}`
  const held = `finalizers ${short(finalizers ?? [])}${deleting}`
  if (kind === JOBS.kind) return `${jobState(asJob(object))} ${held}`
  if (kind === PODS.kind) {
    const pod = asPod(object)
    return `${phaseOf(pod)} on ${pod.spec.nodeName ?? '-'} gates ${short(gatesOf(pod))} ${held}`
  }
  const workload = asWorkload(object)
  const conditions = (workload.status?.conditions ?? []).map(
    ({ type, status, reason }) => `${type}=${status}(${reason})`,
  )
  const podSets = workload.spec.podSets.map(({ name, count }) => `${name} x${count}`)
  const inactive = workload.spec.active === false ? ' INACTIVE' : ''
  return `${workload.spec.queueName} [${podSets}]${inactive} ${conditions.join(' ')} ${held}`
}

function jobState({ metadata, spec, status }: Job): string {
  const marks = ['queued', 'held', 'stopping'].filter(mark => metadata.annotations?.[`muster.dev/${mark}`] === 'true')
  const { active = 0, terminating = 0, succeeded = 0, failed = 0, conditions = [] } = status ?? {}
  const said = conditions.map(({ type, status }) => `${type}=${status}`)
  const size = `${spec.parallelism} of ${spec.completions ?? 'any'}`
  const counts = `active ${active} terminating ${terminating} succeeded ${succeeded} failed ${failed}`
  return `${spec.suspend ? 'SUSPENDED' : 'runs'} ${size} [${marks}] ${counts} ${said.join(' ')}`
}
