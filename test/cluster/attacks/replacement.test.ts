import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject, Pod } from '../../../src/kube/vocabulary/objects.ts'
import { queuedJob } from '../support/manifests.ts'
import { eventually } from '../support/wait.ts'
import { ADMIN, Battlefield, IN_NEED, OWNER, patch, RED, ROOT } from './support.ts'

interface Job extends KubeObject {
  readonly spec: { readonly suspend?: boolean; readonly podReplacementPolicy?: string }
}

/** Where one pod has room. */
const ONE_POD = 'one-pod'
/** How long the node takes to end a pod that is deleted: its grace period is longer than that. */
const TERMINATION = '40s'
const SLOWLY = ['--grace-period=3600', '--wait=false']

let field: Battlefield

beforeAll(async () => {
  field = await Battlefield.open('replacement', { queues: [{ name: ONE_POD, limits: { pods: 1 } }] })
})

afterAll(async () => {
  await field?.close()
})

const create = (object: object) => field.passes(OWNER, ['create', '-f', '-'], object)
const podsBy = async (selector: string): Promise<readonly Pod[]> =>
  (await field.plane.kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', RED, '-l', selector])).items
/** What may run: a pod that is on its way out does, until its containers have ended. */
const alive = async (selector: string): Promise<readonly Pod[]> =>
  (await podsBy(selector)).filter(({ status }) => status?.phase !== 'Failed' && status?.phase !== 'Succeeded')
const jobOf = (name: string) => field.get<Job>(name, 'job')
const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? ''

const runningPod = (selector: string, besides?: string): Promise<Pod> =>
  eventually(`a pod of ${selector} runs`, async () =>
    (await podsBy(selector)).find(
      ({ metadata, status }) => status?.phase === 'Running' && !metadata.deletionTimestamp && metadata.uid !== besides,
    ),
  )

/** Looks again and again for a while: never more than one of them may run. */
async function staysAlone(selector: string, pod: Pod): Promise<void> {
  const until = Date.now() + 6_000
  while (Date.now() < until) {
    expect((await alive(selector)).map(nameOf)).toEqual([nameOf(pod)])
    await new Promise(resolve => setTimeout(resolve, 500))
  }
}

const APPLY = ['apply', '-f', '-']

describe('a pod of a queued Job that is deleted with a long grace period', () => {
  const manifest = queuedJob({ namespace: RED, name: 'slow', queue: ONE_POD, termination: TERMINATION }) as {
    readonly spec: object
  }
  const asWritten = { ...manifest, spec: { ...manifest.spec, podReplacementPolicy: 'TerminatingOrFailed' } }
  let victim: Pod

  beforeAll(async () => {
    await field.passes(ADMIN, APPLY, asWritten)
    victim = await runningPod('job-name=slow')
  })

  it.each<[string, readonly string[], object | undefined]>([
    ['a patch', patch('job', 'slow', { spec: { podReplacementPolicy: 'TerminatingOrFailed' } }), undefined],
    ['a patch to nothing', patch('job', 'slow', { spec: { podReplacementPolicy: null } }), undefined],
    ['the manifest, applied again', APPLY, asWritten],
    ['the manifest, applied by the server', ['apply', '--server-side', '--force-conflicts', '-f', '-'], asWritten],
  ])('has a Job that waits for its end, whatever is written: %s', async (_, args, stdin) => {
    for (const user of [ADMIN, OWNER, ROOT]) await field.passes(user, args, stdin)
    expect((await jobOf('slow')).spec.podReplacementPolicy).toBe('Failed')
  })

  it('runs on alone, and is replaced when it has ended', async () => {
    await field.passes(ADMIN, ['delete', 'pod', nameOf(victim), ...SLOWLY])
    await staysAlone('job-name=slow', victim)
    await runningPod('job-name=slow', victim.metadata.uid)
  })

  it('so does one that is evicted', async () => {
    const pod = await runningPod('job-name=slow')
    const eviction = {
      ...{ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: nameOf(pod), namespace: RED } },
      deleteOptions: { gracePeriodSeconds: 3600 },
    }
    await field.passes(
      ADMIN,
      ['create', '--raw', `/api/v1/namespaces/${RED}/pods/${nameOf(pod)}/eviction`, '-f', '-'],
      eviction,
    )
    await staysAlone('job-name=slow', pod)
    await runningPod('job-name=slow', pod.metadata.uid)
  })

  it('and a Job in no queue is replaced as it says', async () => {
    await create(queuedJob({ namespace: RED, name: 'free', termination: TERMINATION }))
    expect((await jobOf('free')).spec.podReplacementPolicy).toBe('TerminatingOrFailed')
    const pod = await runningPod('job-name=free')
    await field.passes(ADMIN, ['delete', 'pod', nameOf(pod), ...SLOWLY])
    await runningPod('job-name=free', pod.metadata.uid)
    expect(await alive('job-name=free')).toHaveLength(2)
  })

  it('and who breaks the glass has it as he likes', async () => {
    await field.passes(IN_NEED, patch('job', 'slow', { spec: { podReplacementPolicy: 'TerminatingOrFailed' } }))
    expect((await jobOf('slow')).spec.podReplacementPolicy).toBe('TerminatingOrFailed')
  })
})
