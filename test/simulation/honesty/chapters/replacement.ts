import { WORKLOADS } from '../../../../src/engines/builtin/workloads.ts'
import type { Resource } from '../../../../src/kube/vocabulary/api.ts'

import { PODS } from '../../../../src/kube/vocabulary/resources.ts'

import type { Stored } from '../../model/server.ts'
import { GATE, gated, HOLD, KEEP, OTHER_UID, pod, workload } from '../objects.ts'
import type { Chapter, Play } from '../play.ts'

async function replace(p: Play, resource: Resource, object: Stored): Promise<void> {
  const { kind } = resource
  const it = p.at('it')
  const put = (step: string, what: Stored, ref = it) => p.replace(`${kind}: ${step}`, resource, ref, what)
  const change = (base: Stored, fields: object): Stored => ({ ...base, metadata: { ...base.metadata, ...fields } })
  const without = ({ metadata, ...rest }: Stored, ...fields: readonly string[]): Stored => ({
    ...rest,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([field]) => !fields.includes(field))),
  })

  const first = await p.create(`${kind}: created`, resource, object)
  await put('as it is', first)
  const second = await put('with another label', change(first, { labels: { a: '2' } }))
  await put('as it was before', change(first, { labels: { a: '3' } }))
  await put('without a version', without(change(second, { labels: { a: '4' } }), 'resourceVersion'))
  const third = await p.get(`${kind}: read`, resource, it)
  await put('with another uid', change(third, { uid: OTHER_UID }))
  await put('with another uid and an old version', change(first, { uid: OTHER_UID }))
  await put('without a uid', without(change(third, { labels: { a: '5' } }), 'uid'))
  const fourth = await p.get(`${kind}: read again`, resource, it)
  await put('without labels and finalizers', without(fourth, 'labels', 'finalizers'))
  const fifth = await p.get(`${kind}: read once more`, resource, it)
  const status = resource === PODS ? { phase: 'Running' } : { pods: 3 }
  await put('with another status', { ...fifth, status })
  await put('with another status where the status is', { ...fifth, status }, p.at('it', 'status'))
  await put('under another name', fifth, p.at('that'))
  await put('nobody', change(without(fifth, 'uid', 'resourceVersion'), { name: 'nobody' }), p.at('nobody'))
  await put('nobody, with a version', change(without(fifth, 'uid'), { name: 'nobody' }), p.at('nobody'))
  await p.get(`${kind}: in the end`, resource, it)
}

export const replacement: Chapter = {
  name: 'replacement',
  async play(p) {
    const metadata = { labels: { a: '1' }, finalizers: [KEEP] }
    await replace(p, PODS, pod('it', metadata, gated(GATE, HOLD)))
    await replace(p, WORKLOADS, workload('it', metadata))
    const current = await p.get('the pod once more', PODS, p.at('it'))
    const spec = { ...(current.spec as object), ...gated(HOLD) }
    await p.replace('the pod with a gate less', PODS, p.at('it'), { ...current, spec })
    await p.replace('the pod with a gate more', PODS, p.at('it'), current)
  },
}
