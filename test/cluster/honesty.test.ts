import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHAPTERS } from '../simulation/honesty/chapters.ts'
import { performOnModel } from '../simulation/honesty/model-stage.ts'
import { type Chapter, perform } from '../simulation/honesty/play.ts'
import { readRecorded, record } from '../simulation/honesty/recorded.ts'
import { differences } from '../simulation/honesty/transcript.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { untilServed } from './support/kinds.ts'
import { realStage } from './support/real-stage.ts'

/** Set it to write down what this API server answers, for tests that have none. */
const RECORD = Boolean(process.env.MUSTER_RECORD)

describe('the model of the API server that the simulator runs on', () => {
  let plane: ControlPlane
  let stage: Awaited<ReturnType<typeof realStage>>

  beforeAll(async () => {
    plane = await startControlPlane({
      name: 'honesty',
      featureGates: 'none',
      // It looks every 20 s for pods on nodes that are not there, and for deleted ones on none, which the script needs.
      withoutControllers: ['pod-garbage-collector-controller'],
    })
    await plane.kubectl(['apply', '-f', join(import.meta.dirname, '../../manifests/base/crd.yaml')])
    await untilServed(plane.kubectl, 'workloads.muster.dev')
    stage = await realStage(plane)
  })

  afterAll(async () => {
    await stage?.close()
    await plane?.stop()
  })

  const agree = async (chapter: Chapter) => {
    const real = { name: 'the API server', transcript: await perform(chapter, stage) }
    if (RECORD) await record(chapter, real.transcript)
    const model = { name: 'the model', transcript: await performOnModel(chapter) }
    const recorded = { name: 'the record', transcript: await readRecorded(chapter) }
    expect(differences(chapter.name, real, model, chapter.notModelled).join('\n')).toBe('')
    expect(differences(chapter.name, real, recorded).join('\n')).toBe('')
  }

  it.concurrent.each(CHAPTERS.filter(({ alone }) => !alone))('answers as the real one does: $name', agree)
  it.each(CHAPTERS.filter(({ alone }) => alone))('answers as the real one does, on its own: $name', agree)
})
