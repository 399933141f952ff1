import { JOBS } from '../../../../src/kube/vocabulary/resources.ts'
import { condition, IMAGE, job } from '../objects.ts'
import type { Chapter } from '../play.ts'

const STARTED = '2026-11-16T10:00:00Z'
const PLAIN = { restartPolicy: 'Never', containers: [{ name: 'main', image: IMAGE }] }
const LATER = '2026-11-16T11:00:00Z'

/** What may change of a Job and when: its size, its template while it waits, and when it says that it began. */
export const jobs: Chapter = {
  name: 'jobs',
  async play(p) {
    const it = p.at('it')
    const spec = (step: string, body: object) => p.merge(step, JOBS, it, { spec: body })
    const status = (step: string, body: object) => p.merge(step, JOBS, p.at('it', 'status'), { status: body })
    const pod = (body: object) => ({ template: { spec: body } })
    const place = (pool: string) => pod({ nodeSelector: { pool } })
    const marks = (team: string) => ({ template: { metadata: { labels: { team }, annotations: { team } } } })
    const container = (more: object) => pod({ containers: [{ name: 'main', image: IMAGE, ...more }] })
    const cpu = (amount: string) => container({ resources: { requests: { cpu: amount } } })
    const suspended = (is: 'True' | 'False') => condition('Suspended', is)

    await p.create('a Job of one pod', JOBS, job('one'))
    await p.create('a Job with only a parallelism', JOBS, job('some', { parallelism: 3 }))
    const template = { metadata: { labels: { team: 'red' } }, spec: PLAIN }
    await p.create('a Job without labels, but not its template', JOBS, job('red', { template }))
    await p.create('a Job that is suspended', JOBS, job('it', { suspend: true, parallelism: 2, completions: 4 }))

    await spec('another place while it waits', place('a'))
    await spec('other marks while it waits', marks('blue'))
    await spec('tolerations while it waits', pod({ tolerations: [{ key: 'pool', operator: 'Exists' }] }))
    await spec('a gate while it waits', pod({ schedulingGates: [{ name: 'example.com/gate' }] }))
    await spec('other requests while it waits', cpu('2'))
    await spec('another image while it waits', container({ image: 'registry.example/other:1' }))
    await spec('another grace period while it waits', pod({ terminationGracePeriodSeconds: 5 }))
    await spec('more at once', { parallelism: 3 })
    await spec('more in all', { completions: 5 })
    await spec('another mode', { completionMode: 'Indexed' })
    await spec('more patience', { backoffLimit: 9 })

    await spec('it starts, in another place', { suspend: false, ...place('b') })
    await spec('another place before it has begun', place('c'))
    await status('it has begun', { startTime: STARTED, active: 2 })
    await status('it began at another time', { startTime: LATER })
    await status('it never began', { startTime: null })
    await spec('another place while it runs', place('c'))
    await spec('fewer while it runs', { parallelism: 1 })

    await spec('it is suspended and placed in one write', { suspend: true, ...place('c') })
    await spec('it is suspended', { suspend: true })
    await spec('another place while pods of it are active', place('c'))
    await status('no pod of it is active', { active: 0, terminating: 2 })
    await spec('another place before it is called suspended', place('c'))
    await status('it is called suspended', { conditions: [suspended('True')] })
    await spec('another place when it is called suspended', place('c'))
    await status('it began later while suspended', { startTime: LATER })
    await status('it never began while suspended', { startTime: null })
    await status('it began while suspended', { startTime: STARTED })
    await spec('it goes on', { suspend: false })
    await status('it goes on from another time', { startTime: LATER, conditions: [suspended('False')] })
    await status('it goes on from yet another time', { startTime: STARTED })

    await p.create('an Indexed Job', JOBS, job('rows', { parallelism: 2, completions: 2, completionMode: 'Indexed' }))
    const rows = (step: string, body: object) => p.merge(step, JOBS, p.at('rows'), { spec: body })
    await rows('more rows in all', { completions: 3 })
    await rows('more rows, all at once', { completions: 3, parallelism: 3 })

    const { metadata } = await p.get('read', JOBS, it)
    const { uid, resourceVersion } = metadata
    await p.merge('by uid and version', JOBS, it, { metadata: { uid, resourceVersion }, spec: { parallelism: 2 } })
    await p.merge('by the version before that', JOBS, it, { metadata: { resourceVersion }, spec: { parallelism: 1 } })
    await p.merge('by another uid', JOBS, it, { metadata: { uid: 'other' }, spec: { parallelism: 1 } })
    await p.delete('delete it', JOBS, it)
    await p.gone('it is gone', JOBS, it)
  },
}
