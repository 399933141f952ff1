import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/kube/vocabulary/api.ts'
import { JOBS, NAMESPACES, PODS } from '../../src/kube/vocabulary/resources.ts'
import { Janitors, ORPHAN } from './actors/janitors.ts'
import { FAIL_PERCENT, JobController } from './actors/job-controller.ts'
import { Nodes, RUN_MS } from './actors/nodes.ts'
import { asPod, isDeleting, mayRun } from './facts.ts'
import { asJob, hasEnded, jobOf, jobSays } from './model/job-rules.ts'
import { ModelServer } from './model/server.ts'
import { Agenda } from './time/agenda.ts'
import { Dice } from './time/dice.ts'

const WHO = 'somebody'
const REF = { namespace: 'ml', name: 'train' }

function fresh(seed = 1) {
  const agenda = new Agenda()
  const dice = new Dice(seed)
  const server = new ModelServer(
    () => agenda.now,
    call => call.object,
  )
  new Janitors(agenda, server, dice.split('janitors'))
  new Nodes(agenda, server, dice.split('nodes'))
  new JobController(agenda, server, dice.split('controller'))
  server.create(NAMESPACES, { metadata: { name: 'ml' } }, WHO)
  const pods = () => server.all(PODS).map(asPod)
  return {
    server,
    create: (spec: object = {}, runMs = 1000, failPercent = 0) => {
      const annotations = { [RUN_MS]: String(runMs), [FAIL_PERCENT]: String(failPercent) }
      const template = { metadata: { annotations }, spec: { containers: [{ name: 'main', image: 'busybox' }] } }
      return server.create(JOBS, { metadata: REF, spec: { parallelism: 2, completions: 2, template, ...spec } }, WHO)
    },
    merge: (spec: object) => server.patch(JOBS, REF, { type: 'merge', body: { spec } }, WHO),
    job: () => asJob(server.get(JOBS, REF)),
    pods,
    running: () => pods().filter(mayRun).length,
    run: (ms: number) => agenda.runUntil(agenda.now + ms, () => false),
  }
}

const place = { template: { spec: { nodeSelector: { pool: 'a' } } } }
const refusal = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    if (error instanceof ApiError) return error.message
  }
  return 'none'
}

describe('the Job controller of the model', () => {
  it('runs a Job to its end and counts its pods', async () => {
    const { create, run, job, pods } = fresh()
    create()
    await run(20_000)
    expect(job().status).toMatchObject({ active: 0, terminating: 0, succeeded: 2, failed: 0 })
    expect(jobSays(job(), 'Complete')).toBe(true)
    expect(pods().flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([])
  })

  it('makes no pods of a suspended Job, and says that it is suspended', async () => {
    const { create, run, job, pods } = fresh()
    create({ suspend: true })
    await run(5000)
    expect(pods()).toEqual([])
    expect(jobSays(job(), 'Suspended')).toBe(true)
    expect(job().status?.startTime).toBeUndefined()
  })

  it.each([1, 2, 3, 4, 5])('never calls a Job stopped while one of its pods may run (seed %i)', async seed => {
    const { create, run, job, running, merge } = fresh(seed)
    create({}, 60_000)
    await run(3000)
    expect(job().status?.startTime).toBeDefined()
    merge({ suspend: true })
    let slow = false
    for (let step = 0; step < 400; step++) {
      await run(25)
      const { active = 0, terminating = 0 } = job().status ?? {}
      if (!jobSays(job(), 'Suspended')) continue
      expect(active).toBe(0)
      slow ||= terminating > 0
      if (terminating === 0) expect(running()).toBe(0)
    }
    expect(slow).toBe(true)
    expect(job().status).toMatchObject({ active: 0, terminating: 0, succeeded: 0, failed: 0 })
    expect(job().status?.startTime).toBeUndefined()
    merge({ suspend: false })
    await run(100_000)
    expect(jobSays(job(), 'Complete')).toBe(true)
  })

  it('gives up after as many failures as the Job allows, when its last pod is gone', async () => {
    const { create, run, job, running } = fresh()
    create({ backoffLimit: 1, parallelism: 3, completions: 3 }, 1000, 60)
    for (let step = 0; step < 600 && !hasEnded(job()); step++) await run(50)
    expect(jobSays(job(), 'Failed')).toBe(true)
    expect(running()).toBe(0)
  })

  it('replaces a pod that somebody deletes, and deletes surplus when the Job shrinks', async () => {
    const { create, run, server, pods, merge, job } = fresh()
    create({ parallelism: 3, completions: 3 }, 30_000)
    await run(3000)
    server.remove(PODS, { namespace: 'ml', name: pods()[0]?.metadata.name ?? '' }, {}, WHO)
    await run(9000)
    expect(pods().filter(pod => !isDeleting(pod))).toHaveLength(3)
    merge({ parallelism: 1 })
    await run(9000)
    expect(job().status).toMatchObject({ active: 1, terminating: 0 })
    expect(pods()).toHaveLength(1)
  })

  it('lets the pods of a deleted Job go, and those of an orphaned one run on', async () => {
    for (const orphaned of [false, true]) {
      const { create, run, server, pods } = fresh()
      const { metadata } = create({}, 60_000)
      await run(3000)
      if (orphaned) {
        server.patch(JOBS, REF, { type: 'merge', body: { metadata: { finalizers: [ORPHAN] } } }, WHO)
      }
      server.remove(JOBS, REF, { uid: metadata.uid ?? '' }, WHO)
      await run(20_000)
      expect(server.find(JOBS, 'ml', 'train')).toBeUndefined()
      expect(pods().filter(mayRun)).toHaveLength(orphaned ? 2 : 0)
      for (const pod of pods()) expect(jobOf(pod as never)).toBeUndefined()
    }
  })
})

describe('the rules of Jobs in the model', () => {
  it('let the template of a suspended Job change, and together with its start', async () => {
    const { create, run, merge } = fresh()
    create({ suspend: true })
    expect(refusal(() => merge({ ...place, suspend: false }))).toBe('none')
    await run(3000)
    expect(refusal(() => merge({ template: { spec: { nodeSelector: { pool: 'b' } } } }))).toContain('immutable')
  })

  it('let it change again only when no pod of it is active', async () => {
    const { create, run, merge, job } = fresh()
    create({}, 60_000)
    await run(3000)
    merge({ suspend: true })
    expect(refusal(() => merge(place))).toContain('spec.template')
    while (!jobSays(job(), 'Suspended')) await run(20)
    expect(refusal(() => merge(place))).toBe('none')
  })

  it('let its size change as Kubernetes does, and never what it runs', () => {
    const { create, merge } = fresh()
    create({ suspend: true })
    expect(refusal(() => merge({ parallelism: 5 }))).toBe('none')
    expect(refusal(() => merge({ completions: 5 }))).toContain('spec.completions')
    const containers = [{ name: 'main', image: 'other' }]
    expect(refusal(() => merge({ template: { spec: { containers } } }))).toContain('spec.template.spec')
  })
})
