import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Case, KaiStage } from '../support/kai-stage.ts'

const CASES = parse(readFileSync(new URL('cases/kai.yaml', import.meta.url), 'utf8'), { merge: true }) as Case[]

describe('pods of KAI that name a group of scheduling.k8s.io', () => {
  it.each(CASES)('$name', ({ naming, steps }) => {
    const stage = new KaiStage(naming ?? 'plain')
    for (const [index, step] of steps.entries()) {
      stage.play(step)
      stage.settle()
      expect(stage.seen(step.expect), `step ${index + 1}`).toEqual(step.expect)
      expect(stage.settle(), `what is still written after step ${index + 1}`).toEqual([])
    }
  })

  it('has every scenario of the specification', () => {
    const numbers = new Set(CASES.map(({ name }) => /^S(\d+) /.exec(name)?.[1]).filter(number => number !== undefined))
    expect([...numbers].map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, index) => index + 1))
  })
})
