import { WORKLOADS } from '../../../../src/engines/builtin/workloads.ts'

import { PODS } from '../../../../src/kube/vocabulary/resources.ts'

import { pod, workload } from '../objects.ts'
import type { Chapter } from '../play.ts'

export const history: Chapter = {
  name: 'history',
  alone: true,
  async play(p) {
    for (const name of ['a', 'b', 'c']) {
      await p.create(`pod ${name}`, PODS, pod(name))
      await p.create(`Workload ${name}`, WORKLOADS, workload(name))
    }
    for (const resource of [PODS, WORKLOADS]) {
      const { plural, kind } = resource
      const page = await p.list(`${plural}, the first page`, resource, { limit: 1 })
      const old = { resourceVersion: page.version }
      await p.merge(`${kind} c changes`, resource, p.at('c'), { metadata: { labels: { x: 'y' } } })
      await p.asOf(`${plural} as they were`, resource, page)
      await p.shown(`${plural} since then`, p.watch(resource, old))

      await p.stage.compact()
      await p.more(`${plural}, the second page after a compaction`, resource, page, 1)
      await p.asOf(`${plural} as they were, after a compaction`, resource, page)
      await p.shown(`${plural} since then, after a compaction`, p.watch(resource, old))
      await p.merge(`${kind} b changes`, resource, p.at('b'), { metadata: { labels: { x: 'y' } } })
      const later = await p.list(`${plural} after the compaction, the first page`, resource, { limit: 1 })
      await p.merge(`${kind} c changes again`, resource, p.at('c'), { metadata: { labels: { x: 'z' } } })

      await p.stage.restart()
      await p.more(`${plural}, the second page of what is not compacted`, resource, later, 1)
      await p.asOf(`${plural} as they were before the restart`, resource, later)
      await p.more(`${plural}, the second page of what is compacted`, resource, page, 1)
      await p.asOf(`${plural} as they were before the compaction`, resource, page)
      await p.shownToTheEnd(`${plural} since before the compaction`, p.watch(resource, old))
      const young = { resourceVersion: later.version }
      await p.shownToTheEnd(`${plural} since before the restart`, p.watch(resource, young))
      const now = await p.list(`${plural} as they are`, resource, {})
      await p.shown(`${plural} from now on`, p.watch(resource, { resourceVersion: now.version }))
    }
  },
}
