import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SCHEDULING } from '../../src/kube/vocabulary/names.ts'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'
import { mapJob } from '../../src/workload/mappers/job.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

type Job = KubeObject & { readonly spec: Readonly<Record<string, unknown>> }
type Group = KubeObject & { readonly spec: Readonly<Record<string, unknown>> }

const NAMESPACE = 'ml'
const GANG = { schedulingPolicy: { gang: { minCount: 2 } } }
const ALL = { schedulingPolicy: { basic: {} }, disruptionMode: { all: {} } }

function job(name: string, block: object | undefined, spelling: 'field' | 'annotation', more: object = {}): Job {
  const annotations: Record<string, string> = {}
  if (block !== undefined && spelling === 'annotation') annotations[SCHEDULING] = JSON.stringify(block)
  const template = {
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example/none:1' }] },
  }
  const scheduling = block !== undefined && spelling === 'field' ? { scheduling: block } : {}
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: NAMESPACE, annotations },
    spec: { parallelism: 4, completions: 4, template, ...scheduling, ...more },
  }
}

describe.each([
  { gates: 'all', spelling: 'field' },
  { gates: 'none', spelling: 'annotation' },
] as const)('Jobs, feature gates: $gates, block in the $spelling', ({ gates, spelling }) => {
  let plane: ControlPlane
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: `jobs-${gates}`, featureGates: gates })
    await plane.createNamespace(NAMESPACE)
    await plane.createNamespace('strict', { tier: 'strict' })
    muster = await Muster.install(plane, {
      jobs: {
        scheduling: { namespaces: [{ selector: { matchLabels: { tier: 'strict' } }, allow: { policies: ['basic'] } }] },
      },
    })
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  const root = spelling === 'field' ? 'spec.scheduling' : `metadata.annotations[${SCHEDULING}]`
  const create = (object: object) => plane.kubectl.json<Job>(['create', '-f', '-'], { stdin: object })
  const denied = async (args: readonly string[], stdin?: object) =>
    (await plane.kubectl(args, { expectFailure: true, ...(stdin && { stdin }) })).stderr.trim()

  it('lets a plain Job pass without asking Muster', async () => {
    const before = muster.log().length
    await create(job('plain', undefined, spelling))
    expect(muster.log().slice(before)).not.toContain('"name":"plain"')
  })

  it('does not let the size of a gang change, and tells the way out', async () => {
    await create(job('gang', GANG, spelling, { suspend: true }))
    const patch = JSON.stringify({ spec: { parallelism: 3 } })
    const text = await denied(['patch', 'job', 'gang', '-n', NAMESPACE, '-p', patch])
    expect(text).toContain(
      'admission webhook "jobs.validate.muster.dev" denied the request: spec.parallelism: Forbidden',
    )
    expect(text).toContain('"gang"')
    expect(text).toMatch(/new Job/)
    expect(text).toContain('basic')
  })

  it('lets the size of a basic Job change', async () => {
    await create(job('basic', { schedulingPolicy: { basic: {} } }, spelling, { suspend: true }))
    await plane.kubectl(['patch', 'job', 'basic', '-n', NAMESPACE, '-p', JSON.stringify({ spec: { parallelism: 3 } })])
  })

  it('says what is wrong with a block in the words of Kubernetes, where the user wrote it', async () => {
    const text = await denied(['create', '-f', '-'], job('wrong', ALL, spelling))
    // Where nothing places Jobs as a whole, the mutating webhook has warned of that before.
    const [verdict, ...warnings] = text.split('\n').reverse()
    expect(warnings.filter(line => !line.startsWith('Warning: '))).toEqual([])
    expect(verdict).toBe(
      `The Job "wrong" is invalid: ${root}.disruptionMode: Invalid value: "": the disruptionMode \`all\` is not supported with the Basic scheduling policy`,
    )
  })

  it('denies what the list of the namespace does not allow, and says what it does', async () => {
    const object = job('elsewhere', GANG, spelling)
    const text = await denied(['create', '-f', '-'], {
      ...object,
      metadata: { ...object.metadata, namespace: 'strict' },
    })
    expect(text).toContain(`${root}.schedulingPolicy`)
    expect(text).toContain('Forbidden')
    expect(text).toContain('basic')
  })
})

describe('what the builder prints', () => {
  let plane: ControlPlane

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'builder', featureGates: 'all' })
    await plane.createNamespace(NAMESPACE)
  })

  afterAll(async () => {
    await plane?.stop()
  })

  it.each([
    ['a plain Job', undefined],
    ['a gang', GANG],
    ['a gang of all', { schedulingPolicy: { gang: {} }, disruptionMode: { all: {} } }],
    ['a topology', { ...GANG, schedulingConstraints: { topology: [{ key: 'topology.kubernetes.io/zone' }] } }],
  ])('for %s is what the Job controller creates, field by field', async (what, block) => {
    const name = what.toLowerCase().replaceAll(' ', '-')
    const created = await plane.kubectl.json<Job>(['create', '-f', '-'], { stdin: job(name, block, 'field') })
    const owned = <T extends KubeObject>(kind: string) =>
      eventually(`${kind} of ${name}`, async () => {
        const { items } = await plane.kubectl.json<{ items: T[] }>(['get', kind, '-n', NAMESPACE])
        return items.find(item => item.metadata.ownerReferences?.some(owner => owner.uid === created.metadata.uid))
      })
    const workload = await owned<Group>('workloads.scheduling.k8s.io')
    const podGroup = await owned<Group>('podgroups.scheduling.k8s.io')
    const mapped = mapJob(
      { ...created },
      {
        version: '1.37',
        uid: created.metadata.uid ?? '',
        workloadUid: workload.metadata.uid ?? '',
      },
    )
    if (!('objects' in mapped)) throw new Error(JSON.stringify(mapped.errors))
    const [ourWorkload, ourGroup] = mapped.objects as unknown as readonly Group[]
    // Go writes a null for the constraints of a template that has none.
    const noNulls = (_key: string, value: unknown) => (value === null ? undefined : value)
    const comparable = ({ metadata, spec }: Group) =>
      JSON.parse(JSON.stringify({ name: metadata.name, owners: metadata.ownerReferences, spec }, noNulls))
    expect(comparable(ourWorkload ?? workload)).toEqual(comparable(workload))
    // The API server adds the default mode and the priority to a PodGroup.
    const defaulted = { ...ourGroup, spec: { disruptionMode: { single: {} }, priority: 0, ...ourGroup?.spec } } as Group
    expect(comparable(defaulted)).toEqual(comparable(podGroup))
  })

  it('is accepted by the real API server', async () => {
    const { stdout } = await plane.kubectl(['get', '--raw', '/apis/scheduling.k8s.io/v1beta1'])
    expect(stdout).toContain('podgroups')
    const source = job('offline', GANG, 'field')
    const mapped = mapJob(
      { ...source, metadata: { ...source.metadata, uid: '6f1c2a4e-1111-2222-3333-444455556666' } },
      { version: '1.37' },
    )
    if (!('objects' in mapped)) throw new Error(JSON.stringify(mapped.errors))
    for (const object of mapped.objects) {
      await plane.kubectl(['create', '-f', '-', '--dry-run=server'], { stdin: object })
    }
  })
})
