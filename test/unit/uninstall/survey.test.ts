import { expect, it } from 'vitest'
import { Sight } from '../../../src/insight/sight.ts'
import { ApiError, type ListOptions, type Resource } from '../../../src/kube/vocabulary/api.ts'
import { systemClock } from '../../../src/kube/vocabulary/clock.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { NAMESPACES, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { decideUninstall } from '../../../src/uninstall/decide.ts'
import { CRDS } from '../../../src/uninstall/kinds.ts'
import { survey } from '../../../src/uninstall/survey.ts'
import { ReadingApi } from '../../support/reading-api.ts'

const custom = (group: string, plural: string, kind: string): Resource => ({
  ...{ group, version: 'v1', plural, kind, namespaced: true },
})
const CERTIFICATES = custom('cert-manager.io', 'certificates', 'Certificate')
const BACKUPS = custom('example.com', 'backups', 'Backup')
const CRON_JOBS = custom('batch', 'cronjobs', 'CronJob')

const definition = ({ group, plural, kind }: Resource, scope = 'Namespaced'): readonly [Resource, KubeObject] => {
  const versions = [
    { name: 'v1alpha1', served: false },
    { name: 'v1', served: true },
  ]
  const spec = { group, scope, names: { plural, kind }, versions }
  return [CRDS, { metadata: { name: `${plural}.${group}`, uid: plural }, spec } as KubeObject]
}
const inside = (name: string, metadata: object = {}) =>
  ({ metadata: { name, namespace: 'muster-system', uid: name, ...metadata }, spec: {} }) as KubeObject

const namespace: readonly [Resource, KubeObject] = [NAMESPACES, { metadata: { name: 'muster-system', uid: 'n' } }]
const DEFINITIONS = [definition(CERTIFICATES), definition(BACKUPS), definition({ ...BACKUPS, plural: 'x' }, 'Cluster')]

const planOf = async (api: ReadingApi) => decideUninstall(await survey(new Sight(api, systemClock)), undefined)

it('finds whatever somebody else has put into the namespace of Muster, of any kind', async () => {
  const owned = { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'muster-1', uid: 'r' }] }
  const api = new ReadingApi([
    ...[namespace, ...DEFINITIONS],
    [PODS, inside('debug')],
    [PODS, inside('muster-1-abc', owned)],
    [CRON_JOBS, inside('nightly')],
    [BACKUPS, inside('theirs')],
    [CERTIFICATES, inside('muster-tls')],
  ])
  const { foreign, stages } = await planOf(api)
  expect(foreign).toEqual([
    ...['Pod muster-system/debug', 'CronJob muster-system/nightly', 'Backup muster-system/theirs'],
  ])
  expect(stages.flat().map(({ name, steps }) => [name, steps.map(({ object }) => object.metadata.name)])).toEqual([
    ['RemoveObjects', ['muster-tls']],
  ])
})

it('lets the namespace go with the objects that the overlays of the manifests put there', async () => {
  const api = new ReadingApi([namespace, ...DEFINITIONS, [CERTIFICATES, inside('muster-tls')]])
  const { foreign, stages } = await planOf(api)
  expect(foreign).toEqual([])
  expect(stages.flat().map(({ name }) => name)).toEqual(['RemoveNamespace'])
})

it('takes a kind that cannot be listed for somebody else’s: only what is there has to be converted', async () => {
  class Broken extends ReadingApi {
    override async list<T extends KubeObject>(resource: Resource, query: ListOptions) {
      if (resource.plural === 'backups') throw new ApiError(500, 'InternalError', 'conversion webhook failed')
      return await super.list<T>(resource, query)
    }
  }
  const { foreign } = await planOf(new Broken([namespace, ...DEFINITIONS]))
  expect(foreign).toEqual(['Backup muster-system/*'])
})
