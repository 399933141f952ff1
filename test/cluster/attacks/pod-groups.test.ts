import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import { podGroupNameFor } from '../../../src/workload/placement.ts'
import { list, queuedPod } from '../support/manifests.ts'
import { POD_GROUP_API, POD_GROUPS_CHANGE } from '../support/versions.ts'
import { eventually } from '../support/wait.ts'
import { ADMIN, Battlefield, IN_NEED, OWNER, patch, RED, ROOT, THIEF } from './support.ts'

const KIND = 'podgroups.scheduling.k8s.io'
const NAME = podGroupNameFor(RED, 'train')
/** The refusal, unless the API server has refused it before anybody is asked. */
const unless = (refusal: string) => (POD_GROUPS_CHANGE ? new RegExp(refusal) : /immutable/)

/** What kube-scheduler places a group by decides when the group starts: nobody else writes it. */
describe('the PodGroup of a group', () => {
  let field: Battlefield

  beforeAll(async () => {
    field = await Battlefield.open('pod-groups', {}, 'all')
    // There is no such node, so they wait for the scheduler.
    const nodeSelector = { room: 'none' }
    const pods = [0, 1].map(index =>
      queuedPod({ namespace: RED, name: `train-${index}`, group: 'train', count: 2, nodeSelector }),
    )
    await field.passes(ADMIN, ['create', '-f', '-'], list(pods))
    await eventually('it is there', async () => await field.get(NAME, KIND))
  })

  afterAll(async () => {
    await field?.close()
  })

  const named = (pod: object, podGroupName: string) => ({
    ...pod,
    spec: { ...(pod as Pod).spec, schedulingGroup: { podGroupName } },
  })
  const podGroup = (name: string, minCount: number) => ({
    apiVersion: POD_GROUP_API,
    kind: 'PodGroup',
    metadata: { name, namespace: RED },
    spec: { schedulingPolicy: { gang: { minCount } } },
  })

  it('nobody fills a gang from outside', async () => {
    const { metadata, ...pod } = queuedPod({ namespace: RED, name: 'outside' }) as Pod
    const plain = { ...pod, metadata: { name: metadata.name, namespace: RED } }
    const other = queuedPod({ namespace: RED, name: 'other', group: 'other', count: 1 })
    for (const stranger of [plain, queuedPod({ namespace: RED, name: 'single' }), other]) {
      expect(await field.refused(OWNER, ['create', '-f', '-'], named(stranger, NAME))).toMatch(/is no member\s+of it/)
    }
    expect(await field.refused(ROOT, ['create', '-f', '-'], named(plain, NAME))).toMatch(/is no member\s+of it/)
  })

  it('nobody else makes one of its name, changes it or takes it', async () => {
    const first = podGroup(podGroupNameFor(RED, 'next'), 1)
    expect(await field.refused(OWNER, ['create', '-f', '-'], first)).toContain('take another name')
    expect(await field.refused(ROOT, ['create', '-f', '-'], first)).toContain('take another name')
    const shrunk = { spec: { schedulingPolicy: { gang: { minCount: 1 } } } }
    expect(await field.refused(OWNER, patch(KIND, NAME, shrunk))).toMatch(unless('only Muster changes it'))
    const taken = { metadata: { ownerReferences: null } }
    expect(await field.refused(ROOT, patch(KIND, NAME, taken))).toContain('only Muster says whose it is')
    await field.passes(OWNER, ['create', '-f', '-'], podGroup('my-own', 1))
  })

  it.runIf(POD_GROUPS_CHANGE)('is put right where somebody in need has changed it (not on 1.36)', async () => {
    await field.passes(IN_NEED, patch(KIND, NAME, { spec: { schedulingPolicy: { gang: { minCount: 1 } } } }))
    await eventually('it wants both again', async () => {
      const found = await field.get<ReturnType<typeof podGroup>>(NAME, KIND)
      return found.spec.schedulingPolicy.gang.minCount === 2
    })
  })

  it('is all that the thief of Muster’s token can write of such objects', async () => {
    expect(await field.refused(THIEF, ['create', '-f', '-'], podGroup('evil', 1))).toContain('of its queues')
    expect(await field.refused(THIEF, patch(KIND, 'my-own', shrinkTo(2)))).toMatch(unless('of its queues'))
    expect(await field.refused(THIEF, patch(KIND, NAME, { metadata: { labels: { a: 'b' } } }))).toContain(
      'nothing else',
    )
  })

  const shrinkTo = (minCount: number) => ({ spec: { schedulingPolicy: { gang: { minCount } } } })
})
