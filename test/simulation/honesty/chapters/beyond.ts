import { WORKLOADS } from '../../../../src/engines/builtin/workloads.ts'

import { PODS } from '../../../../src/kube/vocabulary/resources.ts'

import { GATE, gated, pod, workload } from '../objects.ts'
import type { Chapter } from '../play.ts'

const NOBODY_SENDS_IT = 'the model trusts that manifests are well formed; nothing under simulation sends others'
const NOBODY_SELECTS_SO = 'nothing under simulation selects labels by more than their presence or one value'

/** Where the model ends. A step that is listed here and agrees after all fails the test, so that the list stays true. */
export const beyond: Chapter = {
  name: 'beyond',
  notModelled: {
    'a pod without containers': NOBODY_SENDS_IT,
    'a label that is none': NOBODY_SENDS_IT,
    'a Workload without podSets': NOBODY_SENDS_IT,
    'a field that the schema does not have': NOBODY_SENDS_IT,
    'a pod without tolerations': 'the plugins of the API server that complete pods are not part of the model',
    'a Workload by server-side apply': 'nothing under simulation applies',
    'labels by a set': NOBODY_SELECTS_SO,
  },
  async play(p) {
    await p.create('a pod of a team', PODS, pod('team', { labels: { team: 'blue' } }))
    await p.list('labels that are equal', PODS, { labelSelector: 'team=blue' })
    await p.list('labels by a set', PODS, { labelSelector: 'team in (blue)' })
    await p.list('a phase as a selector', PODS, { fieldSelector: 'status.phase=Pending,metadata.name=team' })
    await p.create('a pod without tolerations', PODS, pod('intolerant', {}, { tolerations: [], ...gated(GATE) }))
    await p.create('a field that the schema does not have', WORKLOADS, workload('more', {}, { colour: 'blue' }))
    await p.create('a pod without containers', PODS, pod('empty', {}, { containers: [] }))
    await p.create('a label that is none', PODS, pod('labelled', { labels: { team: 'not a label' } }))
    await p.create('a Workload without podSets', WORKLOADS, workload('empty', {}, { podSets: [] }))
    await p.apply('a Workload by server-side apply', WORKLOADS, p.at('applied'), workload('applied'))
  },
}
