import { WORKLOADS } from '../../../../src/engines/builtin/workloads.ts'
import type { Resource } from '../../../../src/kube/vocabulary/api.ts'

import { PODS } from '../../../../src/kube/vocabulary/resources.ts'

import type { Stored } from '../../model/server.ts'
import { GATE, gated, KEEP, pod, workload } from '../objects.ts'
import type { Chapter, Play } from '../play.ts'

async function watchSelected(p: Play, resource: Resource, make: (name: string, labels: object) => Stored) {
  const { kind } = resource
  const step = (text: string) => `${kind}: ${text}`
  const label = (text: string, name: string, labels: object) =>
    p.merge(step(text), resource, p.at(name), { metadata: { labels } })
  const start = await p.create(step('one that is there before'), resource, make('before', { team: 'blue' }))
  const resourceVersion = start.metadata.resourceVersion ?? ''
  const all = p.watch(resource, { resourceVersion })
  const blue = p.watch(resource, { resourceVersion, labelSelector: 'team=blue' })

  await p.create(step('one that matches'), resource, make('in', { team: 'blue' }))
  await p.create(step('one that does not'), resource, make('out', { team: 'red' }))
  await label('the one that does not changes', 'out', { size: 'l' })
  await label('it enters', 'out', { team: 'blue' })
  await label('it changes inside', 'out', { size: 'm' })
  await label('nothing changes', 'out', { size: 'm' })
  await label('it leaves', 'out', { team: 'red', size: 's' })
  await label('it changes outside', 'out', { size: 'xs' })
  await label('the one from before leaves', 'before', { team: null })
  await p.delete(step('the one outside is deleted'), resource, p.at('out'))
  await p.delete(step('the one inside is deleted'), resource, p.at('in'))
  await p.create(step('the same name again'), resource, make('in', { team: 'blue' }))
  await p.merge(step('held'), resource, p.at('in'), { metadata: { finalizers: [KEEP] } })
  await p.delete(step('deleted while held'), resource, p.at('in'))
  await p.merge(step('let go, and out of the selector'), resource, p.at('in'), {
    metadata: { finalizers: null, labels: { team: 'red' } },
  })
  await p.shown(step('all of it'), all)
  await p.shown(step('what the selector lets through'), blue)

  const late = p.watch(resource, { resourceVersion, labelSelector: 'team=blue' })
  await p.shown(step('the same once more, from the old version'), late)
}

export const watching: Chapter = {
  name: 'watching',
  async play(p) {
    await watchSelected(p, PODS, (name, labels) => pod(name, { labels: labels as never }, gated(GATE)))
  },
}

export const watchingWorkloads: Chapter = {
  name: 'watching-workloads',
  async play(p) {
    await watchSelected(p, WORKLOADS, (name, labels) => workload(name, { labels: labels as never }))
  },
}

export const initialEvents: Chapter = {
  name: 'initial-events',
  async play(p) {
    const streaming = {
      sendInitialEvents: true,
      allowWatchBookmarks: true,
      resourceVersionMatch: 'NotOlderThan',
    } as const
    await p.create('the second by name', PODS, pod('b', { labels: { team: 'blue' } }))
    await p.create('the first by name', PODS, pod('a', { labels: { team: 'blue' } }))
    await p.create('the third by name, of another team', PODS, pod('c', { labels: { team: 'red' } }))
    await p.merge('the second changes', PODS, p.at('b'), { metadata: { labels: { size: 'l' } } })
    const all = p.watch(PODS, streaming)
    await p.shownAtFirst('everything, then the bookmark', all)
    const blue = p.watch(PODS, { ...streaming, labelSelector: 'team=blue' })
    await p.shownAtFirst('a selection, then the bookmark', blue)
    await p.merge('then a change', PODS, p.at('a'), { metadata: { labels: { size: 's' } } })
    await p.delete('then a deletion', PODS, p.at('c'))
    await p.shown('are shown to the one', all)
    await p.shown('and to the other, as far as they concern it', blue)

    await p.shown('no version at all: what is there comes first', p.watch(PODS, {}))
    await p.shown('version 0: what is there comes first', p.watch(PODS, { resourceVersion: '0' }))
    const unmatched = { sendInitialEvents: true, allowWatchBookmarks: true }
    await p.shownToTheEnd('initial events without a match', p.watch(PODS, unmatched))
    const { version } = await p.list('a list', PODS, {})
    await p.shown('nothing comes after the list', p.watch(PODS, { resourceVersion: version }))
    await p.shownToTheEnd('a watch of one second', p.watch(PODS, { resourceVersion: version, timeoutSeconds: 1 }))

    await p.create('a Workload', WORKLOADS, workload('z'))
    await p.create('another Workload', WORKLOADS, workload('y'))
    await p.shownAtFirst('Workloads, then the bookmark', p.watch(WORKLOADS, streaming))
  },
}

export const lists: Chapter = {
  name: 'lists',
  async play(p) {
    for (const name of ['d', 'b', 'e', 'a', 'c']) {
      const labels = { team: name < 'c' ? 'blue' : 'red' }
      await p.create(`pod ${name}`, PODS, pod(name, { labels }))
      await p.create(`Workload ${name}`, WORKLOADS, workload(name, { labels }))
    }
    for (const resource of [PODS, WORKLOADS]) {
      const { plural } = resource
      const all = await p.list(`all ${plural}`, resource, {})
      await p.list(`${plural} of a team`, resource, { labelSelector: 'team=blue' })
      await p.list(`${plural} of a name`, resource, { fieldSelector: 'metadata.name=d' })
      await p.list(`${plural} of no namespace`, resource, { namespace: 'missing' })
      const one = await p.list(`${plural}, the first page`, resource, { limit: 2 })
      await p.merge(`${plural}: one to come changes`, resource, p.at('c'), { metadata: { labels: { x: 'y' } } })
      await p.delete(`${plural}: one to come goes`, resource, p.at('d'))
      await p.create(`${plural}: one more comes`, resource, resource === PODS ? pod('bb') : workload('bb'))
      const two = await p.more(`${plural}, the second page`, resource, one, 2)
      await p.more(`${plural}, the last page`, resource, two, 2)
      await p.more(`${plural}, all the rest`, resource, one)
      await p.list(`all ${plural} as they are now`, resource, {})
      await p.asOf(`all ${plural} as they were`, resource, all)
      await p.list(`no ${plural} by a token that is none`, resource, { limit: 2, continue: 'nonsense' })
    }
  },
}
