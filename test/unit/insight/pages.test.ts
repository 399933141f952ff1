import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { explain } from '../../../src/insight/explain/explain.ts'
import { gather } from '../../../src/insight/explain/gather.ts'
import { renderExplanation } from '../../../src/insight/explain/render.ts'
import { readInstallation } from '../../../src/insight/installation.ts'
import { gatherWorkloads } from '../../../src/insight/queues/gather.ts'
import { renderQueues } from '../../../src/insight/queues/render.ts'
import { reportQueues } from '../../../src/insight/queues/report.ts'
import { Sight } from '../../../src/insight/sight.ts'
import { plain } from '../../../src/insight/text.ts'
import { systemClock } from '../../../src/kube/vocabulary/clock.ts'
import { ReadingApi } from '../../support/reading-api.ts'
import { cluster, NOW } from './fixtures.ts'

const page = readFileSync(new URL('../../../docs/explain.md', import.meta.url), 'utf8')

/** The text block that follows the command in the page. */
function shownAfter(command: string): string {
  const block = page.split(`$ ${command}\n`)[1]?.split('```')[0]
  expect(block, command).toBeDefined()
  return block ?? ''
}

describe('docs/explain.md shows what the commands print', () => {
  const now = Date.parse(NOW)

  it.each(['train', 'eval'])('of a pod that waits: %s', async name => {
    const sight = new Sight(new ReadingApi(cluster()), systemClock)
    const installation = await readInstallation(sight, undefined)
    const facts = await gather(sight, installation, { kind: 'pod', namespace: 'ml', name }, NOW)
    expect(shownAfter(`muster explain pod ${name} -n ml`)).toBe(renderExplanation(explain(facts, NOW), now, plain))
  })

  it('of the queues', async () => {
    const sight = new Sight(new ReadingApi(cluster()), systemClock)
    const installation = await readInstallation(sight, undefined)
    const report = reportQueues(installation, await gatherWorkloads(sight, installation, 'ml'), sight.unseen)
    expect(shownAfter('muster queues')).toBe(renderQueues(report, { now, paint: plain, all: false }))
  })
})
