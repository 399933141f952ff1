import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMISSION_GATE, MANAGED } from '../../../src/kube/vocabulary/names.ts'
import { queuedPod } from '../support/manifests.ts'
import { eventually } from '../support/wait.ts'
import { ADMIN, Battlefield, CLOSED, EDITOR, IN_NEED, OWNER, patch, RED, ROOT, strategic } from './support.ts'

const ROOT_FOLDER = new URL('../../..', import.meta.url).pathname
const LIFT = { spec: { schedulingGates: [{ $patch: 'delete', name: ADMISSION_GATE }] } }

const job = (name: string, spec: object, annotations: object = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, namespace: RED, annotations },
  spec: {
    suspend: true,
    ...spec,
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example/none:1' }] } },
  },
})

describe('with Muster there', () => {
  let field: Battlefield

  beforeAll(async () => {
    field = await Battlefield.open('away', { guard: { exemptGroups: ['platform-admins'] } })
    for (const name of ['guarded', 'stuck', 'labelled']) await field.waitingPod(name)
    for (const name of ['runs', 'evicted', 'ending']) await field.runningPod(name)
    const gang = { 'muster.dev/scheduling': '{"schedulingPolicy": {"gang": {}}}' }
    await field.passes(ADMIN, ['create', '-f', '-'], job('gang', { parallelism: 2 }, gang))
    await field.passes(ADMIN, ['create', '-f', '-'], job('plain', { parallelism: 2 }))
  })

  afterAll(async () => {
    await field?.close()
  })

  const annotationsOf = async (name: string, verb = 'patch') =>
    (await field.plane.audit()).findLast(event => event.objectRef?.name === name && event.verb === verb)?.annotations

  it('who is exempt lifts a gate, and the audit log says by what', async () => {
    await field.waitingPod('waved-through')
    const grace = { as: 'grace', asGroups: ['system:masters', 'platform-admins'] }
    await field.passes(grace, strategic('pod', 'waved-through', LIFT))
    expect(await annotationsOf('waved-through')).toMatchObject({
      'pods.validate.muster.dev/exemption': 'group platform-admins: spec.schedulingGates',
    })
    await field.passes(grace, ['label', 'pod', 'guarded', 'team=blue'])
    expect(Object.keys((await annotationsOf('guarded')) ?? {}).filter(key => key.includes('muster'))).toEqual([])
  })

  it('nobody is in need who may not say so', async () => {
    const kubeconfig = await field.plane.serviceAccountKubeconfig(RED, 'default')
    const role = ['create', 'rolebinding', 'default-is-admin', '--clusterrole=admin', `--serviceaccount=${RED}:default`]
    await field.plane.kubectl([...role, '-n', RED])
    const options = { kubeconfig, as: 'root', asGroups: ['muster:break-glass'], expectFailure: true }
    const { stderr } = await field.plane.kubectl([...strategic('pod', 'guarded', LIFT), '-n', RED], options)
    expect(stderr).toMatch(/cannot impersonate/)
  })

  it('a pod waits for its gate whoever creates it', async () => {
    await field.passes(IN_NEED, ['create', '-f', '-'], queuedPod({ namespace: RED, name: 'gated', queue: CLOSED }))
    expect((await field.get('gated')).spec.schedulingGates).toEqual([{ name: ADMISSION_GATE }])
  })

  describe('and then away', () => {
    beforeAll(async () => {
      await field.muster.stop()
    })

    const AWAY = 'failed calling webhook'

    it.each([
      ['starts a pod past its queue', ADMIN, ['create', '-f', '-'], queuedPod({ namespace: RED, name: 'past' })],
      ['lifts a gate', ADMIN, strategic('pod', 'guarded', LIFT), undefined],
      ['lifts a gate as administrator of the cluster', ROOT, strategic('pod', 'guarded', LIFT), undefined],
      ['leaves the queue', OWNER, patch('pod', 'guarded', { metadata: { labels: { [MANAGED]: null } } }), undefined],
      [
        'leaves it through the status',
        OWNER,
        patch('pod', 'guarded', { metadata: { labels: { [MANAGED]: null } } }, '--subresource=status'),
        undefined,
      ],
      ['takes the finalizer away', OWNER, patch('pod', 'runs', { metadata: { finalizers: null } }), undefined],
      ['changes the size of a gang', ADMIN, patch('job', 'gang', { spec: { parallelism: 5 } }), undefined],
    ])('nobody %s', async (_, user, args, stdin) => {
      expect(await field.refused(user, args, stdin)).toContain(AWAY)
    })

    it('nobody admits a Workload', async () => {
      const { metadata } = await field.workloadOf(await field.get('guarded'))
      const change = patch('workloads.muster.dev', metadata.name ?? '', { status: { pods: 0 } }, '--subresource=status')
      expect(await field.refused(ADMIN, change)).toContain(AWAY)
    })

    it('nobody ends a pod that runs', async () => {
      const change = patch('pod', 'runs', { status: { phase: 'Succeeded' } }, '--subresource=status')
      expect(await field.refused(ADMIN, change)).toContain("ValidatingAdmissionPolicy 'muster-pod-status'")
    })

    describe('life goes on:', () => {
      it('plain pods come, run and go', async () => {
        const { spec } = queuedPod({ namespace: RED, name: 'x' }) as { spec: object }
        const plain = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'plain', namespace: RED }, spec }
        await field.passes(ADMIN, ['create', '-f', '-'], plain)
        await eventually('it runs', async () => (await field.get('plain')).status?.phase === 'Running')
        await field.passes(ADMIN, ['delete', 'pod', 'plain'])
      })

      it('queued pods run and end', async () => {
        await field.passes(ADMIN, ['annotate', 'pod', 'ending', 'muster.dev-test/x=y'])
        await field.plane.kubectl(
          patch('pod', 'ending', { status: { phase: 'Succeeded' } }, '--subresource=status', '-n', RED),
          { as: 'kwok', asGroups: ['system:masters'] },
        )
        expect((await field.get('ending')).status?.phase).toBe('Succeeded')
      })

      it('queued pods are evicted', async () => {
        const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted', namespace: RED } }
        const path = `/api/v1/namespaces/${RED}/pods/evicted/eviction`
        await field.passes(ADMIN, ['create', '--raw', path, '-f', '-'], eviction)
        await eventually('it ends', async () => (await field.get('evicted')).status?.phase === 'Failed')
      })

      it('people label and annotate queued pods', async () => {
        await field.passes(EDITOR, ['label', 'pod', 'labelled', 'team=blue'])
        await field.passes(EDITOR, ['annotate', 'pod', 'runs', 'example.com/note=hello'])
        await field.passes(EDITOR, patch('pod', 'runs', { metadata: { finalizers: [MANAGED, 'example.com/held'] } }))
        await field.passes(EDITOR, patch('pod', 'runs', { metadata: { finalizers: [MANAGED] } }))
        const image = { spec: { containers: [{ name: 'main', image: 'registry.example/none:2' }] } }
        await field.passes(EDITOR, strategic('pod', 'runs', image))
      })

      it('plain Jobs change their parallelism and start', async () => {
        await field.passes(EDITOR, patch('job', 'plain', { spec: { parallelism: 5 } }))
        await field.passes(EDITOR, patch('job', 'plain', { spec: { suspend: false } }))
        await eventually('its pods run', async () => {
          const { stdout } = await field.plane.kubectl(['get', 'pods', '-n', RED, '-l', 'job-name=plain', '-o', 'name'])
          return stdout.trim().split('\n').length === 5
        })
      })

      it('Workloads are switched off, and labelled', async () => {
        const { metadata } = await field.workloadOf(await field.get('guarded'))
        await field.passes(EDITOR, patch('workloads.muster.dev', metadata.name ?? '', { spec: { active: false } }))
        await field.passes(EDITOR, ['label', 'workloads.muster.dev', metadata.name ?? '', 'team=blue'])
      })

      it('kube-system asks nobody', async () => {
        const pod = queuedPod({ namespace: 'kube-system', name: 'needed' }) as { spec: object }
        const spec = { ...pod.spec, serviceAccountName: 'default' }
        await field.plane.kubectl(['create', '-f', '-'], { stdin: { ...pod, spec } })
        expect((await field.get('needed', 'pod', 'kube-system')).spec.schedulingGates).toBeUndefined()
      })
    })

    describe('who breaks the glass', () => {
      it('lifts a gate, and the audit log says who', async () => {
        await field.passes(IN_NEED, strategic('pod', 'guarded', LIFT))
        expect((await field.get('guarded')).spec.schedulingGates ?? []).toEqual([])
        expect(await annotationsOf('guarded')).toMatchObject({ 'muster-break-glass/used-by': 'root' })
      })

      it('lets a pod go that waits for Muster', async () => {
        await field.passes(ADMIN, ['delete', 'pod', 'stuck', '--wait=false'])
        await field.passes(IN_NEED, patch('pod', 'stuck', { metadata: { finalizers: null } }))
        await field.isGone('stuck')
      })

      it('lets a Workload go', async () => {
        const name = (await field.workloadOf(await field.get('labelled'))).metadata.name ?? ''
        await field.passes(ADMIN, ['delete', 'workloads.muster.dev', name, '--wait=false'])
        await field.passes(IN_NEED, patch('workloads.muster.dev', name, { metadata: { finalizers: null } }))
        await field.isGone(name, 'workloads.muster.dev')
      })

      it('changes the size of a gang', async () => {
        await field.passes(IN_NEED, patch('job', 'gang', { spec: { parallelism: 5 } }))
        expect(await annotationsOf('gang')).toMatchObject({ 'muster-break-glass/used-by': 'root' })
      })

      it('still starts no pod past its queue', async () => {
        const pod = queuedPod({ namespace: RED, name: 'past' })
        expect(await field.refused(IN_NEED, ['create', '-f', '-'], pod)).toContain(AWAY)
      })
    })
  })

  describe('the overlay for all pods', () => {
    let folder: string

    beforeAll(async () => {
      await cp(join(ROOT_FOLDER, 'manifests'), join(field.plane.folder, 'manifests'), { recursive: true })
      folder = join(field.plane.folder, 'manifests/overlays/all-pods')
    })

    it('does not build before somebody says which namespaces', async () => {
      const { stderr } = await field.plane.kubectl(['kustomize', folder], { expectFailure: true })
      expect(stderr).toContain('namespace-selector.yaml')
    })

    it('gates every pod of those namespaces, and nothing that the cluster needs to live', async () => {
      // As reckless as can be: every namespace there is.
      const reckless = [{ op: 'replace', path: '/webhooks/0/namespaceSelector', value: {} }]
      await writeFile(join(folder, 'namespace-selector.yaml'), JSON.stringify(reckless))
      await field.plane.kubectl(['apply', '-k', folder])
      const plain = (name: string, namespace: string, more: object = {}) => {
        const { spec } = queuedPod({ namespace, name }) as { spec: object }
        return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: { ...spec, ...more } }
      }
      await eventually('the overlay holds', async () => {
        const create = ['create', '--dry-run=server', '-f', '-']
        return (await field.refused(ADMIN, create, plain('ordinary', RED))).includes(AWAY_FROM_SERVICE)
      })
      await field.plane.kubectl(['create', '-f', '-'], { stdin: plain('system', 'kube-system') })
      const critical = plain('critical', RED, { priorityClassName: 'system-node-critical' })
      expect(await field.refused(ROOT, ['create', '-f', '-'], critical)).toContain(AWAY_FROM_SERVICE)
      const daemons = { as: 'system:serviceaccount:kube-system:daemon-set-controller' }
      await field.passes(daemons, ['create', '--validate=false', '-f', '-'], critical)
      const job = (namespace: string) => {
        const { spec } = plain('job', namespace)
        const template = { spec: { ...spec, restartPolicy: 'Never' } }
        return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'plain', namespace }, spec: { template } }
      }
      const told = await field.refused(ADMIN, ['create', '-f', '-'], job(RED))
      expect(told).toContain('failed calling webhook "jobs.muster.dev"')
      await field.plane.kubectl(['create', '-f', '-'], { stdin: job('kube-system') })
    })
  })
})

/** The manifests name a Service, and no Service leads to Muster here. */
const AWAY_FROM_SERVICE = 'failed calling webhook "pods.muster.dev"'
