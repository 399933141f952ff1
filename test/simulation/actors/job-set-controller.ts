import { JOB_SETS, JOBS } from '../../../src/kube/vocabulary/resources.ts'
import { isDeleting } from '../facts.ts'
import { asJob, hasEnded, type Job, type JobCondition, jobSays } from '../model/job-rules.ts'
import {
  asJobSet,
  JOB_SET_UID,
  type JobSet,
  RESTART_ATTEMPT,
  type ReplicatedJob,
  setHasEnded,
} from '../model/job-set-rules.ts'
import type { ModelServer, Stored } from '../model/server.ts'
import type { Agenda } from '../time/agenda.ts'
import type { Dice } from '../time/dice.ts'
import { FOREGROUND } from './janitors.ts'
import { ignoreRaces } from './nodes.ts'

export const JOB_SET_CONTROLLER = 'system:serviceaccount:jobset-system:jobset-controller-manager'

/**
 * The controller of JobSet 0.12. As the Job controller it acts on what it saw a while ago. It makes the Jobs of a
 * suspended set suspended, resumes and suspends them one by one, and starts all of them anew when one has failed and
 * the policy says so. It never looks at pods: its status counts Jobs.
 */
export class JobSetController {
  readonly #agenda: Agenda
  readonly #server: ModelServer
  readonly #dice: Dice
  /** Sets that it is at work on; true: something has happened since it looked. */
  readonly #busy = new Map<string, boolean>()

  constructor(agenda: Agenda, server: ModelServer, dice: Dice) {
    this.#agenda = agenda
    this.#server = server
    this.#dice = dice
    server.subscribe(({ resource, type, after }) => {
      if (resource === JOB_SETS && type !== 'deleted') this.#enqueue(after.metadata.uid)
      if (resource === JOBS) this.#enqueue(after.metadata.labels?.[JOB_SET_UID])
    })
  }

  #enqueue(uid: string | undefined): void {
    if (uid === undefined) return
    if (this.#busy.has(uid)) {
      this.#busy.set(uid, true)
      return
    }
    this.#busy.set(uid, false)
    this.#agenda.after(2 + this.#dice.next() * this.#dice.pick([20, 20, 400]), () => this.#look(uid))
  }

  #look(uid: string): void {
    this.#busy.set(uid, false)
    const found = this.#find(uid)
    if (found === undefined || isDeleting(found) || setHasEnded(found)) {
      // What still runs of a set that has ended goes after it: the end does not wait for it.
      for (const job of found === undefined ? [] : this.#jobsOf(uid)) {
        if (!hasEnded(job) && !isDeleting(job)) ignoreRaces(() => this.#replace(job))
      }
      this.#rest(uid, false)
    } else this.#agenda.after(this.#dice.next() * this.#dice.pick([5, 100, 1500]), () => this.#act(found))
  }

  #act(set: JobSet): void {
    const uid = set.metadata.uid ?? ''
    if (this.#find(uid) === undefined) {
      this.#rest(uid, false)
      return
    }
    const attempt = set.status?.restarts ?? 0
    const all = this.#jobsOf(uid)
    const old = all.filter(job => attemptOf(job) < attempt)
    const jobs = all.filter(job => attemptOf(job) === attempt)
    for (const job of old) if (!isDeleting(job)) ignoreRaces(() => this.#replace(job))
    const ending = endOf(set, jobs)
    if (ending === undefined && old.length === 0) this.#arrange(set, jobs, attempt)
    const status = this.#statusOf(set, jobs, ending)
    this.#agenda.after(1 + this.#dice.next() * this.#dice.pick([10, 10, 1200]), () => this.#report(set, status))
  }

  /** Every Job is there, and runs if the set does. */
  #arrange(set: JobSet, jobs: readonly Job[], attempt: number): void {
    for (const replicated of set.spec.replicatedJobs) {
      for (let index = 0; index < replicated.replicas; index++) {
        const name = `${set.metadata.name}-${replicated.name}-${index}`
        const job = jobs.find(({ metadata }) => metadata.name === name)
        if (job === undefined) this.#createOrWait(set, replicated, name, attempt)
        else if (!hasEnded(job) && job.spec.suspend !== (set.spec.suspend ?? false)) {
          ignoreRaces(() => this.#turn(set, replicated, job))
        }
      }
    }
  }

  /** The name may still belong to a Job of a predecessor: then it comes again. */
  #createOrWait(set: JobSet, replicated: ReplicatedJob, name: string, attempt: number): void {
    const refused = ignoreRaces(() => this.#create(set, replicated, name, attempt))
    if (refused !== undefined) this.#agenda.after(400, () => this.#enqueue(set.metadata.uid))
  }

  #create(set: JobSet, { template }: ReplicatedJob, name: string, attempt: number): void {
    const { namespace, name: owner = '', uid = '' } = set.metadata
    const { template: pods, ...spec } = template.spec
    const labels = { [JOB_SET_UID]: uid, [RESTART_ATTEMPT]: String(attempt) }
    const marked = { ...pods, metadata: { ...pods.metadata, labels: { ...pods.metadata?.labels, ...labels } } }
    const reference = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: owner, uid, controller: true }
    const job = {
      metadata: { name, ...(namespace && { namespace }), labels, ownerReferences: [reference] },
      spec: { ...spec, suspend: set.spec.suspend ?? false, template: marked },
    }
    this.#server.create(JOBS, job, JOB_SET_CONTROLLER)
  }

  /** On its way to run it forgets its start, and gets what the template of the set has by then: what it has, it keeps. */
  #turn(set: JobSet, { template }: ReplicatedJob, { metadata }: Job): void {
    const { namespace = '', name = '', resourceVersion } = metadata
    const ref = { namespace, name }
    const { metadata: marks, spec } = template.spec.template
    const { nodeSelector, tolerations } = spec
    const patch = (body: object, subresource?: string) =>
      this.#server.patch(
        JOBS,
        { ...ref, ...(subresource && { subresource }) },
        { type: 'merge', body },
        JOB_SET_CONTROLLER,
      )
    if (set.spec.suspend) {
      patch({ metadata: { resourceVersion }, spec: { suspend: true } })
      return
    }
    const { metadata: next } = patch({ metadata: { resourceVersion }, status: { startTime: null } }, 'status')
    const place = { ...(nodeSelector && { nodeSelector }), ...(tolerations && { tolerations }) }
    const pods = { metadata: { labels: marks?.labels ?? {}, annotations: marks?.annotations ?? {} }, spec: place }
    patch({ metadata: { resourceVersion: next.resourceVersion }, spec: { suspend: false, template: pods } })
  }

  /** In the foreground: a Job of the next attempt has the same name, and comes when the last pod of this one is gone. */
  #replace({ metadata }: Job): void {
    const { namespace = '', name = '', uid, finalizers = [] } = metadata
    const body = { metadata: { finalizers: [FOREGROUND, ...(finalizers ?? [])] } }
    this.#server.patch(JOBS, { namespace, name }, { type: 'merge', body }, JOB_SET_CONTROLLER)
    this.#server.remove(JOBS, { namespace, name }, uid === undefined ? {} : { uid }, JOB_SET_CONTROLLER)
  }

  #statusOf(set: JobSet, jobs: readonly Job[], ending: Ending | undefined): NonNullable<JobSet['status']> {
    const restarts = (set.status?.restarts ?? 0) + (ending === 'restart' ? 1 : 0)
    const replicatedJobsStatus = set.spec.replicatedJobs.map(({ name }) => {
      const own = jobs.filter(job => job.metadata.name?.startsWith(`${set.metadata.name}-${name}-`))
      const active = own.filter(job => !hasEnded(job) && (job.status?.active ?? 0) > 0).length
      return { name, active, succeeded: own.filter(job => jobSays(job, 'Complete')).length }
    })
    const said = ending === undefined || ending === 'restart' ? suspension(set) : [conditionOf(ending)]
    return { ...set.status, restarts, replicatedJobsStatus, conditions: this.#conditions(set, said) }
  }

  #conditions({ status }: JobSet, said: readonly JobCondition[]): readonly JobCondition[] {
    const conditions = [...(status?.conditions ?? [])]
    for (const next of said) {
      const at = conditions.findIndex(({ type }) => type === next.type)
      if (at >= 0 && conditions[at]?.status === next.status) continue
      conditions.splice(at < 0 ? conditions.length : at, 1, { ...next, lastTransitionTime: this.#server.timestamp() })
    }
    return conditions
  }

  #report(set: JobSet, status: object): void {
    const { namespace = '', name = '', uid = '' } = set.metadata
    const ref = { namespace, name, subresource: 'status' }
    const refused = ignoreRaces(() => this.#server.replace(JOB_SETS, ref, { ...set, status }, JOB_SET_CONTROLLER))
    this.#rest(uid, refused !== undefined)
  }

  #rest(uid: string, again: boolean): void {
    const dirty = this.#busy.get(uid) === true
    this.#busy.delete(uid)
    if (again || dirty) this.#enqueue(uid)
  }

  #find(uid: string): JobSet | undefined {
    const found = this.#server.all(JOB_SETS).find(({ metadata }) => metadata.uid === uid)
    return found && asJobSet(found)
  }

  #jobsOf(uid: string): readonly Job[] {
    const own = ({ metadata }: Stored) => metadata.labels?.[JOB_SET_UID] === uid
    return this.#server.all(JOBS).filter(own).map(asJob)
  }
}

type Ending = 'Completed' | 'Failed' | 'restart'

function endOf({ spec, status }: JobSet, jobs: readonly Job[]): Ending | undefined {
  const size = spec.replicatedJobs.reduce((sum, { replicas }) => sum + replicas, 0)
  if (jobs.some(job => jobSays(job, 'Failed'))) {
    return (status?.restarts ?? 0) < (spec.failurePolicy?.maxRestarts ?? 0) ? 'restart' : 'Failed'
  }
  return jobs.filter(job => jobSays(job, 'Complete')).length === size ? 'Completed' : undefined
}

const conditionOf = (type: 'Completed' | 'Failed'): JobCondition => ({
  type,
  status: 'True',
  reason: type,
  message: type,
})

function suspension({ spec, status }: JobSet): readonly JobCondition[] {
  const known = status?.conditions?.some(({ type }) => type === 'Suspended') ?? false
  if (spec.suspend)
    return [{ type: 'Suspended', status: 'True', reason: 'SuspendedJobs', message: 'jobset is suspended' }]
  return known ? [{ type: 'Suspended', status: 'False', reason: 'ResumeJobs', message: 'jobset is resumed' }] : []
}

const attemptOf = ({ metadata }: Job): number => Number(metadata.labels?.[RESTART_ATTEMPT] ?? 0)
