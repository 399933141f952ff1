import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PlantedBug } from '../support/planting.ts'
import { TestRunner } from './test-runner.ts'

/** Bugs in one family of rules, and the test files that belong to it. Paths are below the root of the repository. */
export interface Family {
  readonly name: string
  readonly tests: readonly string[]
  readonly bugs: readonly PlantedBug[]
}

/** More than any of the test files takes, on a machine that has other things to do. */
const PATIENCE = 300_000

/** One test for every bug: the tests of its family fail on it. */
export function expectAllFound(families: readonly Family[]): void {
  let runner: TestRunner
  beforeAll(() => {
    runner = new TestRunner()
  })
  afterAll(() => runner.stop())

  it('nothing is found where no bug is planted', { timeout: PATIENCE }, async () => {
    const { tried, failed, unloadable } = await runner.runAsItIs([...new Set(families.flatMap(({ tests }) => tests))])
    expect({ failed, unloadable }).toEqual({ failed: [], unloadable: [] })
    expect(tried).toBeGreaterThan(families.length)
  })

  describe.each(families)('$name', ({ tests, bugs }) => {
    it.each(bugs)('$name ($from)', { timeout: PATIENCE }, async bug => {
      const { tried, failed, unloadable, loaded } = await runner.runWith(bug, tests)
      expect(unloadable).toEqual([])
      expect(loaded, `none of the tests has ${bug.file} in it`).toBe(true)
      expect(failed, `none of ${tried} tests has noticed`).not.toEqual([])
    })
  })
}
