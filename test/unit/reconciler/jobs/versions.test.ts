import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../../src/kube/vocabulary/objects.ts'
import { type Action, subjectOf } from '../../../../src/workload/actions.ts'
import { BATCH_JOB } from '../../../../src/workload/jobs/batch-job.ts'
import type { QueuedWorkload } from '../../../../src/workload/queued-workload.ts'
import { type Job, jobSays } from '../../../simulation/model/job-rules.ts'
import { mergePatch } from '../../../simulation/model/patches.ts'
import { acts, cached, job, jobUnit, NOW, workloadFor } from '../../../support/jobs.ts'
import { ADMITTED, holds } from '../../../support/workloads.ts'

type PatchJob = Extract<Action, { readonly kind: 'PatchJob' }>

/** What the API server of a version takes, and what its Job controller does to a Job that is suspended. */
interface Version {
  readonly name: string
  /** Whether the template of the Job, as it was before the write, may change. */
  mayPlace(job: Job): boolean
  readonly keepsStartTime: boolean
}

const activeIn = ({ status }: Job): number => status?.active ?? 0
const started = ({ status }: Job): boolean => status?.startTime != null

const VERSIONS: readonly Version[] = [
  { name: '1.35', mayPlace: job => job.spec.suspend && !started(job), keepsStartTime: true },
  {
    name: '1.36.0',
    mayPlace: job => job.spec.suspend && jobSays(job, 'Suspended') && activeIn(job) === 0,
    keepsStartTime: false,
  },
  {
    name: '1.36.2 and 1.37',
    mayPlace: job => job.spec.suspend && (!started(job) || jobSays(job, 'Suspended')) && activeIn(job) === 0,
    keepsStartTime: false,
  },
]

const PLACE = { nodeSelector: { pool: 'a' } }
const charged = workloadFor(cached(), ADMITTED, { place: PLACE })
const evicted = workloadFor(cached(), [...ADMITTED, holds('Evicted', 'Preempted', 'a better one came')], {
  place: PLACE,
})

/** A Job on an API server of that version, with its controller, on which decisions are carried out. */
class Stage {
  object: Job
  readonly writes: string[] = []
  readonly #version: Version

  constructor(version: Version) {
    this.#version = version
    this.object = job() as unknown as Job
  }

  decide(workload: QueuedWorkload): PatchJob | undefined {
    const [action] = acts(jobUnit(BATCH_JOB.forCache(this.object as unknown as KubeObject), workload))
    return action?.kind === 'PatchJob' ? action : undefined
  }

  /** Whether the API server takes it. */
  takes({ patch, subresource }: PatchJob): boolean {
    const body = patch.body as { readonly spec?: { readonly template?: unknown }; readonly status?: object }
    if (subresource === 'status') {
      // Before 1.36 and after: it is not taken away from a Job that runs.
      if (!this.object.spec.suspend) return false
    } else if (body.spec?.template !== undefined && !this.#version.mayPlace(this.object)) return false
    this.object = mergePatch(this.object, body) as Job
    this.writes.push(nameOf(body))
    return true
  }

  /** Everything that is decided until nothing is, or something else is to happen first. */
  play(workload: QueuedWorkload): void {
    for (let action = this.decide(workload); action !== undefined; action = this.decide(workload)) {
      expect(subjectOf(action).name).toBe('train')
      expect(this.takes(action), `${this.#version.name} refuses to ${JSON.stringify(action.patch.body)}`).toBe(true)
    }
  }

  controllerSees(): void {
    const { suspend, parallelism } = this.object.spec
    const startTime = suspend ? (this.#version.keepsStartTime ? this.object.status?.startTime : undefined) : NOW
    const says = (status: string) => [{ type: 'Suspended', status, reason: '', message: '' }]
    const status = {
      ...(startTime !== undefined && { startTime }),
      active: suspend ? 0 : parallelism,
      conditions: says(suspend ? 'True' : 'False'),
    }
    this.object = { ...this.object, status }
  }
}

function nameOf(body: { readonly spec?: object; readonly status?: object }): string {
  if (body.status !== undefined) return 'startTime'
  const { suspend } = (body.spec ?? {}) as { suspend?: boolean }
  if (suspend === undefined) return 'restore'
  return suspend ? 'stop' : 'start'
}

describe.each(VERSIONS)('the writes on a Job, as Kubernetes $name takes them', version => {
  const { name, keepsStartTime } = version

  it('start it, stop it and start it again, and none is refused', () => {
    const stage = new Stage(version)
    stage.controllerSees()
    stage.play(charged)
    expect(stage.writes).toEqual(['start'])
    stage.controllerSees()
    stage.play(evicted)
    expect(stage.writes).toEqual(['start', 'stop'])
    stage.controllerSees()
    stage.play(evicted)
    const stopped = ['start', 'stop', ...(keepsStartTime ? ['startTime'] : []), 'restore']
    expect(stage.writes).toEqual(stopped)
    expect(stage.object.spec.template.spec.nodeSelector ?? {}).toEqual({})
    stage.play(charged)
    expect(stage.writes).toEqual([...stopped, 'start'])
  })

  it('may come before the controller has looked, and are tried again where that is refused', () => {
    const stage = new Stage(version)
    const first = stage.decide(charged)
    expect(first?.early).toBe(true)
    if (first === undefined) return
    expect(stage.takes(first)).toBe(name !== '1.36.0')
    if (name !== '1.36.0') return
    stage.controllerSees()
    stage.play(charged)
    expect(stage.writes).toEqual(['start'])
  })

  it('leave the template alone while pods are there', () => {
    const stage = new Stage(version)
    stage.controllerSees()
    stage.play(charged)
    stage.controllerSees()
    stage.play(evicted)
    const terminating = { ...stage.object.status, active: 0, terminating: 4 }
    const conditions = [{ type: 'Suspended', status: 'True', reason: '', message: '' }]
    stage.object = { ...stage.object, status: { ...terminating, conditions } }
    expect(stage.decide(evicted)).toBeUndefined()
  })
})
