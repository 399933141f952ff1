import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { list } from './support/manifests.ts'
import { eventually } from './support/wait.ts'

const NAMESPACE = 'sets'

interface Listed<T> {
  readonly items: readonly T[]
}
type Child = KubeObject & {
  readonly spec: { readonly suspend?: boolean }
  readonly status: { readonly active?: number }
}

/** Two kinds of Jobs, three pods in all; they end when they are told to. */
function jobSet(name: string, suspend: boolean): object {
  const replicated = (role: string, replicas: number, parallelism: number) => ({
    name: role,
    replicas,
    template: {
      spec: {
        parallelism,
        completions: parallelism,
        template: {
          spec: {
            restartPolicy: 'Never',
            terminationGracePeriodSeconds: 1,
            containers: [{ name: 'main', image: 'registry.example/none:1' }],
          },
        },
      },
    },
  })
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name, namespace: NAMESPACE },
    spec: { suspend, replicatedJobs: [replicated('driver', 1, 1), replicated('workers', 1, 2)] },
  }
}

describe('the JobSet controller that the scenarios run with', () => {
  let plane: ControlPlane

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'jobset', featureGates: 'none', jobset: true, audited: true })
    await plane.createNamespace(NAMESPACE)
  })

  afterAll(async () => {
    await plane?.stop()
  })

  const of = (name: string) => ['-n', NAMESPACE, '-l', `jobset.sigs.k8s.io/jobset-name=${name}`]
  const jobs = async (name: string) => (await plane.kubectl.json<Listed<Child>>(['get', 'jobs', ...of(name)])).items
  const pods = async (name: string) =>
    (await plane.kubectl.json<Listed<KubeObject>>(['get', 'pods', ...of(name)])).items
  const create = (...objects: object[]) => plane.kubectl(['create', '-f', '-'], { stdin: list(objects) })
  const suspend = (name: string, value: boolean) =>
    plane.kubectl([
      ...['patch', 'jobset', name, '-n', NAMESPACE, '--type=merge'],
      ...['-p', JSON.stringify({ spec: { suspend: value } })],
    ])

  it('runs a JobSet to its end, and its Jobs are created under its usual account', async () => {
    await create(jobSet('plain', false))
    await eventually('all pods are there', async () => (await pods('plain')).length === 3)
    await plane.kubectl(['annotate', 'pods', ...of('plain'), 'muster.dev/test-outcome=succeed'])
    await plane.kubectl(['wait', 'jobset/plain', '-n', NAMESPACE, '--for=condition=Completed', '--timeout=60s'])
    const created = (await plane.audit()).filter(
      ({ verb, objectRef }) => verb === 'create' && objectRef?.resource === 'jobs',
    )
    expect(created.length).toBeGreaterThan(0)
    for (const { user } of created) {
      expect(user.username).toBe('system:serviceaccount:jobset-system:jobset-controller-manager')
    }
  })

  it('keeps the Jobs of a suspended JobSet suspended, starts them and stops them again', async () => {
    await create(jobSet('waiting', true))
    await eventually('both Jobs are there', async () => (await jobs('waiting')).length === 2)
    expect((await jobs('waiting')).map(({ spec }) => spec.suspend)).toEqual([true, true])
    expect(await pods('waiting')).toEqual([])
    await suspend('waiting', false)
    await eventually('all pods are there', async () => (await pods('waiting')).length === 3)
    await suspend('waiting', true)
    await eventually('all pods are gone', async () => (await pods('waiting')).length === 0)
  })

  it('refuses what its own validation refuses', async () => {
    const wrong = jobSet('x'.repeat(70), false)
    const { stderr } = await plane.kubectl(['create', '-f', '-'], { stdin: wrong, expectFailure: true })
    expect(stderr).toContain('JobSet name is too long')
  })
})
