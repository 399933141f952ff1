import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import { JOBS, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { asPod, isDeleting, isTerminal, phaseOf } from '../facts.ts'
import { asJob, hasEnded, type Job, type JobCondition, jobOf, jobSays } from '../model/job-rules.ts'
import type { ModelServer, Stored } from '../model/server.ts'
import type { Agenda } from '../time/agenda.ts'
import type { Dice } from '../time/dice.ts'
import { ignoreRaces, OUTCOME } from './nodes.ts'

export const JOB_CONTROLLER = 'system:serviceaccount:kube-system:job-controller'
/** On the template: of a hundred pods so many fail. */
export const FAIL_PERCENT = 'sim/fail-percent'
const TRACKING = 'batch.kubernetes.io/job-tracking'

/** What one look at a Job and its pods comes to. */
interface Plan {
  /** Ended, and not counted before: their number goes into the status, then their finalizer goes. */
  readonly counted: readonly Pod[]
  readonly doomed: readonly Pod[]
  readonly missing: number
  readonly status: NonNullable<Job['status']>
}

/**
 * The Job controller of Kubernetes. It looks at a Job a while after something has changed, acts on what it saw then,
 * and says what it did a while later: a Job that has just been suspended may still get pods, and a status may be about
 * a Job that has changed since. What it never does is to call a Job suspended, or ended, before it has deleted its pods.
 */
export class JobController {
  readonly #agenda: Agenda
  readonly #server: ModelServer
  readonly #dice: Dice
  /** Jobs that it is at work on; true: something has happened since it looked. */
  readonly #busy = new Map<string, boolean>()
  readonly #counted = new Set<string>()
  #pods = 0

  constructor(agenda: Agenda, server: ModelServer, dice: Dice) {
    this.#agenda = agenda
    this.#server = server
    this.#dice = dice
    server.subscribe(({ resource, type, after }) => {
      if (resource === JOBS && type === 'deleted') this.#letGo(after.metadata.uid)
      else if (resource === JOBS) this.#enqueue(after.metadata.uid)
      else if (resource === PODS && jobOf(after) !== undefined) this.#enqueue(jobOf(after)?.uid)
    })
  }

  #enqueue(uid = ''): void {
    if (this.#busy.has(uid)) {
      this.#busy.set(uid, true)
      return
    }
    this.#busy.set(uid, false)
    this.#agenda.after(2 + this.#dice.next() * this.#dice.pick([20, 20, 400]), () => this.#look(uid))
  }

  /** Its cache is this moment; it acts a little later. */
  #look(uid: string): void {
    this.#busy.set(uid, false)
    const job = this.#find(uid)
    if (job === undefined || hasEnded(job)) {
      this.#rest(uid, false)
      if (job !== undefined) this.#expire(job)
      return
    }
    this.#agenda.after(this.#dice.next() * this.#dice.pick([5, 100, 1500]), () => this.#act(job))
  }

  #act(job: Job): void {
    const uid = job.metadata.uid ?? ''
    if (this.#find(uid) === undefined) {
      this.#rest(uid, false)
      return
    }
    const plan = this.#plan(job)
    for (const pod of plan.doomed) ignoreRaces(() => this.#dismiss(pod))
    let failures = 0
    for (let left = plan.missing; left > 0; left--) if (ignoreRaces(() => this.#create(job))) failures++
    const { active = 0, ...others } = plan.status
    const status = { ...others, active: active - failures }
    this.#agenda.after(1 + this.#dice.next() * this.#dice.pick([10, 10, 1200]), () => this.#report(job, plan, status))
  }

  #plan(job: Job): Plan {
    const pods = this.#podsOf(job)
    // As with TerminatingOrFailed, whatever the policy says: a deleted pod is a failed one, and is replaced at once.
    // Nothing that Muster decides relies on the other one.
    const over = (pod: Pod) => isTerminal(pod) || isDeleting(pod)
    const counted = pods.filter(pod => over(pod) && isTracked(pod) && !this.#counted.has(pod.metadata.uid ?? ''))
    const active = pods.filter(pod => !over(pod))
    const terminating = pods.filter(pod => isDeleting(pod) && !isTerminal(pod)).length
    const good = counted.filter(pod => phaseOf(pod) === 'Succeeded').length
    const succeeded = (job.status?.succeeded ?? 0) + good
    const failed = (job.status?.failed ?? 0) + counted.length - good
    const numbers = { succeeded, failed }
    const finishing = endOf(job, succeeded, failed, active.length)
    if (finishing !== undefined) {
      // Said first as a target, and as the end only when no pod is left that could run.
      const gone = active.length + terminating === 0
      const [target, end] = finishing
      const said = this.#conditions(job, gone ? [target, end] : [target])
      const status = { ...startOf(job), ...said, ...numbers, active: 0, terminating: terminating + active.length }
      return { counted, doomed: active, missing: 0, status }
    }
    if (isDeleting(job)) {
      const status = { ...job.status, ...numbers, active: active.length, terminating }
      return { counted, doomed: [], missing: 0, status }
    }
    if (job.spec.suspend) {
      const said = this.#conditions(job, [condition('Suspended', 'True', 'JobSuspended', 'Job suspended')])
      const status = { ...said, ...numbers, active: 0, terminating: terminating + active.length }
      return { counted, doomed: active, missing: 0, status }
    }
    const resumed = jobSays(job, 'Suspended') ? [condition('Suspended', 'False', 'JobResumed', 'Job resumed')] : []
    const startTime = resumed.length === 0 ? job.status?.startTime : undefined
    const { parallelism, completions } = job.spec
    const open = completions === undefined ? (succeeded > 0 ? active.length : parallelism) : completions - succeeded
    const wanted = Math.max(0, Math.min(parallelism, open))
    const doomed = active.slice(wanted)
    const status = {
      startTime: startTime ?? this.#server.timestamp(),
      ...this.#conditions(job, resumed),
      ...numbers,
      active: wanted,
      terminating: terminating + doomed.length,
    }
    return { counted, doomed, missing: Math.max(0, wanted - active.length), status }
  }

  #conditions(job: Job, said: readonly JobCondition[]): { conditions?: readonly JobCondition[] } {
    const conditions = [...(job.status?.conditions ?? [])]
    for (const next of said) {
      const at = conditions.findIndex(({ type }) => type === next.type)
      if (at >= 0 && conditions[at]?.status === next.status) continue
      conditions.splice(at < 0 ? conditions.length : at, 1, { ...next, lastTransitionTime: this.#server.timestamp() })
    }
    return conditions.length === 0 ? {} : { conditions }
  }

  /** On the version that it has looked at: who has changed the Job in between makes it look again. */
  #report(job: Job, { counted }: Plan, status: object): void {
    const { namespace = '', name = '', uid = '' } = job.metadata
    const ref = { namespace, name, subresource: 'status' }
    const refused = ignoreRaces(() => this.#server.replace(JOBS, ref, { ...job, status }, JOB_CONTROLLER))
    if (refused === undefined) {
      for (const pod of counted) {
        this.#counted.add(pod.metadata.uid ?? '')
        ignoreRaces(() => this.#untrack(pod))
      }
    }
    this.#rest(uid, refused !== undefined)
  }

  #rest(uid: string, again: boolean): void {
    const dirty = this.#busy.get(uid) === true
    this.#busy.delete(uid)
    if (again || dirty) this.#enqueue(uid)
  }

  /** A pod of a suspended Job is counted nowhere: it loses its mark first. */
  #dismiss(pod: Pod): void {
    this.#untrack(pod)
    const { namespace = '', name = '', uid } = pod.metadata
    this.#server.remove(PODS, { namespace, name }, uid === undefined ? {} : { uid }, JOB_CONTROLLER)
  }

  #untrack(pod: Pod): void {
    const { namespace = '', name = '', uid } = pod.metadata
    const body = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [TRACKING] } }
    this.#server.patch(PODS, { namespace, name }, { type: 'strategic', body }, JOB_CONTROLLER)
  }

  #create(job: Job): void {
    const { name = '', namespace, uid = '' } = job.metadata
    const { metadata, spec } = job.spec.template
    const fails = this.#dice.chance(Number(metadata?.annotations?.[FAIL_PERCENT] ?? 0) / 100)
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true, blockOwnerDeletion: true }
    const pod = {
      metadata: {
        ...metadata,
        name: `${name}-${(this.#pods++).toString(36)}`,
        ...(namespace !== undefined && { namespace }),
        annotations: { ...metadata?.annotations, [OUTCOME]: fails ? 'fail' : 'succeed' },
        finalizers: [TRACKING],
        ownerReferences: [owner],
      },
      spec,
    }
    this.#server.create(PODS, pod, JOB_CONTROLLER)
  }

  /** Of a Job that is gone: nobody will count its pods any more. */
  #letGo(uid: string | undefined): void {
    this.#agenda.after(20 + this.#dice.next() * 500, () => {
      for (const object of this.#server.all(PODS)) {
        const mine = object.metadata.labels?.['controller-uid'] === uid && isTracked(asPod(object))
        if (mine) ignoreRaces(() => this.#untrack(asPod(object)))
      }
    })
  }

  #expire({ metadata, spec }: Job): void {
    const { namespace = '', name = '', uid } = metadata
    if (spec.ttlSecondsAfterFinished === undefined) return
    this.#agenda.after(spec.ttlSecondsAfterFinished * 1000, () =>
      ignoreRaces(() =>
        this.#server.remove(JOBS, { namespace, name }, uid === undefined ? {} : { uid }, 'system:ttl-after-finished'),
      ),
    )
  }

  #find(uid: string): Job | undefined {
    const found = this.#server.all(JOBS).find(({ metadata }) => metadata.uid === uid)
    return found && asJob(found)
  }

  #podsOf({ metadata: { uid } }: Job): readonly Pod[] {
    return this.#server.all(PODS).flatMap((object: Stored) => (jobOf(object)?.uid === uid ? [asPod(object)] : []))
  }
}

const isTracked = (pod: Pod): boolean => pod.metadata.finalizers?.includes(TRACKING) ?? false
const startOf = ({ status }: Job) => (status?.startTime === undefined ? {} : { startTime: status.startTime })

function condition(type: string, status: string, reason: string, message: string): JobCondition {
  return { type, status, reason, message }
}

/** How the Job ends, as a target and as the end, if it does: a suspended one can, too. */
function endOf(
  job: Job,
  succeeded: number,
  failed: number,
  active: number,
): readonly [JobCondition, JobCondition] | undefined {
  const { completions, backoffLimit } = job.spec
  if (failed > backoffLimit || jobSays(job, 'FailureTarget')) {
    const why = ['BackoffLimitExceeded', 'Job has reached the specified backoff limit'] as const
    return [condition('FailureTarget', 'True', ...why), condition('Failed', 'True', ...why)]
  }
  const enough = completions === undefined ? succeeded > 0 && active === 0 : succeeded >= completions && active === 0
  if (!enough && !jobSays(job, 'SuccessCriteriaMet')) return undefined
  const why = ['CompletionsReached', 'Reached expected number of succeeded pods'] as const
  return [condition('SuccessCriteriaMet', 'True', ...why), condition('Complete', 'True', ...why)]
}
