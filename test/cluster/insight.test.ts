import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import type { Diagnosis } from '../../src/insight/doctor/diagnosis.ts'
import type { Explanation } from '../../src/insight/explain/explanation.ts'
import type { QueuesReport } from '../../src/insight/queues/report.ts'
import { MANAGED } from '../../src/kube/vocabulary/names.ts'
import { type CommandOptions, musterCommand } from './support/command.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { list, queuedJob, queuedPod } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const IN_NEED = ['system:masters', 'muster:break-glass', 'system:authenticated']
const TENANT = 'system:serviceaccounts:ml'

/** The cluster of docs/explain.md. */
const CONFIG = {
  guard: { statusWriters: ['kwok'] },
  queues: [
    { name: 'team-a', limits: { cpu: 16 } },
    { name: 'team-b', limits: { cpu: 8 } },
    { name: 'small', limits: { cpu: 2 } },
    { name: 'private', limits: { cpu: 64 }, namespaces: { matchLabels: { team: 'infra' } } },
  ],
}

/** Without what differs from one cluster to the next: names made from uids, times, ages, and how lines are broken. */
const normalised = (text: string): string =>
  text
    .replace(/(?<=\/pod-\w+)-[0-9a-f]{5}\b/g, '')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/(?<=for |pod {2,})(\d+[dhms])+/g, 'AGE')
    .replace(/\s+/g, ' ')
    .trim()

function shownIn(page: string, command: string): string {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8')
  return text.split(`$ ${command}\n`)[1]?.split('```')[0] ?? ''
}

describe('what people ask of a cluster', { timeout: 300_000 }, () => {
  let plane: ControlPlane
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'insight', featureGates: 'none' })
    await plane.createNamespace('ml')
    muster = await Muster.install(plane, CONFIG)
    const head = { apiVersion: 'config.muster.dev/v1alpha1', kind: 'Configuration' }
    const data = { 'config.yaml': stringify({ ...head, ...CONFIG }) }
    await plane.kubectl(['patch', 'configmap', 'muster', '-n', 'muster-system', '-p', JSON.stringify({ data })])
    for (const [name, cpu] of [
      ['longer', '5'],
      ['running', '8'],
    ] as const) {
      await create(queuedPod({ namespace: 'ml', name, cpu }))
      await eventually(`${name} runs`, async () => (await phaseOf(name)) === 'Running')
    }
    for (const [name, cpu] of [
      ['train', '8'],
      ['eval', '1'],
      ['huge', '64'],
    ] as const) {
      await create(queuedPod({ namespace: 'ml', name, cpu }))
      await eventually(`${name} is told why it waits`, async () => (await asked('pod', name)).reason !== 'Lifting')
    }
    await eventually('all are told', async () => {
      const reasons = await Promise.all(['train', 'eval', 'huge'].map(async name => (await asked('pod', name)).reason))
      expect(reasons).toEqual(['OverQueueLimits', 'WaitingForAdmission', 'OverQueueLimits'])
      return true
    })
  }, 300_000)

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  const create = (...objects: object[]) => plane.kubectl(['create', '-f', '-'], { stdin: list(objects) })
  const phaseOf = async (name: string) =>
    (await plane.kubectl.json<{ status: { phase: string } }>(['get', 'pod', name, '-n', 'ml'])).status.phase
  const run = async (args: string, options: CommandOptions = {}) => await musterCommand(plane, args.split(' '), options)
  const shown = async (args: string, options: CommandOptions = {}): Promise<string> => {
    const { code, stdout, stderr } = await run(args, options)
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
    return stdout
  }
  const asked = async (kind: string, name: string, options: CommandOptions = {}) =>
    JSON.parse(await shown(`explain ${kind} ${name} -n ml -o json`, options)) as Explanation
  const diagnosed = async (options: CommandOptions = {}) => {
    const { code, stdout } = await run('doctor -o json', options)
    return { code, ...(JSON.parse(stdout) as Diagnosis) }
  }

  it.each(['train', 'eval'])('muster explain pod %s says what docs/explain.md shows', async name => {
    const command = `explain pod ${name} -n ml`
    expect(normalised(await shown(command))).toBe(normalised(shownIn('explain.md', `muster ${command}`)))
  })

  it('kubectl muster is the same command', async () => {
    const env = { PATH: `${join(ROOT, 'bin')}:${process.env.PATH}` }
    const { stdout } = await plane.kubectl(['muster', 'explain', 'pod/train', '-n', 'ml', '-o', 'json'], { env })
    const { since: _, ...rest } = JSON.parse(stdout) as Explanation
    expect(await asked('pod', 'train')).toMatchObject(rest)
  })

  it('what would start it comes true', async () => {
    const { counterfactuals } = await asked('pod', 'train')
    expect(counterfactuals.length).toBeGreaterThan(2)
    await create(queuedPod({ namespace: 'ml', name: 'elsewhere', cpu: '8', queue: 'team-b' }))
    await eventually('the same in queue team-b runs', async () => (await phaseOf('elsewhere')) === 'Running')
    await plane.kubectl(['delete', 'pod', 'elsewhere', '-n', 'ml', '--wait'])
  })

  it('a group says who is missing, and its Workload and its pods say the same', async () => {
    await create(queuedPod({ namespace: 'ml', name: 'part-0', group: 'parts', count: 2 }))
    const ofGroup = await eventually('the group waits', async () => {
      const found = await asked('group', 'parts')
      return found.reason === 'WaitingForPods' && found
    })
    expect(await asked('pod', 'part-0')).toMatchObject({ reason: 'WaitingForPods', message: ofGroup.message })
    await plane.kubectl(['delete', 'pod', 'part-0', '-n', 'ml', '--wait'])
  })

  it('a Workload is explained by what it is for', async () => {
    const ofPod = await asked('pod', 'train')
    expect(await asked('workload', ofPod.workload ?? '')).toMatchObject({
      reason: ofPod.reason,
      message: ofPod.message,
    })
  })

  it('a Job waits for itself, and its pods by it when it runs', async () => {
    await create(queuedJob({ namespace: 'ml', name: 'waits', queue: 'team-a' }))
    await create(queuedJob({ namespace: 'ml', name: 'runs', queue: 'team-b' }))
    await eventually('one waits', async () => (await asked('job', 'waits')).reason === 'WaitingForAdmission')
    expect(await asked('job', 'waits')).toMatchObject({ queue: { name: 'team-a', before: 2 } })
    const pod = await eventually('the other runs', async () => {
      const { stdout } = await plane.kubectl(['get', 'pods', '-n', 'ml', '-l', 'job-name=runs', '-o', 'name'])
      return stdout.trim().split('/')[1]
    })
    expect(await asked('pod', pod)).toMatchObject({ reason: null, through: { kind: 'job', name: 'runs' } })
    await plane.kubectl(['delete', 'job', 'waits', 'runs', '-n', 'ml', '--wait'])
  })

  it('what is not there is said in a line', async () => {
    const { code, stdout, stderr } = await run('explain pod nobody -n ml')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^muster explain: .*nobody.*\n$/)
  })

  it('muster queues shows what docs/explain.md shows', async () => {
    const text = await eventually('nobody else is in them', async () => {
      const report = JSON.parse(await shown('queues -o json')) as QueuesReport
      return (
        report.queues.map(({ holding, waiting }) => holding.length + waiting.length).join() === '0,0,4,0' &&
        shown('queues')
      )
    })
    expect(normalised(text)).toBe(normalised(shownIn('explain.md', 'muster queues')))
    expect(normalised(await shown('queues small'))).not.toContain('team-a')
  })

  describe('a tenant who may view his namespace', () => {
    let his: CommandOptions

    beforeAll(async () => {
      await plane.kubectl(['create', 'rolebinding', 'views', '-n', 'ml', '--clusterrole=view', `--group=${TENANT}`])
      his = { kubeconfig: await plane.serviceAccountKubeconfig('ml', 'default') }
    })

    it('gets the reason and what to do, and is told what he does not see', async () => {
      const found = await asked('pod', 'train', his)
      expect(found).toMatchObject({ reason: 'OverQueueLimits', counterfactuals: [] })
      expect(found.next.what).not.toBe('')
      expect(found.unseen).toEqual([
        expect.stringContaining('needs get on configmaps'),
        expect.stringContaining('needs list on workloads.muster.dev'),
      ])
      expect(await shown('explain pod train -n ml', his)).toContain('needs list on workloads.muster.dev')
    })

    it('is not told more than that by the doctor, which says so by its exit code', async () => {
      const { code, findings, unseen } = await diagnosed(his)
      expect({ code, findings }).toEqual({ code: 2, findings: [] })
      expect(unseen.join()).toContain('needs impersonate on serviceaccounts')
    })

    it('sees the whole queue with the two rights of docs/explain.md', async () => {
      await plane.kubectl([
        'create',
        'clusterrolebinding',
        'sees',
        '--clusterrole=muster-workloads-view',
        `--group=${TENANT}`,
      ])
      await plane.kubectl([
        ...['create', 'rolebinding', 'sees', '-n', 'muster-system'],
        ...['--role=muster-configuration-view', `--group=${TENANT}`],
      ])
      const found = await eventually('the rights count', async () => {
        const answer = await asked('pod', 'train', his)
        return answer.counterfactuals.length > 0 && answer
      })
      const { unseen, counterfactuals } = await asked('pod', 'train')
      expect(unseen).toEqual([])
      expect(found.queue).toMatchObject({ before: 0, waiting: 2 })
      expect(found.counterfactuals.length).toBeLessThanOrEqual(counterfactuals.length)
      expect(JSON.parse(await shown('queues -o json', his))).toMatchObject({ unseen: [] })
    })
  })

  it('muster queues -w tells each change in a line', async () => {
    const env = { PATH: process.env.PATH, HOME: plane.folder, KUBECONFIG: plane.kubeconfig }
    const child = spawn(process.execPath, [join(ROOT, 'bin/muster.js'), 'queues', '-w'], { env })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more
    })
    const ended = new Promise(resolve => child.on('close', resolve))
    await eventually('it has begun', () => text.includes('train'))
    await plane.kubectl(['annotate', 'pod', 'running', '-n', 'ml', 'muster.dev/test-outcome=succeed'])
    await eventually('it has told', () => /ml\/pod-train-\w+ starts \(8 cpu, 1 pod\)\n/.test(text))
    expect(text).toMatch(/team-a ml\/pod-running-\w+ ends/)
    child.kill('SIGINT')
    expect(await ended).toBe(0)
  })

  it('the doctor finds nothing in a sound installation', async () => {
    const found = await eventually('the replicas of the Deployment are there', async () => {
      const answer = await diagnosed()
      expect(answer.findings).toEqual([])
      return answer
    })
    expect({ code: found.code, unseen: found.unseen }).toEqual({ code: 0, unseen: [] })
    const named = (text: string) => normalised(text.replace(/(leader is|Kubernetes) \S+/g, '$1 X'))
    expect(named(await shown('doctor'))).toBe(named(shownIn('doctor.md', 'muster doctor')))
  })

  it('and finds in a broken one what is broken', async () => {
    await muster.stop()
    const { kubectl } = plane
    const bundle = Buffer.from(plane.ca).toString('base64')
    await kubectl([
      ...['patch', 'validatingwebhookconfiguration', 'muster', '--type=json', '-p'],
      JSON.stringify([{ op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value: bundle }]),
    ])
    await kubectl([
      ...['patch', 'mutatingwebhookconfiguration', 'muster', '--type=json', '-p'],
      JSON.stringify([{ op: 'remove', path: '/webhooks/1/clientConfig/caBundle' }]),
    ])
    await kubectl(['delete', 'clusterrolebinding', 'muster'])
    await kubectl(['delete', 'validatingadmissionpolicybinding', 'muster-pod-status'])
    const stray = { ...queuedPod({ namespace: 'ml', name: 'stray' }) } as { metadata: object }
    await kubectl(['create', '-f', '-'], {
      stdin: { ...stray, metadata: { name: 'stray', namespace: 'ml', finalizers: [MANAGED] } },
      as: 'kubernetes-admin',
      asGroups: IN_NEED,
    })
    const { code, findings } = await eventually('all of it is seen', async () => {
      const answer = await diagnosed()
      return answer.findings.some(each => each.code === 'RightMissing') && answer
    })
    expect(code).toBe(1)
    const codes = new Set(findings.map(each => each.code))
    expect([...codes].sort()).toEqual([
      ...['BundleMissing', 'CertificateWrong', 'FinalizerStray', 'LeaderMissing', 'PolicyMissing', 'RequestsSlipPast'],
      'RightMissing',
    ])
    const messageOf = (wanted: string) => findings.find(each => each.code === wanted)?.message
    expect(messageOf('FinalizerStray')).toBe('ml/stray')
    expect(messageOf('PolicyMissing')).toContain('muster-pod-status')
    expect(messageOf('BundleMissing')).toContain('jobs.muster.dev')
    expect(messageOf('RightMissing')).toContain('pods (get, list, watch, patch, delete)')
  })
})
