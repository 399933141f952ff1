import { describe, expect, it } from 'vitest'
import { compositePodGroupFrom, podGroupFrom } from '../../../../src/workload/builder/groups.ts'
import { workloadReference } from '../../../../src/workload/builder/objects.ts'
import { inVersion } from '../../../../src/workload/builder/versions.ts'
import { build, compositeItem, JOB_OWNER, only, soleComposite, soleTemplate, ZONE } from './fixtures.ts'

const full = {
  name: 'workers',
  defaults: { policy: { gang: { minCount: 4 } }, priorityClassName: 'high' },
  input: {
    constraints: { group: { topology: [{ key: ZONE }] } },
    disruptionMode: { group: { all: {} } },
    resourceClaims: { group: [{ name: 'gpu', resourceClaimTemplateName: 'gpus' }] },
  },
}

describe('the objects of Kubernetes 1.36', () => {
  const workload = build(full)
  const owners = [JOB_OWNER, workloadReference(workload, 'wl-uid')]
  const group = podGroupFrom(workload, soleTemplate(full), { name: 'pg', owners })

  it('are v1alpha2, with the disruption mode as a word and the template behind podGroupTemplateRef', () => {
    const shared = {
      schedulingPolicy: { gang: { minCount: 4 } },
      schedulingConstraints: { topology: [{ key: ZONE }] },
      disruptionMode: 'PodGroup',
      resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpus' }],
      priorityClassName: 'high',
    }
    expect(inVersion([workload, group], '1.36')).toEqual({
      lost: [],
      objects: [
        {
          apiVersion: 'scheduling.k8s.io/v1alpha2',
          kind: 'Workload',
          metadata: { name: 'wl', namespace: 'ns', ownerReferences: [JOB_OWNER] },
          spec: {
            controllerRef: { apiGroup: 'batch', kind: 'Job', name: 'job' },
            podGroupTemplates: [{ name: 'workers', ...shared }],
          },
        },
        {
          apiVersion: 'scheduling.k8s.io/v1alpha2',
          kind: 'PodGroup',
          metadata: {
            name: 'pg',
            namespace: 'ns',
            ownerReferences: [
              JOB_OWNER,
              { apiVersion: 'scheduling.k8s.io/v1alpha2', kind: 'Workload', name: 'wl', uid: 'wl-uid' },
            ],
          },
          spec: {
            podGroupTemplateRef: { workload: { workloadName: 'wl', podGroupTemplateName: 'workers' } },
            ...shared,
          },
        },
      ],
    })
  })

  it('call the mode `single` Pod', () => {
    const item = { name: 'a', defaults: { disruptionMode: { single: {} } } }
    expect(only(inVersion([build(item)], '1.36').objects)).toMatchObject({
      spec: { podGroupTemplates: [{ disruptionMode: 'Pod' }] },
    })
  })

  it('have no groups of groups: their leaves stand side by side, and what is lost is said', () => {
    const root = build(compositeItem)
    const parent = compositePodGroupFrom(root, soleComposite(compositeItem), { name: 'cpg' })
    const leaf = podGroupFrom(root, { name: 'pgt-0', schedulingPolicy: { basic: {} } }, { name: 'pg', parent: 'cpg' })
    const { objects, lost } = inVersion([root, parent, leaf], '1.36')
    expect(objects.map(({ kind }) => kind)).toEqual(['Workload', 'PodGroup'])
    expect(objects[0]).toMatchObject({
      spec: {
        podGroupTemplates: [
          { name: 'pgt-0', schedulingPolicy: { basic: {} } },
          { name: 'pgt-1', schedulingPolicy: { basic: {} } },
        ],
      },
    })
    expect(objects[0]).not.toHaveProperty('spec.compositePodGroupTemplates')
    expect(objects[1]).not.toHaveProperty('spec.parentCompositePodGroupName')
    expect(lost).toEqual([
      'Kubernetes 1.36 has no groups of groups: "cpgt-0" is left out, so its gang of 2 groups cannot be asked for',
      'Kubernetes 1.36 has no groups of groups: "cpgt-1" is left out, so its gang of 2 groups cannot be asked for',
    ])
  })

  it('share nothing with those of 1.37', () => {
    const [copy] = inVersion([workload], '1.36').objects
    Object.assign(copy?.metadata ?? {}, { name: 'changed' })
    expect(workload.metadata.name).toBe('wl')
  })
})

describe('the objects of Kubernetes 1.37', () => {
  it('are those that the builder makes', () => {
    const workload = build(compositeItem)
    expect(inVersion([workload], '1.37')).toEqual({ objects: [workload], lost: [] })
  })
})
