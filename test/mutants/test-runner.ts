import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type PlantedBug, replaced, replacementsOf } from '../support/planting.ts'
import type { TestReport, TestRun } from './test-run.ts'

const absolute = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** Runs test files of this project, in a process of its own, on the code as it is or with a bug in it. */
export class TestRunner {
  readonly #process: ChildProcess

  constructor() {
    // A vitest that starts inside of another must not take itself for one of its workers.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')))
    this.#process = fork(new URL('test-run.ts', import.meta.url), {
      cwd: absolute(''),
      env,
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
  }

  async runAsItIs(tests: readonly string[]): Promise<TestReport> {
    return await this.#run({ tests: tests.map(absolute) })
  }

  async runWith(bug: PlantedBug, tests: readonly string[]): Promise<TestReport> {
    const file = absolute(bug.file)
    const text = replacementsOf(bug).reduce(replaced, readFileSync(file, 'utf8'))
    return await this.#run({ tests: tests.map(absolute), altered: { file, text } })
  }

  stop(): void {
    this.#process.kill()
  }

  async #run(message: TestRun): Promise<TestReport> {
    const over = new AbortController()
    const { signal } = over
    const died = once(this.#process, 'exit', { signal }).then(([code]) => {
      throw new Error(`the process that runs the tests ended with ${code}`)
    })
    this.#process.send(message)
    try {
      const [report] = await Promise.race([once(this.#process, 'message', { signal }), died])
      return report as TestReport
    } finally {
      over.abort()
      died.catch(() => {})
    }
  }
}
